// swift-tools-version: 6.2
import PackageDescription

// A program of somebody else: an asynchronous server that uploads. test_consumer.py puts the library into another directory, and
// the examples of docs/library.md beside the server.
let package = Package(
  name: "consumer",
  dependencies: [.package(name: "gighive-upload", path: "../library")],
  targets: [
    .executableTarget(
      name: "Server",
      dependencies: [
        .product(name: "Uploader", package: "gighive-upload"),
        .product(name: "UploaderAsync", package: "gighive-upload"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
