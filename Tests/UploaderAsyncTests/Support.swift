import Foundation

@testable import Uploader
@testable import UploaderAsync

/// A file in /tmp, removed at the end.
final class TemporaryFile: Sendable {
  let path: String

  init(byteCount: Int) {
    var template = Array("/tmp/uploader-async-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0, ftruncate(descriptor, byteCount) == 0 else { fatalError("no temporary file") }
    close(descriptor)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { unlink(path) }
}

/// A state directory in /tmp, removed at the end.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/uploader-async-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no temporary directory") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Leaves the record of a tus upload that was interrupted.
  func addRecord(_ id: String, ofUploadAt url: String, file: String) throws {
    var record = UploadRecord(
      id: id,
      RecordedFile(
        path: LocalPath(file),
        identity: FileIdentity(
          device: 1, inode: 2, size: 100_000, modifiedSeconds: 3, modifiedNanoseconds: 4, edges: "")),
      to: RecordedDestination(endpoint: url))
    record.unfinished?.remote = RemoteUpload(url: url, offset: 9)
    try StateDirectory(LocalPath(path), warn: { _ in }).write(record)
  }
}

/// A server on the loopback interface that reads forms, and answers each, or none.
final class FormServer: Sendable {
  private struct Counts {
    var requests = 0
    var ended = 0
  }

  private let listener: Int32
  private let port: UInt16
  private let counts: Locked<Counts>

  init(answers: Bool, status: String = "200 OK") {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { fatalError("no loopback socket") }
    (self.listener, port, counts) = (listener, UInt16(bigEndian: address.sin_port), Locked(Counts()))
    let counts = counts
    FormServer.onThread {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { break }
        FormServer.onThread { FormServer.serve(connection, answers ? status : nil, counts) }
      }
      close(listener)
    }
  }

  /// Accepts no more connections.
  func stop() { shutdown(listener, Int32(SHUT_RD)) }

  var url: String { "http://127.0.0.1:\(port)/" }
  var requestCount: Int { counts.withLock { $0.requests } }

  func untilARequestHasCome() async throws { try await until { requestCount > 0 } }
  func untilAConnectionHasEnded() async throws { try await until { counts.withLock { $0.ended } > 0 } }

  private static func serve(_ connection: Int32, _ status: String?, _ counts: Locked<Counts>) {
    defer {
      close(connection)
      counts.withLock { $0.ended += 1 }
    }
    while let length = contentLength(connection) {
      var (rest, block) = (length, [UInt8](repeating: 0, count: 65_536))
      while rest > 0 {
        let count = recv(connection, &block, min(rest, block.count), 0)
        guard count > 0 else { return }
        rest -= count
      }
      counts.withLock { $0.requests += 1 }
      guard let status else { continue }
      let answer = Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n".utf8)
      _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// Reads a request's head; nil at the end of the connection.
  private static func contentLength(_ connection: Int32) -> Int? {
    var (head, byte): ([UInt8], UInt8) = ([], 0)
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      guard recv(connection, &byte, 1, 0) == 1 else { return nil }
      head.append(byte)
    }
    let line = String(decoding: head, as: UTF8.self).split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
    return line.flatMap { Int($0.dropFirst(16)) }
  }

  private static func onThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      {
        if let box = $0 { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
    guard error == 0 else { fatalError("no thread") }
    pthread_detach(thread)
  }
}

/// Waits, but not longer than the test may take.
func until(_ isTrue: () -> Bool) async throws {
  while !isTrue() {
    try Task.checkCancellation()
    await Task.yield()
  }
}

/// A child process of another test holds this process's locks until it has executed its program.
func unlocked<Value>(_ body: () async throws -> Value) async throws -> Value {
  while true {
    do { return try await body() } catch UploadError.conflict { try Task.checkCancellation() }
  }
}
