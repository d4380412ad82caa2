// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Uplink

struct FilesBrowseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Look around on a file store, with keys. This is what `uplink files` does alone.",
        usage: "uplink files [browse] [--server <url>] [--user <name>] [<options>]",
        discussion: """
            Shows folders, text and pictures in the terminal; makes folders, uploads, deletes and saves. The last line of \
            the screen tells the keys, and `?` lists all of them.

            What is not given and not kept is asked for on the screen.

            Exit status: 0 after `q`, 130 after Ctrl-C.
            """)

    @OptionGroup
    var connection: FilesArguments

    func validate() throws {
        guard !connection.password.fromInput else {
            throw ValidationError("--password-stdin takes the keyboard away; use --password-file")
        }
    }

    func run() async throws {
        guard Output.standard.isTerminal, isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                "the screens need a terminal; for scripts there are `uplink files ls` and others, see "
                    + "`uplink files --help`")
        }
        try await untilInterrupted {
            let (fields, problem) = try await connection.known()
            try await withTransport { transport in
                var machine = FilesMachine(fields)
                if let problem { machine.notice = .init(text: problem, kind: .failure(retry: nil)) }
                let actions = FilesModel.Actions(
                    over: transport, monitor: try LinuxNetworkMonitor.polling(), isOnline: connection.online)
                let model = FilesModel(machine, actions: actions, clock: ContinuousClock())
                try await FilesSession(model: model).run()
            }
        }
    }
}

extension FilesArguments {
    /// What the options and the credentials file say, without asking, and why that file cannot be read, if so.
    ///
    /// A stored password is only for its own server and user.
    func known() async throws -> (fields: LoginFields, problem: String?) {
        var kept: CredentialFile.Entry?
        var problem: String?
        do throws(FilesError) { kept = try CredentialFile.standard().read() } catch { problem = error.message }
        var fields = LoginFields(server: try serverURL()?.text ?? kept?.server ?? "")
        let matching = kept.flatMap { $0.server == fields.server ? $0 : nil }
        fields.user = user ?? matching?.user ?? ""
        if password.isGiven {
            fields.password = try await password.read(for: fields.user)
        } else if let matching, matching.user == fields.user {
            (fields.password, fields.keeps) = (matching.password, true)
        }
        return (fields, problem)
    }
}
