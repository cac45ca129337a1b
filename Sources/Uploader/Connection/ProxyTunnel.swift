import UploadCore

/// Asks a proxy to connect to the server (CONNECT, RFC 9110, 9.3.6).
final class ProxyTunnel {
  private let socket: Socket
  private let proxy: Proxy
  private let head: UnsafeMutableRawBufferPointer
  private let received = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
  private var written = 0
  private var exchange = Exchange(method: "CONNECT", expectsContinue: false)

  init(to target: TargetURI, through proxy: Proxy, over socket: Socket, userAgent: String) throws(UploadError) {
    self.socket = socket
    self.proxy = proxy
    var fields = [Field("User-Agent", userAgent)]
    if let authorization = proxy.authorization { fields.append(Field("Proxy-Authorization", authorization)) }
    let bytes: [UInt8]
    do throws(RequestHeadError) {
      bytes = try HTTPRequest(method: "CONNECT", target: target, fields: fields).encodedHead(.authority)
    } catch {
      head = UnsafeMutableRawBufferPointer(start: nil, count: 0)
      throw .requestHead(error)
    }
    head = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    head.copyBytes(from: bytes)
  }

  deinit {
    head.deallocate()
    received.deallocate()
  }

  /// "host:port"
  var name: String { proxy.text }

  /// Sends the CONNECT request and reads the response, as far as possible now.
  /// - Returns: what it waits for; nil when the proxy has connected.
  func step() throws(UploadError) -> Readiness? {
    if written < head.count {
      written += try orLost { () throws(StreamError) in
        try socket.write(UnsafeRawBufferPointer(rebasing: head[written...]))
      }
      if written < head.count { return .writable }
      exchange.headWasSent(continueDeadlineMilliseconds: 0)
      exchange.bodyWasSent()
    }
    while true {
      switch try orLost({ () throws(StreamError) in try socket.read(into: received) }) {
      case .notReady: return .readable
      case .end: throw .connectionLost(.tunnelling, peer: proxy.text, nil)
      case .bytes(let count):
        if try isConnected(after: UnsafeRawBufferPointer(rebasing: received[..<count])) { return nil }
      }
    }
  }

  private func isConnected(after bytes: UnsafeRawBufferPointer) throws(UploadError) -> Bool {
    do throws(ResponseError) { try exchange.receive(bytes) } catch {
      throw .invalidResponse(error, peer: "the proxy " + proxy.text)
    }
    if let refusal = exchange.refusalSoFar { throw proxy.refusal(status: refusal.status) }
    return exchange.finalResponse != nil
  }

  private func orLost<T>(_ operation: () throws(StreamError) -> T) throws(UploadError) -> T {
    do throws(StreamError) { return try operation() } catch {
      throw error.lost(.tunnelling, peer: proxy.text, host: proxy.text)
    }
  }
}
