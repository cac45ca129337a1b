// swift-tools-version: 6.2
import PackageDescription

// EMBEDDED=1 builds the shipping targets as Embedded Swift: the small static binaries of `make static`.
// Without it they are ordinary Swift, for development, the tests and programs that use the library.
let isEmbedded = Context.environment["EMBEDDED"] == "1"

// SIMULATION=1 builds them against the simulated machine and server of Tests/Simulation instead of the C library.
let isSimulated = Context.environment["SIMULATION"] == "1"

let simulation: [Target] =
  isSimulated
  ? [
    .target(name: "World", path: "Tests/Simulation/World", cxxSettings: [.define("_GNU_SOURCE")]),
    // Simulate/Program leads to the sources of gighive-upload, because its watcher and workers run there as processes.
    .executableTarget(
      name: "simulate", dependencies: ["CShims", "Uploader", "World"], path: "Tests/Simulation/Simulate",
      exclude: ["Program/Main.swift"]),
  ] : []

// SANITIZER=address or thread leaves out the programs, which the unit tests do not run, and the tests of the core: it has no threads, and with the
// address sanitizer, the tests of the library and the fuzzers run its unsafe code.
let sanitizer = Context.environment["SANITIZER"]

let shipping: [SwiftSetting] =
  isEmbedded
  ? [
    .enableExperimentalFeature("Embedded"),
    .unsafeFlags(["-Osize", "-wmo", "-Xfrontend", "-function-sections"]),
  ]
  : [.treatWarning("EmbeddedRestrictions", as: .error)]

// Embedded Swift has no tasks.
let isOrdinary = !isEmbedded && !isSimulated

let programs: [Target] = [
  .executableTarget(name: "gighive-upload", dependencies: ["CShims", "Uploader"], swiftSettings: shipping),
  // The examples of docs/library.md, so that they keep compiling and working.
  .executableTarget(
    name: "library-example", dependencies: isOrdinary ? ["UploadCore", "UploaderAsync"] : [],
    path: "Tests/LibraryExample"),
  // Run on every architecture by `make abi`.
  .target(
    name: "sizes", dependencies: ["CShims"], path: "Tests/ABICheck/sizes", cSettings: [.define("_GNU_SOURCE")]),
  .executableTarget(
    name: "abi-check", dependencies: ["CShims", "sizes"], path: "Tests/ABICheck", exclude: ["sizes"],
    swiftSettings: shipping),
]

let package = Package(
  name: "gighive-upload",
  products: [.library(name: "Uploader", targets: ["Uploader"])]
    + (isOrdinary ? [.library(name: "UploaderAsync", targets: ["UploaderAsync"])] : [])
    + (isSimulated || sanitizer != nil ? [] : [.executable(name: "gighive-upload", targets: ["gighive-upload"])]),
  targets: [
    .target(
      name: "CShims",
      dependencies: isSimulated ? ["World"] : [],
      path: isSimulated ? "Tests/Simulation/CShims" : nil,
      cSettings: [.define("_GNU_SOURCE")] + (isEmbedded ? [.define("SHIM_EMBEDDED")] : []),
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("z")]
    ),
    .target(name: "UploadCore", swiftSettings: shipping),
    .target(name: "Uploader", dependencies: ["CShims", "UploadCore"], swiftSettings: shipping),
    .testTarget(name: "UploaderTests", dependencies: ["CShims", "Uploader"], exclude: ["Messages/errors.txt"]),
  ]
    + (isOrdinary
      ? [
        .target(name: "UploaderAsync", dependencies: ["CShims", "Uploader"]),
        .testTarget(name: "UploaderAsyncTests", dependencies: ["UploaderAsync"]),
      ] : [])
    + (sanitizer != nil
      ? [] : [.testTarget(name: "UploadCoreTests", dependencies: ["UploadCore"], exclude: ["Transcripts"])])
    + (isSimulated ? simulation : sanitizer == nil ? programs : []),
  cxxLanguageStandard: .cxx20
)
