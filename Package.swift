// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "uplink",
    products: [
        .library(name: "Uplink", targets: ["Uplink"]),
        .library(name: "UplinkCore", targets: ["UplinkCore"]),
        .library(name: "UplinkEventLoop", targets: ["UplinkEventLoop"]),
        .library(name: "UplinkMonitor", targets: ["UplinkMonitor"]),
        .library(name: "UplinkHTTP", targets: ["UplinkHTTP"]),
        .library(name: "UplinkCurl", targets: ["UplinkCurl"]),
        .library(name: "UplinkTesting", targets: ["UplinkTesting"]),
        .library(name: "UplinkStore", targets: ["UplinkStore"]),
        .library(name: "UplinkStoreTesting", targets: ["UplinkStoreTesting"]),
        .executable(name: "uplink", targets: ["UplinkCommand"]),
        // What scripts/build-c-library makes libuplink.so from; of no use to Swift programs.
        .library(name: "UplinkC", type: .static, targets: ["UplinkC"]),
    ],
    traits: [
        .trait(
            name: "Pictures",
            description: "The program `uplink` draws pictures (libchafa-dev, libglib2.0-dev, libpng-dev)."
        ),
        .trait(
            name: "Compression", description: "`HTTPClient` asks for gzip and deflate and decodes them (zlib1g-dev)."),
        .trait(name: "Store", description: "`UplinkStore` and its test kit, on GRDB (libsqlite3-dev)."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swhitty/FlyingFox", .upToNextMinor(from: "0.27.1")),
        // Only used with the trait `Store`.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // System libraries. Each has exactly one importer, which scripts/check-imports enforces.
        .systemLibrary(
            name: "CLibUV", path: "CModules/CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "CLibCurl", path: "CModules/CLibCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CNetlink", path: "CModules/CNetlink"),
        .systemLibrary(name: "CLinux", path: "CModules/CLinux"),
        .systemLibrary(
            name: "CChafa", path: "CModules/CChafa", pkgConfig: "chafa", providers: [.apt(["libchafa-dev"])]),
        .systemLibrary(name: "CZLib", path: "CModules/CZLib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CPNG", path: "CModules/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),

        // Pure: no C except libc, and zlib if it is wanted.
        .target(name: "UplinkCore"),
        .target(
            name: "UplinkHTTP",
            dependencies: [
                "UplinkCore", .httpTypes, .system, .target(name: "CZLib", condition: .when(traits: ["Compression"])),
            ]),

        // The engine and its two adapters.
        .target(name: "UplinkEventLoop", dependencies: ["CLibUV", "UplinkCore"]),
        .target(name: "UplinkMonitor", dependencies: ["CNetlink", "UplinkCore", "UplinkEventLoop"]),
        .target(
            name: "UplinkCurl",
            dependencies: ["CLibCurl", "UplinkCore", "UplinkEventLoop", "UplinkHTTP", .httpTypes, .system]),

        // What most people import.
        .target(
            name: "Uplink",
            dependencies: [
                "UplinkCore", "UplinkEventLoop", "UplinkMonitor", "UplinkHTTP", "UplinkCurl", .httpTypes, .system,
            ]),

        // Empty without the trait `Store`.
        .target(name: "UplinkStore", dependencies: ["Uplink", "UplinkCore", "UplinkHTTP", .httpTypes, .system, .grdb]),
        .target(name: "UplinkStoreTesting", dependencies: ["UplinkStore", "UplinkCore", "UplinkTesting", .grdb]),

        // The C library: its header is the contract, which UplinkC implements.
        .target(name: "CUplink"),
        .target(
            name: "UplinkC",
            dependencies: [
                "CLinux", "CUplink", "Uplink", "UplinkCore", "UplinkEventLoop", "UplinkMonitor", "UplinkHTTP",
                "UplinkCurl", .httpTypes, .system,
            ]),

        .target(name: "UplinkTesting", dependencies: ["UplinkCore", "UplinkHTTP", .httpTypes]),

        .executableTarget(
            name: "UplinkCommand",
            dependencies: [
                "Uplink", "UplinkCore", "UplinkEventLoop", "UplinkHTTP", .httpTypes, .system,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .target(name: "CChafa", condition: .when(traits: ["Pictures"])),
                .target(name: "CPNG", condition: .when(traits: ["Pictures"])),
                .target(name: "UplinkStore", condition: .when(traits: ["Store"])), .grdb,
            ]),

        // The positive control of the ThreadSanitizer run: a deliberate race beside its correct twin.
        .executableTarget(name: "RacyCounter", path: "Tests/RacyCounter"),

        // Fuzzed with libFuzzer by scripts/fuzz; otherwise it takes files. A target cannot depend on an executable, so
        // symbolic links bring the program's parsers into it a second time.
        .executableTarget(
            name: "Fuzzer",
            dependencies: [
                "UplinkMonitor", "UplinkCore", "UplinkHTTP", .httpTypes,
                .target(name: "CPNG", condition: .when(traits: ["Pictures"])),
            ],
            path: "Tests/Fuzzing/Fuzzer",
            exclude: ["Program/Pictures/DemoPicture.swift", "Program/Pictures/PictureDrawing.swift"]),

        // Killed in the middle of its work by the store's tests.
        .executableTarget(
            name: "StoreVictim",
            dependencies: ["UplinkStore", "Uplink", "UplinkCore", "UplinkHTTP", .httpTypes, .grdb],
            path: "Tests/StoreVictim"),

        // Killed by the tests in the middle of a download, and started by them on full disks.
        .executableTarget(
            name: "DownloadVictim", dependencies: ["Uplink", .httpTypes, .system], path: "Tests/DownloadVictim"),

        // One operation, over and over: scripts/check-instructions counts its instructions.
        .executableTarget(
            name: "Instructions",
            dependencies: [
                "UplinkCore", "UplinkEventLoop", "UplinkMonitor", "UplinkHTTP", "UplinkCurl", "UplinkTesting",
            ],
            path: "Tests/Instructions", exclude: ["plain.c", "recorded"]),

        // What several test targets share: namespaces, a census of descriptors and threads, programs to run.
        .target(
            name: "TestSupport", dependencies: ["UplinkCore", "UplinkTesting", .system], path: "Tests/TestSupport"),

        .testTarget(name: "UplinkCoreTests", dependencies: ["UplinkCore", "UplinkTesting", "TestSupport"]),
        .testTarget(
            name: "UplinkTestingTests",
            dependencies: ["UplinkTesting", "UplinkCore", "UplinkHTTP", "UplinkEventLoop", "TestSupport", .httpTypes]),
        .testTarget(name: "UplinkEventLoopTests", dependencies: ["UplinkEventLoop", "UplinkCore", "TestSupport"]),
        .testTarget(
            name: "UplinkMonitorTests",
            dependencies: [
                "UplinkMonitor", "UplinkEventLoop", "UplinkCore", "UplinkTesting", "TestSupport", "UplinkCommand",
            ]),
        .testTarget(
            name: "UplinkHTTPTests", dependencies: ["UplinkHTTP", "UplinkTesting", "TestSupport", .httpTypes, .system]),
        .testTarget(
            name: "UplinkCurlTests",
            dependencies: [
                "UplinkCurl", "UplinkHTTP", "UplinkEventLoop", "UplinkMonitor", "UplinkCore", "UplinkTesting",
                "TestSupport", .httpTypes, .system,
                .product(name: "FlyingFox", package: "FlyingFox"),
            ]),
        .testTarget(
            name: "UplinkTests",
            dependencies: [
                "Uplink", "UplinkCore", "UplinkEventLoop", "UplinkMonitor", "UplinkHTTP", "UplinkCurl", "UplinkTesting",
                "TestSupport", "DownloadVictim", .httpTypes, .system,
            ]),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "UplinkCommand", "Uplink", "UplinkCore", "UplinkStore", "UplinkStoreTesting", "UplinkTesting",
                "TestSupport", .httpTypes, .system, .grdb,
                .product(name: "FlyingFox", package: "FlyingFox"),
            ]),
        .testTarget(
            name: "CLibraryTests",
            dependencies: [
                "UplinkC", "CUplink", "UplinkCore", "UplinkEventLoop", "UplinkHTTP", "UplinkMonitor", "UplinkTesting",
                "TestSupport", .system,
            ],
            exclude: ["programs"]),
        .testTarget(
            name: "UplinkStoreTests",
            dependencies: [
                "UplinkStore", "UplinkStoreTesting", "Uplink", "UplinkCore", "UplinkHTTP", "UplinkTesting",
                "TestSupport", "StoreVictim", .httpTypes, .system, .grdb,
            ]),
        // Failures of the system below: descriptors, memory, interrupted calls, clocks, a thread that does not run.
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "Uplink", "UplinkCore", "UplinkCurl", "UplinkEventLoop", "UplinkHTTP", "UplinkMonitor", "TestSupport",
                "DownloadVictim", .system,
            ]),
        // Pure machines in model worlds.
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Uplink", "UplinkCore", "UplinkHTTP", "UplinkMonitor", "UplinkStore", "UplinkTesting", "TestSupport",
                .httpTypes, .system, .grdb,
            ]),
        .testTarget(name: "FuzzingTests", dependencies: ["Fuzzer", "TestSupport"]),
        .testTarget(
            name: "StressTests",
            dependencies: [
                "Uplink", "UplinkC", "CUplink", "UplinkStore", "UplinkTesting", "TestSupport", "RacyCounter", .system,
                .grdb,
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}

extension Target.Dependency {
    static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
    static var grdb: Self { .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Store"])) }
    static var system: Self { .product(name: "SystemPackage", package: "swift-system") }
}
