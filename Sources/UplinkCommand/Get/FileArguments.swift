// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SystemPackage
import Uplink

/// Which files the bytes go into, and what happens to existing ones.
struct FileArguments: ParsableArguments {
    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: .init(
            "The file to write; without it, or with `-`, the standard output. Once for each URL, in their order.",
            valueName: "file"))
    var output: [String] = []

    @Flag(name: [.customShort("O"), .long], help: "Name each file as the URL's last part.")
    var remoteName = false

    @Option(help: .init("The directory of the files; it must exist.", valueName: "directory"))
    var outputDir: String?

    @Flag(help: "Replace a file that exists.")
    var force = false

    @Flag(help: "Leave a file that exists as it is, and fetch only the others.")
    var skipExisting = false

    @Flag(help: "Begin anew instead of where an earlier download has ended, and keep nothing for a later one.")
    var noResume = false

    @Option(
        help: .init("What the file's digest must be: sha256:HEX.", valueName: "checksum"),
        transform: ChecksumArgument.parse)
    var checksum: DownloadChecksum?

    @Option(
        help: .init("The most bytes to accept for a file; k, M, G and T are powers of 1024.", valueName: "bytes"),
        transform: SizeArgument.parse)
    var maxFilesize: Int64?

    @Option(
        help: .init("How many files to fetch at once (default: 6, but 3 from one host).", valueName: "number"))
    var parallel: Int?

    func validate() throws {
        guard !output.contains("") else { throw ValidationError("--output needs the name of a file") }
        guard !remoteName || output.isEmpty else { throw ValidationError("--remote-name excludes --output") }
        guard !force || !skipExisting else { throw ValidationError("--force excludes --skip-existing") }
        guard parallel.map((1...100).contains) ?? true else {
            throw ValidationError("--parallel takes a number from 1 to 100")
        }
        guard !remoteName, output.isEmpty else { return }
        if let option = firstGiven(of: ofFiles + ofDownloads) {
            throw ValidationError("\(option) belongs to --output or --remote-name")
        }
    }

    private var ofFiles: [(String, Bool)] {
        [("--force", force), ("--output-dir", outputDir != nil), ("--parallel", parallel != nil)]
    }

    private var ofDownloads: [(String, Bool)] {
        [
            ("--skip-existing", skipExisting), ("--no-resume", noResume), ("--checksum", checksum != nil),
            ("--max-filesize", maxFilesize != nil),
        ]
    }

    private func firstGiven(of options: [(name: String, isGiven: Bool)]) -> String? {
        options.first(where: \.isGiven)?.name
    }

    /// - Throws: `ValidationError` when the URLs and the files do not go together.
    func validate(for urls: [URLArgument]) throws {
        if urls.count > 1, checksum != nil { throw ValidationError("--checksum is that of one file; give one URL") }
        if remoteName {
            for url in urls { _ = try RemoteName.name(ofTarget: url.target) }
        } else if urls.count > 1 || output.count > 1 {
            guard output.count <= urls.count else {
                throw ValidationError("--output is given more often than a URL; give it once for each")
            }
            guard output.count == urls.count else {
                throw ValidationError("several URLs need --remote-name (-O), or --output for each of them")
            }
            guard !output.contains("-") else { throw ValidationError("several URLs need a file for each; `-` is none") }
        }
        try checkThatFilesDiffer(of: urls)
    }

    /// Refuses two URLs with the same file, of which only one could be kept.
    private func checkThatFilesDiffer(of urls: [URLArgument]) throws {
        var owners: [FilePath: URLArgument] = [:]
        for (url, path) in zip(urls, try paths(for: urls)) {
            guard let path else { continue }
            if let owner = owners.updateValue(url, forKey: FilePath(path).lexicallyNormalized()) {
                let both = [owner, url].map { $0.text.prefix { $0 != "?" } }.joined(separator: " and ")
                throw ValidationError(
                    "`\(path)` would be the file of both \(both); give each a name of its own with --output (-o)")
            }
        }
    }

    /// - Throws: `ValidationError` when an option does not apply to an answer that is written as it comes.
    func validateForAnswer() throws {
        guard let option = firstGiven(of: ofDownloads) else { return }
        throw ValidationError(
            "\(option) is for files that are downloaded: GET with --output FILE or --remote-name, without --include and "
                + "--verbose")
    }

    /// The path of each URL's file, as the user would write it; nil for the standard output.
    func paths(for urls: [URLArgument]) throws -> [String?] {
        try urls.enumerated().map { index, url in
            guard let name = remoteName ? try RemoteName.name(ofTarget: url.target) : output.dropFirst(index).first
            else { return nil }
            guard let outputDir, name != "-" else { return name }
            return FilePath(outputDir).pushing(FilePath(name)).string
        }
    }

    /// How many run at the same time.
    var limits: DownloadBatchLimits {
        var limits = DownloadBatchLimits()
        guard let parallel else { return limits }
        (limits.maximumRunning, limits.maximumRunningPerHost) = (parallel, parallel)
        return limits
    }
}
