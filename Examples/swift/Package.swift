// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "first-program",
    dependencies: [.package(name: "uplink", path: "../..")],
    targets: [
        .executableTarget(name: "first-program", dependencies: [.product(name: "Uplink", package: "uplink")]),
        .testTarget(
            name: "FirstProgramTests",
            dependencies: [
                "first-program", .product(name: "Uplink", package: "uplink"),
                .product(name: "UplinkTesting", package: "uplink"),
            ]),
        .executableTarget(name: "call-forms", dependencies: [.product(name: "Uplink", package: "uplink")]),
        .executableTarget(
            name: "test-network",
            dependencies: [
                .product(name: "Uplink", package: "uplink"), .product(name: "UplinkTesting", package: "uplink"),
            ]),
        // The code that the README and guides show, so that it is compiled: scripts/check-docs looks for each of their
        // examples here.
        .target(name: "Guides", dependencies: [.product(name: "Uplink", package: "uplink")]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [.treatAllWarnings(as: .error)]
}
