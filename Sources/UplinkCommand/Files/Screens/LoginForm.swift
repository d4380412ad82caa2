// SPDX-License-Identifier: Apache-2.0

/// The login screen: three lines to fill in, and whether to store them.
struct LoginForm: Sendable, Hashable {
    /// What can be filled in, from the top.
    enum Field: Int, Sendable, Hashable, CaseIterable { case server, user, password, keeps }

    /// What a key leads to beyond the form.
    enum Outcome: Sendable, Hashable {
        case stays
        case submitted(LoginFields)
        case left
    }

    private(set) var focus: Field
    private(set) var server: LineEditor
    private(set) var user: LineEditor
    private(set) var password: LineEditor
    private(set) var keeps: Bool

    /// Creates the form, with the focus on the first empty line.
    init(_ fields: LoginFields = LoginFields()) {
        server = LineEditor(fields.server)
        user = LineEditor(fields.user)
        password = LineEditor(fields.password, isSecret: true)
        keeps = fields.keeps
        focus = fields.server.isEmpty ? .server : fields.user.isEmpty ? .user : .password
    }

    var fields: LoginFields {
        LoginFields(server: server.text, user: user.text, password: password.text, keeps: keeps)
    }

    mutating func take(_ key: Key) -> Outcome {
        switch key {
        case .escape, .control("d"): return .left
        case .tab, .down: focus = focus.next(1)
        case .backTab, .up: focus = focus.next(-1)
        case .enter:
            // Enter leads to the first empty line, and submits when there is none.
            guard let missing = firstEmpty else { return .submitted(fields) }
            if focus == missing { return .submitted(fields) }  // the error says what is missing
            focus = missing
        case .character, .control, .paste, .backspace, .delete, .left, .right, .home, .end, .pageUp, .pageDown:
            edit(key)
        }
        return .stays
    }

    private var firstEmpty: Field? {
        if server.isEmpty { return .server }
        if user.isEmpty { return .user }
        return password.isEmpty ? .password : nil
    }

    private mutating func edit(_ key: Key) {
        switch focus {
        case .server: _ = server.take(key)
        case .user: _ = user.take(key)
        case .password: _ = password.take(key)
        case .keeps: if key == .character(" ") { keeps.toggle() }
        }
    }
}

extension LoginForm.Field {
    /// The field this many steps further, cyclically.
    fileprivate func next(_ step: Int) -> Self {
        let all = Self.allCases
        return all[(rawValue + step + all.count) % all.count]
    }
}
