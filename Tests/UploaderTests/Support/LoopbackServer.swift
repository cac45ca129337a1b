import Foundation
import Glibc

/// A scripted server on the loopback interface, on its own thread.
final class LoopbackServer: @unchecked Sendable {
  enum Action {
    /// Reads a whole request, then sends this.
    case answer(String)
    /// Reads a whole request, sends this and closes the connection.
    case answerAndClose(String)
    /// Reads a request's head, then resets the connection.
    case reset
    /// Reads a request's head and this many bytes of its body, then resets the connection.
    case interrupt(afterBody: Int)
    /// Reads a whole request, waits, then sends this.
    case answerLate(String, milliseconds: UInt32)
  }

  /// A request as it arrived.
  struct Request: Equatable {
    var head: String
    var body: [UInt8] = []

    /// "PATCH /files/1"
    var line: String { head.split(separator: " ").prefix(2).joined(separator: " ") }

    func value(_ name: String) -> String? {
      let line = head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }
      return line.map { String($0.dropFirst(name.count + 2)) }
    }
  }

  private let listener = Listener()
  private let threads = DispatchGroup()
  private let lock = NSLock()
  private var requests: [Request] = []
  /// The connections being served.
  private var connections: Set<Int32> = []
  private var isFinishing = false
  /// From then on, it ends.
  private let finishing = Pipe()

  /// - Parameter connections: what happens on each connection in turn; then it is closed.
  convenience init(_ connections: [[Action]]) {
    self.init()
    onThread { [self] in
      for actions in connections {
        guard let connection = acceptConnection() else { break }
        var waiting = actions[...]
        serveConnection(connection) {
          !waiting.isEmpty
        } next: { _ in
          waiting.removeFirst()
        }
      }
      listener.stop()
    }
  }

  /// - Parameter answer: decides what happens to a request whose head has come.
  convenience init(answering answer: @escaping @Sendable (Request) -> Action) {
    self.init()
    onThread { [self] in
      while let connection = acceptConnection() {
        onThread { [self] in serveConnection(connection, next: answer) }
      }
      listener.stop()
    }
  }

  private init() {}

  private func onThread(_ body: @escaping @Sendable () -> Void) {
    threads.enter()
    Thread.detachNewThread { [threads] in
      body()
      threads.leave()
    }
  }

  var port: UInt16 { listener.port }
  var url: String { "http://127.0.0.1:\(port)/" }

  /// Serves the requests that have arrived, without waiting for more, and returns them.
  func finish() -> [Request] {
    lock.withLock {
      isFinishing = true
      for connection in connections { shutdown(connection, Int32(SHUT_RD)) }
    }
    finishing.fileHandleForWriting.closeFile()
    threads.wait()
    return lock.withLock { requests }
  }

  /// The next connection; nil after the last one.
  private func acceptConnection() -> Int32? {
    var waiting = [listener.descriptor, finishing.fileHandleForReading.fileDescriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    // With a limit, in case a test forgets to finish.
    guard poll(&waiting, 2, 60_000) > 0, waiting[0].revents != 0 else { return nil }
    let connection = listener.accept()
    guard connection >= 0 else { return nil }
    return lock.withLock {
      connections.insert(connection)
      if isFinishing { shutdown(connection, Int32(SHUT_RD)) }
      return connection
    }
  }

  /// - Parameters:
  ///   - continues: whether to wait for another request.
  ///   - next: how to handle it.
  private func serveConnection(
    _ connection: Int32, continues: () -> Bool = { true }, next: (Request) -> Action
  ) {
    var isReset = false
    defer {
      lock.withLock {
        connections.remove(connection)
        if isReset { reset(connection) } else { close(connection) }
      }
    }
    requests: while continues(), var request = readHead(connection) {
      let action = lock.withLock { next(request) }
      request.body = readBody(connection, of: request, for: action)
      lock.withLock { requests.append(request) }
      switch action {
      case .answer(let text): reply(text, to: connection)
      case .answerAndClose(let text):
        reply(text, to: connection)
        break requests
      case .answerLate(let text, let milliseconds):
        usleep(milliseconds * 1000)
        reply(text, to: connection)
      case .reset, .interrupt:
        isReset = true
        return
      }
    }
    // Closing with unread bytes would reset the connection, and the response could be lost.
    shutdown(connection, Int32(SHUT_WR))
    var rest = [UInt8](repeating: 0, count: 65_536)
    while recv(connection, &rest, rest.count, 0) > 0 {}
  }

  private func reply(_ text: String, to connection: Int32) {
    _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  private func readHead(_ connection: Int32) -> Request? {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      guard recv(connection, &byte, 1, 0) == 1 else { return nil }
      head.append(byte)
    }
    return Request(head: String(decoding: head, as: UTF8.self))
  }

  private func readBody(_ connection: Int32, of request: Request, for action: Action) -> [UInt8] {
    let length: Int
    switch action {
    case .answer, .answerAndClose, .answerLate: length = Int(request.value("Content-Length") ?? "") ?? 0
    case .interrupt(let wanted): length = wanted
    case .reset: return []
    }
    var body = [UInt8](repeating: 0, count: length)
    var count = 0
    while count < length {
      let got = body[count...].withUnsafeMutableBytes { recv(connection, $0.baseAddress, $0.count, 0) }
      guard got > 0 else { break }
      count += got
    }
    return Array(body.prefix(count))
  }
}
