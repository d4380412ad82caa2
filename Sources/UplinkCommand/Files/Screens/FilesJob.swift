// SPDX-License-Identifier: Apache-2.0

/// Who wants in, and where.
struct LoginFields: Sendable, Hashable {
    var server = ""
    var user = ""
    var password = ""
    /// Whether to keep them for the next time.
    var keeps = false
}

/// Something that takes time, which a screen has asked for.
enum FilesJob: Sendable, Hashable {
    case logIn(LoginFields)
    /// Forgets what was kept of this login.
    case logOut(LoginFields)
    /// Lists the last of these folders; those before lead to it.
    case list(path: [Item])
    /// Reads a file to show it.
    case read(Item)
    /// Writes a file of this host.
    case save(Item, to: String)
    case makeFolder(named: String, in: Item)
    case upload(path: String, to: Item)
    case delete(Item)
    /// Sends a change again that was made offline.
    case retry(PendingChange)
    /// Gives a change up that was made offline.
    case discard(PendingChange)

    /// Whether it changes or moves something, so that another key must not end it by the way.
    var isWork: Bool {
        switch self {
        case .save, .makeFolder, .upload, .delete, .retry, .discard, .logOut: true
        case .logIn, .list, .read: false
        }
    }

    /// What is going on, for a person.
    var activity: String {
        switch self {
        case .logIn: "Logging in"
        case .logOut: "Logging out"
        case .list: "Loading"
        case .read(let item): "Reading \(item.name)"
        case .save(let item, _): "Saving \(item.name)"
        case .makeFolder(let name, _): "Making \(name)"
        case .upload(let path, _): "Uploading \(path)"
        case .delete(let item): "Deleting \(item.name)"
        case .retry(let change): "Trying \(change.item.name) again"
        case .discard(let change): "Discarding \(change.item.name)"
        }
    }
}

/// What a job has come to.
enum FilesResult: Sendable {
    /// And what the person should know of it, if anything.
    case loggedIn(User, note: String?)
    case listing(Listing)
    /// What a file holds, and how old that is if it does not come from the server.
    case content(FileContent, StoredAnswer?)
    /// Saved, under this path.
    case saved(String)
    /// Made or uploaded.
    case created(Item)
    /// There is nothing more to say.
    case done
}

/// How far a file has come: bytes, and how many there will be where that is known.
struct Transferred: Sendable, Hashable {
    var done: Int64
    var expected: Int64?
}

/// What happens to the screens.
enum FilesEvent: Sendable {
    case key(Key)
    case resized(TerminalSize)
    /// A tenth of a second has gone by while something is going on.
    case turn(Transferred?)
    /// A job has ended; which one, by its number.
    case ended(Int, Result<FilesResult, FilesFailure>)
    /// Whether the network is there.
    case network(Bool)
    /// The changes that are still to be sent are now these.
    case pending([PendingChange])
}

/// What the screens want done.
enum FilesEffect: Sendable, Hashable {
    case start(Int, FilesJob)
    case cancel(Int)
    /// Send what waits, beside all else.
    case send
    case quit
}

/// Why a job has failed, in a sentence that says what to do.
struct FilesFailure: Error, Sendable, Hashable {
    let message: String
    /// Whether the server no longer takes user and password.
    var isAboutCredentials = false
    /// Whether it may succeed when the network is back.
    var isAboutNetwork = false
}

extension FilesFailure {
    init(_ error: any Error) {
        let failure = error as? FilesError
        self.init(
            message: error is CancellationError ? "it was cancelled" : "\(error)",
            isAboutCredentials: failure?.code == .wrongUserOrPassword,
            isAboutNetwork: failure?.isNetworkFailure ?? false)
    }
}
