// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that SwiftNIO and AsyncHTTPClient are nobody's dependency but the benchmarks'.
// `scripts/benchmark` builds and runs.
let package = Package(
    name: "uplink-benchmarks",
    dependencies: [
        .package(name: "uplink", path: "..", traits: ["Store"]),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .systemLibrary(name: "CUV", path: "CModules/CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "CModules/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        // What all is compared with: the same work in C over the same libuv and libcurl.
        .target(name: "PlainC", dependencies: ["CUV", "CCurl"], cSettings: [.unsafeFlags(["-O2"])]),

        // Rounds, processes, medians, tables and plots.
        .target(name: "Harness", dependencies: ["PlainC"]),

        .executableTarget(name: "Timers", dependencies: ["Harness", "PlainC", .eventLoop, .nio, .nioPOSIX]),
        .executableTarget(name: "Sleeps", dependencies: ["Harness", "PlainC", .eventLoop, .nio, .nioPOSIX]),
        .executableTarget(name: "Hops", dependencies: ["Harness", "PlainC", .eventLoop, .nio, .nioPOSIX]),
        .executableTarget(
            name: "Waiting",
            dependencies: [
                "Harness", "PlainC", .eventLoop,
                .product(name: "UplinkCore", package: "uplink"), .product(name: "UplinkTesting", package: "uplink"),
            ]),
        .executableTarget(
            name: "HTTP",
            dependencies: [
                "Harness", "PlainC", .eventLoop,
                .product(name: "UplinkCurl", package: "uplink"), .product(name: "UplinkHTTP", package: "uplink"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"), .nio,
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .executableTarget(
            name: "Syncs",
            dependencies: [
                "Harness", .product(name: "UplinkStore", package: "uplink"),
                .product(name: "UplinkTesting", package: "uplink"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .executableTarget(
            name: "Monitor",
            dependencies: [
                "Harness", "PlainC", .eventLoop, .product(name: "UplinkCore", package: "uplink"),
                .product(name: "UplinkMonitor", package: "uplink"),
                .product(name: "UplinkTesting", package: "uplink"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type == .executable || target.name == "Harness" {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}

extension Target.Dependency {
    static var eventLoop: Self { .product(name: "UplinkEventLoop", package: "uplink") }
    static var nio: Self { .product(name: "NIOCore", package: "swift-nio") }
    static var nioPOSIX: Self { .product(name: "NIOPosix", package: "swift-nio") }
}
