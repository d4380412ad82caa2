// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SystemPackage
import Uplink

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch from a URL, or send to it, once the network is there.",
        discussion: """
              uplink get https://example.org/ | less
              uplink get https://example.org/disk.iso -O --within 3600
              uplink get -O --parallel 4 https://example.org/1.jpg https://example.org/2.jpg
              uplink get https://example.org/disk.iso -o disk.iso --checksum sha256:HEX
              uplink get http://localhost:8080/state
              uplink get https://example.org/notes --json '{"text":"hello"}'
              uplink get https://example.org/files/film.webm --upload film.webm -u me

            Options are called as those of curl(1) where both have them. Redirects are followed. A file stands under \
            its name only when it is whole. When the network or the server goes meanwhile, the download waits and goes \
            on from where it was; what was interrupted, even killed, is gone on with by the same command.

            What a host needs of the network is derived from the URL: nothing for this host itself, the local network \
            for private addresses, the internet for all others. With --proxy it is a way to the proxy: to its address, \
            or for a name the local network; for one on this host it is what the URL needs. --for says otherwise.

            A value may stand at its letter (-XPOST) if it has no `=` in it and the word has no other letter (no -vm5); \
            at -F it stands apart.

            \(RequirementArgument.help)

            Exit status: 0 when all of it arrived, 1 when not, also for an answer such as 404.
            """)

    /// Not parsed by ArgumentParser, whose message would show a password in one.
    @Argument(help: .init("An http or https URL; several for files.", valueName: "urls"))
    var urlTexts: [String]

    @OptionGroup(title: "Files")
    var files: FileArguments

    @Option(
        help: .init(
            "How many seconds a download may take, waiting included (default: a day); otherwise for how many to wait "
                + "for the network (default: 30).", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var within: Double?

    @Option(
        name: .customLong("for"), help: .init("What is needed of the network.", valueName: "requirement"),
        transform: RequirementArgument.parse)
    var requirement: RequirementArgument?

    @OptionGroup
    var telling: TellingArguments

    @OptionGroup(title: "Request")
    var request: RequestArguments

    @OptionGroup(title: "Connection")
    var connection: ConnectionArguments

    /// Whether answers are downloaded as files, which may take several attempts; other answers are written as they
    /// come.
    private var isDownload: Bool { request.isPlainGet && !telling.verbose }

    /// The URLs, checked.
    var urls: [URLArgument] { get throws { try urlTexts.map(URLArgument.parse) } }

    func validate() throws {
        let urls = try urls
        try files.validate(for: urls)
        guard !isDownload else { return }
        try files.validateForAnswer()
        guard urls.count == 1 else { throw ValidationError("several URLs are for downloads; give one") }
    }

    func run() async throws {
        ProcessList.hideSecrets()
        let urls = try urls
        let targets = try files.paths(for: urls).map { path in
            try DownloadTarget(
                path, replacingExisting: files.force, skippingExisting: files.skipExisting,
                isOneOfSeveral: urls.count > 1)
        }
        try await untilInterrupted {
            let client = try client(as: try await request.credentials(), for: urls)
            if let answer = try answer(of: urls, to: targets, with: client) {
                try await answer.run()
            } else {
                try await downloads(of: urls, to: targets, with: client).run()
            }
        }
    }

    /// The one request whose answer is written as it comes; nil if files are downloaded.
    private func answer(
        of urls: [URLArgument], to targets: [DownloadTarget], with client: HTTPClient.Configuration
    ) throws -> GetRequest? {
        if isDownload, targets.allSatisfy(\.isFile) { return nil }
        guard let url = urls.first, let target = targets.first, targets.count == 1 else {
            throw CommandFailure("several URLs need a file for each; a device, a pipe or `-` is none")
        }
        try files.validateForAnswer()
        if request.bringsNothing, target.isFile {
            throw ValidationError("the answer to HEAD is no file; give --head (-I) to have its head written")
        }
        let way = way(to: url)
        return GetRequest(
            request: try request.request(to: url.text), body: try request.body(), client: client,
            transport: try connection.transport(), retries: connection.retries, target: target,
            printsHead: request.head || request.include, printsHeadAlone: request.head, isVerbose: telling.verbose,
            isSilent: telling.silent, requirement: way?.whole, monitor: try way?.monitor() ?? .shared,
            seconds: within ?? 30)
    }

    private func downloads(
        of urls: [URLArgument], to targets: [DownloadTarget], with client: HTTPClient.Configuration
    ) throws -> FileDownloads {
        var options = DownloadOptions()
        options.replacesExisting = files.force
        options.resumes = !files.noResume
        options.checksum = files.checksum
        options.backOff = connection.backOff
        options.request.timeouts = connection.downloadTimeouts
        if let most = files.maxFilesize { options.maximumSize = most }
        var items: [DownloadItem] = []
        var monitors: [String?: LinuxNetworkMonitor] = [:]  // one for each address
        for (url, target) in zip(urls, targets) {
            guard case .file(let path, _) = target else { continue }
            var item = DownloadItem(url.text, to: path, options: options)
            item.headers = try request.request(to: url.text).headerFields
            let way = way(to: url)
            let monitor = try monitors[way?.destination] ?? way?.monitor() ?? .shared
            monitors[way?.destination] = monitor
            (item.options.requirement, item.options.monitor) = (way?.whole, monitor)
            item.options.permissions = DownloadTarget.permissions(of: path)
            items.append(item)
        }
        return FileDownloads(
            items: items, existing: targets.compactMap(\.existing), limits: files.limits, client: client,
            transport: try connection.transport(), seconds: min(within ?? 86_400, connection.limit ?? .infinity),
            isSilent: telling.silent)
    }

    private func client(
        as credentials: (user: String, password: String)?, for urls: [URLArgument]
    ) throws -> HTTPClient.Configuration {
        var client = HTTPClient.Configuration()
        client.timeouts = connection.timeouts
        if try request.isRemoved(.userAgent) { client.userAgent = nil }
        if let (user, password) = credentials {
            client.middlewares = [try HTTPBasicAuthentication(for: urls.map(\.origin), user: user, password: password)]
        }
        return client
    }

    /// What a URL requires of the network; nil if it is on this host.
    func way(to url: URLArgument) -> RequirementArgument? {
        if let requirement { return requirement }
        guard connection.unixSocket == nil else { return nil }
        return connection.proxyRequirement ?? url.way
    }
}
