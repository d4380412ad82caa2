// SPDX-License-Identifier: Apache-2.0

extension FilesMachine {
    /// Does what a key does on the current screen.
    mutating func take(_ key: Key) -> [FilesEffect] {
        if keyTable != nil { return keyInKeyTable(key) }
        if let prompt { return answer(prompt, key) }
        switch screen {
        case .login(let form): return keyInLogin(form, key)
        case .folder: return keyInFolder(key)
        case .file(let view): return keyInFile(view, key)
        case .user: return keyInUser(key)
        }
    }

    private mutating func keyInLogin(_ form: LoginForm, _ key: Key) -> [FilesEffect] {
        if work != nil {
            // The fields cannot be edited while they are being tried.
            switch key {
            case .escape: return cancelWork()
            case .control("d"): return [.quit]
            case .character, .control, .paste, .enter, .tab, .backTab, .backspace, .delete, .up, .down, .left, .right,
                .pageUp, .pageDown, .home, .end:
                return []
            }
        }
        var form = form
        let outcome = form.take(key)
        screen = .login(form)
        switch outcome {
        case .stays: return []
        case .left: return [.quit]
        case .submitted(let fields): return submit(fields)
        }
    }

    private mutating func submit(_ fields: LoginFields) -> [FilesEffect] {
        guard !fields.isIncomplete else {
            notice = Notice(text: "Server, user and password are all required.", kind: .failure(retry: nil))
            return []
        }
        return start(.logIn(fields))
    }

    private mutating func keyInFolder(_ key: Key) -> [FilesEffect] {
        guard let list, let folder = list.folder else { return common(key) }
        switch key {
        case .enter, .right: return open()
        case .left, .backspace: return goUp()
        case .delete: return ask(list.chosen.map { .delete($0) })
        case .character(let letter):
            switch letter.lowercased() {
            case "n": return ask(.newFolder(LineEditor(), in: folder))
            case "u": return ask(.upload(LineEditor(), to: folder))
            case "d": return ask(list.chosen.map { .delete($0) })
            case "s": return askToSave(list.chosen)
            case "i": screen = .user
            case "l": return start(.logOut(login))
            case "t": return list.chosenChange.map { start(.retry($0)) } ?? []
            case "x": return ask(list.chosenChange.map { .discard($0) })
            default: return common(key)
            }
            return []
        case .control, .paste, .escape, .tab, .backTab, .up, .down, .pageUp, .pageDown, .home, .end:
            return common(key)
        }
    }

    private mutating func keyInFile(_ view: FileView, _ key: Key) -> [FilesEffect] {
        switch key {
        case .escape where work?.job.isWork != true, .left, .backspace: return closeFile()
        case .character("s"), .character("S"): return askToSave(view.item)
        case .character, .control, .paste, .enter, .escape, .tab, .backTab, .delete, .up, .down, .right, .pageUp,
            .pageDown,
            .home, .end:
            guard case .text(var pages) = view.content, pages.move(key, in: bodySize) else { return common(key) }
            var view = view
            view.content = .text(pages)
            screen = .file(view)
            return []
        }
    }

    private mutating func keyInUser(_ key: Key) -> [FilesEffect] {
        switch key {
        case .escape, .left, .backspace, .enter: screen = .folder
        case .character, .control, .paste, .tab, .backTab, .delete, .up, .down, .right, .pageUp, .pageDown, .home, .end:
            return common(key)
        }
        return []
    }

    private mutating func keyInKeyTable(_ key: Key) -> [FilesEffect] {
        let room = bodySize
        if keyTable?.move(key, in: room) == true { return [] }
        if key == .control("d") { return quit() }
        keyTable = nil
        return []
    }

    /// What keys do on every screen but the login's.
    private mutating func common(_ key: Key) -> [FilesEffect] {
        switch key {
        case .escape:
            if work != nil { return cancelWork() }
            notice = nil
        case .control("d"): return quit()
        case .character("q"), .character("Q"): return quit()
        case .character("r"), .character("R"): return retryOrRefresh()
        case .character("?"): keyTable = TextPages(keyTableText)
        case .character, .up, .down, .pageUp, .pageDown, .home, .end:
            let rows = bodyRows
            if case .folder = screen { list?.move(key, rows: rows) }
        case .control, .paste, .enter, .tab, .backTab, .backspace, .delete, .left, .right: break
        }
        return []
    }

    private mutating func retryOrRefresh() -> [FilesEffect] {
        if case .failure(let retry?) = notice?.kind { return start(retry) }
        switch screen {
        case .folder: return [.send] + refresh(.asked)
        case .file(let view): return view.isRead ? start(.read(view.item)) : look(at: view.item)
        case .login, .user: return []
        }
    }

    private mutating func quit() -> [FilesEffect] {
        guard let work, work.job.isWork else { return [.quit] }
        return ask(.quit)
    }

    private mutating func ask(_ question: Prompt?) -> [FilesEffect] {
        guard let question else { return [] }
        if question != .quit, let work, work.job.isWork { return [] }
        notice = nil
        prompt = question
        return []
    }

    private mutating func askToSave(_ item: Item?) -> [FilesEffect] {
        guard let item, !item.isFolder else { return [] }
        return ask(.save(item, LineEditor(item.name)))
    }

    private mutating func answer(_ question: Prompt, _ key: Key) -> [FilesEffect] {
        switch question.take(key) {
        case .asking(let question): prompt = question
        case .answered(let job):
            prompt = nil
            return start(job)
        case .quit: return [.quit]
        case .dropped: prompt = nil
        }
        return []
    }

    private mutating func open() -> [FilesEffect] {
        guard let list, let item = list.chosen else { return [] }
        return item.isFolder ? start(.list(path: list.path + [item])) : look(at: item)
    }

    private mutating func goUp() -> [FilesEffect] {
        guard let path = list?.path, path.count > 1 else { return [] }
        return start(.list(path: Array(path.dropLast())))
    }

    /// Shows a file. Reads nothing that would not be shown.
    private mutating func look(at item: Item) -> [FilesEffect] {
        if let work, work.job.isWork { return [] }
        let limit = FileContent.limit(for: item)
        if item.kind == .data {
            screen = .file(FileView(item: item, content: .data))
        } else if item.size ?? 0 > limit {
            screen = .file(FileView(item: item, content: .tooLarge(item)))
        } else {
            screen = .file(FileView(item: item))
            return start(.read(item))
        }
        return []
    }

    private mutating func closeFile() -> [FilesEffect] {
        screen = .folder
        if notice?.isFailure == true { notice = nil }
        guard let work, case .read = work.job else { return [] }
        return cancelWork() + refreshIfStale()
    }
}

extension TextPages {
    /// Does what a key does in a text.
    ///
    /// - Returns: Whether the key has a meaning there.
    mutating func move(_ key: Key, in size: TerminalSize) -> Bool {
        switch key {
        case .up, .character("k"): scroll(by: -1, in: size)
        case .down, .enter, .character("j"): scroll(by: 1, in: size)
        case .pageUp, .character("b"): scroll(by: -max(1, size.rows - 1), in: size)
        case .pageDown, .character(" "): scroll(by: max(1, size.rows - 1), in: size)
        case .home, .character("g"): scrollToStart()
        case .end, .character("G"): scrollToEnd(in: size)
        case .character, .control, .paste, .escape, .tab, .backTab, .backspace, .delete, .left, .right: return false
        }
        return true
    }
}
