import Foundation
import Glibc
import Testing

@testable import Uploader

/// A temporary state directory, and its warnings.
final class StateBench {
  let directory = TemporaryDirectory()
  private let told = Told()

  private final class Told { var warnings: [String] = [] }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Does not exist at first.
  var path: String { directory.path(of: "state") }
  var warnings: [String] { told.warnings }

  /// Opened as by another process.
  func open(keepsCopies: Bool = false) throws -> StateDirectory {
    let told = told
    return try StateDirectory(LocalPath(path), keepsCopies: keepsCopies, warn: { told.warnings.append($0) })
  }

  /// The names in it, in alphabetical order.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func content(of name: String) -> [UInt8]? {
    // Not by FileManager, which leaks 4 KiB for an empty file.
    FileHandle(forReadingAtPath: path + "/" + name).map { Array($0.readDataToEndOfFile()) }
  }

  func put(_ content: [UInt8], at name: String) {
    guard FileManager.default.createFile(atPath: path + "/" + name, contents: Data(content)) else {
      fatalError("createFile failed")
    }
  }

  func inode(of name: String) -> ino_t {
    var status = stat()
    return stat(path + "/" + name, &status) == 0 ? status.st_ino : 0
  }

  /// When its inode was changed, in nanoseconds.
  func changed(_ name: String) -> Int {
    var status = stat()
    guard stat(path + "/" + name, &status) == 0 else { return 0 }
    return status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec
  }

  /// The permissions of the directory, or of a file in it.
  func mode(of name: String = "") -> mode_t {
    var status = stat()
    guard stat(path + "/" + name, &status) == 0 else { return 0 }
    return status.st_mode & 0o7777
  }
}

extension StateBench {
  /// Puts a file beside the state directory.
  func place(_ name: String, _ content: [UInt8] = recording(1000)) { _ = directory.file(name, content) }

  /// Opens the record of an upload of the file, as a new process does.
  func openRecord(
    _ name: String, endpoint: String = "https://hive/", in state: StateDirectory? = nil
  ) throws -> LockedRecord {
    try openRecord(LocalPath(directory.path(of: name)), endpoint: endpoint, in: state)
  }

  func openRecord(
    _ path: LocalPath, endpoint: String, in state: StateDirectory? = nil
  ) throws -> LockedRecord {
    try openRecord(path, to: .tus(try TargetURI(endpoint)), in: state)
  }

  func openRecord(
    _ path: LocalPath, to destination: Destination, in state: StateDirectory? = nil
  ) throws -> LockedRecord {
    let state = try state ?? open()
    // A child process of another test holds this process's locks until it has executed its program.
    for _ in 0..<1000 {
      if let kept = try openRecordOnce(path, to: destination, in: state) { return kept }
      usleep(5000)
    }
    return try #require(nil, "the directory stays locked")
  }

  /// - Returns: nil if the directory is locked, or after a cancellation.
  func openRecordOnce(
    _ path: LocalPath, to destination: Destination? = nil, in state: StateDirectory
  ) throws -> LockedRecord? {
    let file = try SourceFile.open(path, limit: .max)
    let request = UploadRequest(file: path, destination: try destination ?? .tus(TargetURI("https://hive/")))
    return try LockedRecord.open(for: file, try file.identity(), of: request, in: state).locked()
  }
}

extension SourceFile {
  /// - Parameter room: the bytes that are read at a time.
  func identity(room: Int = 1000, on kind: FileSystem.Kind = .stable) throws -> FileIdentity {
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { space.deallocate() }
    return try identity(using: space, on: kind)
  }
}

extension LockedRecord {
  /// Notes that the recording was delivered.
  func noteDelivery(
    asset: Int64? = nil, token: String? = nil, size: Int64 = 1000, _ status: StatusTime? = nil, isAgain: Bool = false
  ) throws {
    var receipt = Receipt()
    (receipt.assetID, receipt.deleteToken) = (asset, token)
    try noteDelivery(
      receipt, SentFile(size: size, sha256: "ab"), at: record.file.path, status, isAgain: isAgain)
  }
}

/// A record as the tests need one.
func record(
  _ id: String = "5e1f0a77", path: LocalPath = "/srv/set.wav", size: Int64 = 300, phase: UploadRecord.Phase = .pending,
  createdAt: Int64 = 0, device: UInt64 = 1
) -> UploadRecord {
  let identity = FileIdentity(
    device: device, inode: 2, size: size, modifiedSeconds: 4, modifiedNanoseconds: 5,
    edges: String(repeating: "ab", count: 32))
  var record = UploadRecord(
    id: id, RecordedFile(path: path, identity: identity), to: RecordedDestination(endpoint: "https://hive/"))
  switch phase {
  case .pending: break
  case .uploaded: record.unfinished?.remote = RemoteUpload(url: "https://hive/files/1", isWhole: true)
  case .failed: record.unfinished?.failure = .notDelivered
  case .delivered: record.state = .delivered(RecordedDelivery())
  }
  record.createdAt = createdAt
  return record
}

/// What the tests expect of a recording that was delivered.
struct DeliveredBefore: Error, Equatable {
  let previous: PreviousDelivery

  init(_ previous: PreviousDelivery) { self.previous = previous }
}

extension OpenedRecord {
  /// - Returns: nil if the directory is locked.
  func locked() throws -> LockedRecord? {
    switch self {
    case .open(let record): return record
    case .busy: return nil
    case .delivered(let previous): throw DeliveredBefore(previous)
    }
  }
}

extension Uploader {
  /// All of them are reported.
  func uploadAll(
    _ requests: [UploadRequest], cancellation: Cancellation = Cancellation(), observer: UploadObserver
  ) {
    var waiting = requests[...]
    uploadAll(
      hasNext: { !waiting.isEmpty }, next: { waiting.popFirst() }, cancellation: cancellation, observer: observer)
  }
}

extension StateDirectory {
  func records(_ selection: Selection) throws -> [UploadRecord] {
    var records: [UploadRecord] = []
    try walk(selection) { records.append($0) }
    return records
  }
}
