// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct FilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Work with the files on a remote file store.",
        discussion: """
              uplink files                    Look around, on the terminal.
              uplink files serve --user me ~/Pictures
              uplink files login --server http://127.0.0.1:8080 --user me --keep
              uplink files ls /
              uplink files put cat.png /Pictures
              uplink files cat /notes.txt
              uplink files rm --recursive /Pictures
              uplink files pending
              uplink files sync --within 600

            Each command takes the server, the user and the password from its options, and otherwise from what \
            `login --keep` has kept. A password comes from a file, from the standard input or from a prompt, never from \
            the command line. It is sent to its server alone.

            What was read is kept on this host and shown, with its age, when the server is not reached. What is \
            changed then waits, and is sent by the next command that reaches the server.

            Exit status: 0 done, 1 not done, 64 wrong usage, 130 interrupted with Ctrl-C.
            """,
        subcommands: [
            FilesBrowseCommand.self,
            FilesLoginCommand.self, FilesLogoutCommand.self, FilesMeCommand.self, FilesListCommand.self,
            FilesCatCommand.self, FilesGetCommand.self, FilesPutCommand.self, FilesMakeFolderCommand.self,
            FilesRemoveCommand.self, FilesPendingCommand.self, FilesSyncCommand.self, FilesServeCommand.self,
        ],
        defaultSubcommand: FilesBrowseCommand.self)
}
