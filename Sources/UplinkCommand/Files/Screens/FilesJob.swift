// SPDX-License-Identifier: Apache-2.0

/// The fields of the login: server, user and password.
struct LoginFields: Sendable, Hashable {
    var server = ""
    var user = ""
    var password = ""
    /// Whether to store them for the next time.
    var keeps = false
}

/// A piece of work that takes time and that a screen has asked for.
enum FilesJob: Sendable, Hashable {
    case logIn(LoginFields)
    /// Forgets what was stored of this login.
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
    /// Sends a change that was made offline again.
    case retry(PendingChange)
    /// Gives up a change that was made offline.
    case discard(PendingChange)

    /// Whether it changes or transfers something, so that another key must not end it in passing.
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

/// The result of a job.
enum FilesResult: Sendable {
    /// Logged in, and what the user should know about it, if anything.
    case loggedIn(User, note: String?)
    case listing(Listing)
    /// A file's content, and how old it is if it does not come from the server.
    case content(FileContent, StoredAnswer?)
    /// Saved, under this path.
    case saved(String)
    /// Made or uploaded.
    case created(Item)
    /// Done; there is nothing more to report.
    case done
}

/// How much of a file has been transferred: bytes, and how many there will be if that is known.
struct Transferred: Sendable, Hashable {
    var done: Int64
    var expected: Int64?
}

/// An event for the screens.
enum FilesEvent: Sendable {
    case key(Key)
    case resized(TerminalSize)
    /// A tenth of a second has passed while something is going on.
    case turn(Transferred?)
    /// The job with this number has ended.
    case ended(Int, Result<FilesResult, FilesFailure>)
    /// Whether the network is there.
    case network(Bool)
    /// These changes are still to be sent now.
    case pending([PendingChange])
}

/// What the screens want to have done.
enum FilesEffect: Sendable, Hashable {
    case start(Int, FilesJob)
    case cancel(Int)
    /// Send pending changes, concurrently with everything else.
    case send
    case quit
}

/// Why a job failed, in a sentence that says what to do.
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
