// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "uplink-store-example",
    dependencies: [
        .package(name: "uplink", path: "../..", traits: ["Store"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "notes",
            dependencies: [
                .product(name: "Uplink", package: "uplink"), .product(name: "UplinkStore", package: "uplink"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // The code that the guides show, so that it is compiled: scripts/check-docs looks for each of their examples
        // here.
        .target(
            name: "StoreGuides",
            dependencies: [
                .product(name: "Uplink", package: "uplink"), .product(name: "UplinkStore", package: "uplink"),
                .product(name: "UplinkStoreTesting", package: "uplink"),
                .product(name: "UplinkTesting", package: "uplink"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "notes", .product(name: "UplinkStoreTesting", package: "uplink"),
                .product(name: "UplinkTesting", package: "uplink"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [.treatAllWarnings(as: .error)]
}
