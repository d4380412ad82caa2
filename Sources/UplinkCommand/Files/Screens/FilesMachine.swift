// SPDX-License-Identifier: Apache-2.0

/// The state machine of `uplink files`: every key, answer and change of the network goes in, and what to show and to do
/// comes out. It draws nothing, sends nothing and has no clock.
struct FilesMachine: Sendable {
    /// A screen.
    enum Screen: Sendable, Equatable {
        /// The form for server, user and password.
        case login(LoginForm)
        /// The folder of ``FilesMachine/list``.
        case folder
        /// A file of this folder.
        case file(FileView)
        /// Who is logged in.
        case user
    }

    /// A file being viewed.
    struct FileView: Sendable, Equatable {
        let item: Item
        /// Nil until it is read.
        var content: FileContent?
        /// How old it is, if it does not come from the server.
        var stored: StoredAnswer?

        /// Whether the content shown has been read, and stays until it is read again.
        var isRead: Bool {
            switch content {
            case .text, .picture: true
            case .data, .unreadable, nil: false
            }
        }

        /// Shows what was read, a text at the reader's position.
        mutating func show(_ new: FileContent, _ stored: StoredAnswer?, in size: TerminalSize) {
            var new = new
            if case .text(let seen) = content, case .text(var pages) = new {
                pages.keepPlace(of: seen, in: size)
                new = .text(pages)
            }
            (content, self.stored) = (new, stored)
        }
    }

    /// Why something is done.
    enum Manner: Sendable, Hashable {
        /// The user asked for it.
        case asked
        /// It follows from something else that has been reported already.
        case following
        /// The user did not ask for it, so it fails silently.
        case unasked
    }

    /// The work that is going on, one job at a time.
    struct Work: Sendable, Equatable {
        let id: Int
        let job: FilesJob
        let manner: Manner
        /// What to select in the listing that comes.
        let choosing: ItemID?
        var transferred: Transferred?
    }

    /// A report of what has happened.
    struct Notice: Sendable, Equatable {
        enum Kind: Sendable, Equatable {
            case done
            /// With the job to retry, if that may help.
            case failure(retry: FilesJob?)
        }

        let text: String
        let kind: Kind

        var isFailure: Bool { kind != .done }
    }

    var screen: Screen
    var list: FolderList?
    var prompt: Prompt?
    var notice: Notice?
    /// The table of keys, while it is shown instead of the screen.
    var keyTable: TextPages?
    private(set) var size: TerminalSize
    /// How often the spinner has turned.
    private(set) var turns = 0
    private(set) var work: Work?
    /// Who is logged in, and where; without the password.
    private(set) var user: User?
    private(set) var login = LoginFields()
    /// Whether the network is there; nil while that is not known.
    private(set) var isNetworkThere: Bool?
    private(set) var pending: [PendingChange] = []
    /// Whether the folder may have changed since the listing that is shown or under way.
    private var isStale = false
    private var lastID = 0

    init(_ fields: LoginFields = LoginFields(), size: TerminalSize = TerminalSize()) {
        screen = .login(LoginForm(fields))
        self.size = size
    }

    /// Logs in with what is known already, if nothing is missing.
    mutating func begin() -> [FilesEffect] {
        guard case .login(let form) = screen, !form.fields.isIncomplete else { return [] }
        return start(.logIn(form.fields))
    }

    /// Handles an event.
    ///
    /// - Returns: What to do about it, in this order.
    mutating func take(_ event: FilesEvent) -> [FilesEffect] {
        defer {
            let rows = bodyRows
            list?.scroll(rows: rows)
        }
        switch event {
        case .key(let key): return take(key)
        case .resized(let size): self.size = size
        case .turn(let transferred):
            turns += 1
            if let transferred { work?.transferred = transferred }
        case .ended(let id, let result):
            guard let work, work.id == id else { return [] }  // the result of a job that was given up
            self.work = nil
            let effects = ended(work, result)
            return effects.isEmpty ? refreshIfStale() : effects
        case .network(let isThere):
            let hasComeBack = isNetworkThere == false && isThere
            isNetworkThere = isThere
            guard hasComeBack else { return [] }
            isStale = true
            return [.send] + refreshIfStale()
        case .pending(let changes):
            isStale = isStale || changes != pending
            pending = changes
            return refreshIfStale()
        }
        return []
    }

    /// Starts a job instead of the one going on, unless that must not be ended in passing.
    mutating func start(_ job: FilesJob, _ manner: Manner = .asked, choosing: ItemID? = nil) -> [FilesEffect] {
        if let work, work.job.isWork { return [] }
        let givenUp = giveUpWork()
        if isReload(job) { isStale = false }
        lastID += 1
        work = Work(id: lastID, job: job, manner: manner, choosing: choosing)
        if manner == .asked { notice = nil }
        return givenUp + [.start(lastID, job)]
    }

    /// Gives up the current job. What it may have changed is read again.
    mutating func cancelWork() -> [FilesEffect] {
        guard let job = work?.job else { return [] }
        let givenUp = giveUpWork()
        guard job.isWork else { return givenUp }
        notice = Notice(text: "Cancelled: \(job.activity)", kind: .done)
        return givenUp + refresh(.following)
    }

    private mutating func giveUpWork() -> [FilesEffect] {
        guard let work else { return [] }
        self.work = nil
        if isReload(work.job) { isStale = true }
        return [.cancel(work.id)]
    }

    /// Whether a job lists the visible folder.
    private func isReload(_ job: FilesJob) -> Bool { list.map { job == .list(path: $0.path) } ?? false }

    /// Lists the visible folder again.
    mutating func refresh(_ manner: Manner, choosing: ItemID? = nil) -> [FilesEffect] {
        guard let list else { return [] }
        return start(.list(path: list.path), manner, choosing: choosing)
    }

    /// Lists the visible folder again if it may have changed and nothing else is going on.
    mutating func refreshIfStale() -> [FilesEffect] {
        guard isStale, work == nil else { return [] }
        return refresh(.unasked)
    }

    private mutating func ended(_ work: Work, _ result: Result<FilesResult, FilesFailure>) -> [FilesEffect] {
        switch result {
        case .failure(let failure):
            if work.manner == .unasked, !failure.isAboutCredentials { return [] }
            var retry: FilesJob? = work.job
            if case .logIn = work.job { retry = nil }  // Enter does it
            notice = Notice(text: failure.message, kind: .failure(retry: retry))
        case .success(.loggedIn(let user, let note)):
            guard case .logIn(var fields) = work.job else { return [] }
            fields.password = ""
            (self.user, login, screen) = (user, fields, .folder)
            list = FolderList(path: [user.root])
            notice = note.map { Notice(text: $0, kind: .failure(retry: nil)) }
            return [.send] + start(.list(path: [user.root]), note == nil ? .asked : .following)
        case .success(.listing(let listing)):
            guard case .list(let path) = work.job else { return [] }
            list?.show(listing, of: path, choosing: work.choosing)
            if notice?.kind == .failure(retry: work.job) { notice = nil }
            if let change = listing.changes.first(where: { $0.item.id == work.choosing }) {
                notice = Notice(text: "\(change.item.name) waits until the server can be reached.", kind: .done)
            }
        case .success(.content(let content, let stored)):
            guard case .file(var view) = screen, work.job == .read(view.item) else { return [] }
            view.show(content, stored, in: bodySize)
            screen = .file(view)
        case .success(.saved(let path)): notice = Notice(text: "Saved as \(path).", kind: .done)
        case .success(.created(let item)): return changed("\(item.name) is there.", choosing: item.id)
        case .success(.done): return done(work.job)
        }
        return []
    }

    private mutating func done(_ job: FilesJob) -> [FilesEffect] {
        switch job {
        case .logOut:
            // Everything about the user is removed; what was typed stays, except the password.
            let lastID = lastID
            self = Self(LoginFields(server: login.server, user: login.user), size: size)
            self.lastID = lastID
            notice = Notice(text: "Logged out.", kind: .done)
        case .delete(let item): return changed("\(item.name) is deleted.", choosing: item.id)
        case .discard(let change): return changed("\(change.item.name) is given up.", choosing: nil)
        case .retry(let change): return [.send] + changed("\(change.item.name) is tried again.", choosing: nil)
        case .logIn, .list, .read, .save, .makeFolder, .upload: break
        }
        return []
    }

    /// Lists the folder again after a change.
    private mutating func changed(_ text: String, choosing: ItemID?) -> [FilesEffect] {
        notice = Notice(text: text, kind: .done)
        return refresh(.following, choosing: choosing)
    }
}

extension LoginFields {
    /// Whether something is missing that logging in needs.
    var isIncomplete: Bool { server.isEmpty || user.isEmpty || password.isEmpty }
}
