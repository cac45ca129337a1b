import CShims
import Glibc
import Testing

@testable import Uploader

/// TLS against a server of OpenSSL's in the same thread.
struct TLSStreamTests {
  private let directory = TemporaryDirectory()

  /// A connected pair of sockets, the client's end first.
  private func ends() -> (Socket, Int32) {
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0, fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0
    else { fatalError("socketpair failed") }
    return (Socket(descriptor: pair[0]), pair[1])
  }

  /// A client that trusts the certificate, and its server.
  private func connect(
    to host: String = "hive", _ certificate: TestCertificate, sendsFile: Bool = true,
    configure: (inout TLSOptions) -> Void = { _ in }
  ) throws -> (stream: TLSStream, peer: TLSPeer) {
    var options = TLSOptions()
    options.trustedCertificatesFile = certificate.file(in: directory)
    configure(&options)
    let (socket, end) = ends()
    return (
      try TLSStream(over: socket, context: try TLSContext(options), host: host, sendsFile: sendsFile),
      TLSPeer(certificate, over: end)
    )
  }

  /// Steps both ends until the client's handshake has finished.
  private func shakeHands(_ stream: TLSStream, _ peer: TLSPeer) throws(StreamError) {
    for _ in 0..<20 where try stream.handshake() != .done { peer.accept() }
    peer.accept()
  }

  private func connected(sendsFile: Bool = true) throws -> (stream: TLSStream, peer: TLSPeer) {
    let (stream, peer) = try connect(TestCertificate(for: "DNS:hive"), sendsFile: sendsFile)
    try shakeHands(stream, peer)
    return (stream, peer)
  }

  private func read(_ stream: TLSStream) throws(StreamError) -> (StreamRead, String) {
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
    defer { space.deallocate() }
    let result = try stream.read(into: space)
    if case .bytes(let count) = result { return (result, String(decoding: space[..<count], as: UTF8.self)) }
    return (result, "")
  }

  private func write(_ bytes: [UInt8], to stream: TLSStream) throws(StreamError) -> Int {
    // In place, because bytes that were not accepted must be offered again.
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { space.deallocate() }
    space.copyBytes(from: bytes)
    return try stream.write(UnsafeRawBufferPointer(space))
  }

  // MARK: The handshake

  /// Codes of x509_vfy.h: 62 another name, 64 another address.
  @Test(
    arguments: [
      ("hive", "DNS:hive", nil), ("hive.", "DNS:hive", nil), ("127.0.0.1", "DNS:hive,IP:127.0.0.1", nil),
      ("other", "DNS:hive", 62), ("sub.hive", "DNS:hive", 62), ("127.0.0.1", "DNS:127.0.0.1", 64),
    ] as [(String, String, Int?)])
  func theCertificateMustBeForTheHost(host: String, names: String, code: Int?) throws {
    let (stream, peer) = try connect(to: host, TestCertificate(for: names))
    #expect(code == refusal(stream, peer))
  }

  /// The error code for the certificate.
  private func refusal(_ stream: TLSStream, _ peer: TLSPeer) -> Int? {
    do throws(StreamError) { try shakeHands(stream, peer) } catch {
      if case .tls(.certificate(let code, _)) = error { return code }
      Issue.record("\(error)")
    }
    return nil
  }

  @Test func theKeyMustBeOneOfThePins() throws {
    let certificate = TestCertificate(for: "DNS:hive")
    var pin = "sha256//" + Base64.encode([UInt8](repeating: 7, count: 32))
    let refused = try connect(certificate) { $0.pins = [pin] }
    do throws(StreamError) {
      try shakeHands(refused.stream, refused.peer)
      Issue.record("any key is taken")
    } catch {
      guard case .tls(.pinMismatch(let actual)) = error else { throw error }
      pin = actual
    }
    let taken = try connect(certificate) { $0.pins = [pin] }
    try shakeHands(taken.stream, taken.peer)
  }

  // MARK: Bytes

  @Test func bytesGoBothWaysUntilEachSideSaysGoodbye() throws {
    let (stream, peer) = try connected()
    #expect(stream.summary.hasPrefix("TLSv1.3 "))
    #expect(try write(bytes("PATCH"), to: stream) == 5)
    #expect(peer.read() == .bytes(bytes("PATCH")))
    // The server's session tickets are not content.
    #expect(try read(stream).0 == .notReady)
    peer.write("204")
    let answer = try read(stream)
    #expect(answer == (.bytes(3), "204"))
    stream.closeNotify()
    #expect(peer.read() == .closeNotify)
    peer.closeNotify()
    #expect(try read(stream).0 == .end)
  }

  /// It may have been truncated by an attacker.
  @Test func anEndWithoutGoodbyeIsATruncation() throws {
    let (stream, peer) = try connected()
    peer.write("HTTP/1.1 200 OK\r\n")
    peer.hangUp()
    #expect(try read(stream).1.hasPrefix("HTTP"))
    #expect(throws: StreamError.tls(.truncated)) { _ = try read(stream) }
  }

  @Test(arguments: [true, false])
  func bytesThatTheSocketDoesNotTakeAreHeldAndPassedOnLater(sendsFile: Bool) throws {
    let (stream, peer) = try connected(sendsFile: sendsFile)
    let content = recording(8 << 20)
    let taken = try write(content, to: stream)
    #expect(taken > 0 && taken < content.count && stream.holdsBytes)
    #expect(try !stream.flush() && stream.unacknowledgedLength > 0)
    #expect(try write(Array(content[taken...]), to: stream) == 0)
    var received: [UInt8] = []
    while received.count < taken {
      switch peer.read() {
      case .bytes(let bytes): received += bytes
      case .notReady: _ = try stream.flush()
      case .closeNotify, .failed:
        Issue.record("the connection ends")
        return
      }
    }
    #expect(try stream.flush() && !stream.holdsBytes)
    #expect(sha256(received) == sha256(Array(content[..<taken])))
  }
}
