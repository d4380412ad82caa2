// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that SwiftNIO is nobody's dependency but the benchmarks'. `scripts/benchmark` builds and runs.
let package = Package(
    name: "uplink-benchmarks",
    dependencies: [
        .package(name: "uplink", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .systemLibrary(name: "CUV", path: "CModules/CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),

        // What all is compared with: the same work in C over the same libuv.
        .target(name: "PlainC", dependencies: ["CUV"], cSettings: [.unsafeFlags(["-O2"])]),

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
