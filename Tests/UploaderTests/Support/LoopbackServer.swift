import Foundation
import Glibc

/// A server on the loopback interface that answers from a script, in a thread of its own.
final class LoopbackServer: @unchecked Sendable {
  enum Action {
    /// Reads a whole request, then sends this.
    case answer(String)
    /// Reads a request's head, then sends this.
    case answerHead(String)
    /// Reads a request's head, then resets the connection.
    case reset
  }

  /// A request as it arrived.
  struct Request: Equatable {
    var head: String
    var body: [UInt8] = []
  }

  let port: UInt16
  private let listener: Int32
  private let done = DispatchSemaphore(value: 0)
  private var requests: [Request] = []

  /// - Parameter connections: what happens on each connection in turn; then it is closed.
  init(_ connections: [[Action]]) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard listening else { fatalError("no loopback socket") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    LoopbackServer.limitWaiting(listener)
    Thread.detachNewThread { [self] in
      for actions in connections { serveConnection(actions) }
      close(listener)
      done.signal()
    }
  }

  var url: String { "http://127.0.0.1:\(port)/" }

  /// Waits until the script is at its end, and tells what came.
  func finish() -> [Request] {
    done.wait()
    return requests
  }

  /// A test that goes wrong must not hang for ever.
  private static func limitWaiting(_ descriptor: Int32) {
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  private func serveConnection(_ actions: [Action]) {
    let connection = accept(listener, nil, nil)
    guard connection >= 0 else { return }
    defer { close(connection) }
    LoopbackServer.limitWaiting(connection)
    for action in actions {
      guard var request = readHead(connection) else { return }
      if case .answer = action { request.body = readBody(connection, of: request) }
      requests.append(request)
      switch action {
      case .answer(let text), .answerHead(let text):
        _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      case .reset:
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        return
      }
    }
    // Closing with unread bytes would reset the connection, and the answer could be lost.
    shutdown(connection, Int32(SHUT_WR))
    var rest = [UInt8](repeating: 0, count: 65_536)
    while recv(connection, &rest, rest.count, 0) > 0 {}
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

  private func readBody(_ connection: Int32, of request: Request) -> [UInt8] {
    let line = request.head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
    let length = line.flatMap { Int($0.dropFirst(16)) } ?? 0
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
