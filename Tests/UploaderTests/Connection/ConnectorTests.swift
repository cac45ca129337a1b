import CShims
import Glibc
import Testing

@testable import Uploader

/// From a target to a connection: name, race, proxy and TLS, each with its own limit and errors, in virtual time.
struct ConnectorTests {
  private let directory = TemporaryDirectory()

  private func connector(
    to url: String, through proxy: Listener? = nil, user: String? = nil, trusting certificate: TestCertificate? = nil
  ) throws -> Connector {
    var configuration = Configuration()
    configuration.timeouts.resolveMilliseconds = 1000
    configuration.timeouts.connectMilliseconds = 2000
    configuration.timeouts.handshakeMilliseconds = 3000
    if let proxy { configuration.proxies.https = Proxy(try TargetURI("http://127.0.0.1:\(proxy.port)"), user: user) }
    configuration.tls.trustedCertificatesFile = certificate?.file(in: directory)
    let target = try TargetURI(url)
    let tls = try TLSContextCache(configuration.tls, jobs: 1).context(for: target)
    return Connector(to: target, configuration: configuration, tls: tls)
  }

  /// Steps until nothing more happens. Data in flight over the loopback interface has arrived by then.
  /// - Returns: nil when it is connected.
  private func settle(_ connector: Connector, at now: Int64 = 100) throws(UploadError) -> Wait? {
    var wait = try connector.step([], nowMilliseconds: now)
    while let current = wait {
      var entries = ([current.descriptor] + current.others).map {
        shim_poll_entry(descriptor: $0, events: current.readiness.rawValue, ready: 0)
      }
      _ = shim_poll(&entries, Int32(entries.count), 100)
      let ready = entries.reduce(0) { $0 | $1.ready }
      if ready == 0 { return current }
      wait = try connector.step(Readiness(rawValue: ready), nowMilliseconds: now)
    }
    return nil
  }

  // MARK: Paths

  @Test func overPlainHTTPTheFirstAddressIsTheConnection() throws {
    let server = Listener()
    let connector = try connector(to: "http://127.0.0.1:\(server.port)/up")
    #expect(try settle(connector) == nil)
    let connection = try #require(connector.connection)
    #expect(connection.peer == "127.0.0.1:\(server.port)" && connection.host == "127.0.0.1")
    #expect(connection.roundTripMilliseconds == 0 && !connection.isReused)
  }

  /// The proxy gets the target, and the handshake is with the server behind it.
  @Test func throughAProxyTheHandshakeIsWithTheServer() throws {
    let (proxy, certificate) = (Listener(), TestCertificate(for: "DNS:hive"))
    let connector = try connector(to: "https://hive/up", through: proxy, trusting: certificate)
    #expect(try settle(connector)?.readiness == .readable)
    let end = proxy.accept()
    var head = [UInt8](repeating: 0, count: 1000)
    let count = recv(end, &head, head.count, 0)
    #expect(
      String(decoding: head.prefix(count), as: UTF8.self).hasPrefix("CONNECT hive:443 HTTP/1.1\r\nHost: hive:443\r\n"))
    answer("HTTP/1.1 200 OK\r\n\r\n", on: end)
    #expect(try settle(connector)?.readiness == .readable)
    let peer = TLSPeer(certificate, over: end)
    peer.accept()
    #expect(try settle(connector) == nil)
    #expect(connector.connection?.peer == "hive (through the proxy 127.0.0.1:\(proxy.port))")
    #expect(connector.connection?.host == "hive")
  }

  @Test func withoutTLSSettingsNothingIsSentToAnHTTPSTarget() throws {
    let server = Listener()
    let target = try TargetURI("https://127.0.0.1:\(server.port)/")
    let connector = Connector(to: target, configuration: Configuration(), tls: nil)
    #expect(throws: UploadError.tls(.handshake(reason: "no TLS settings"), host: "127.0.0.1")) {
      _ = try settle(connector)
    }
    #expect(connector.connection == nil)
  }

  @Test func aProxyThatCannotBeUsedIsReportedBeforeAnythingIsResolved() throws {
    var configuration = Configuration()
    configuration.proxies.unusableHTTP = "$ALL_PROXY"
    let connector = Connector(to: try TargetURI("http://hive/"), configuration: configuration, tls: nil)
    #expect(throws: UploadError.proxyUnusable(source: "$ALL_PROXY")) {
      _ = try connector.step([], nowMilliseconds: 0)
    }
  }

  // MARK: Time

  /// The limit of each phase starts with the phase, and does not count time that another machine used.
  @Test(arguments: [UploadPhase.resolving, .connecting, .tunnelling, .handshaking])
  func eachPhaseIsGivenUpExactlyAtItsLimit(phase: UploadPhase) throws {
    let listener = Listener(isFull: phase == .connecting)
    let address = "127.0.0.1:\(listener.port)"
    let connector: Connector
    let limit: Int64
    switch phase {
    case .resolving: (connector, limit) = (try self.connector(to: "http://\(address)/"), 1000)
    case .connecting: (connector, limit) = (try self.connector(to: "http://\(address)/"), 2000)
    case .tunnelling: (connector, limit) = (try self.connector(to: "https://hive/", through: listener), 3000)
    default: (connector, limit) = (try self.connector(to: "https://\(address)/"), 3000)
    }
    let wait = try phase == .resolving ? connector.step([], nowMilliseconds: 100) : settle(connector)
    if phase == .resolving {
      // After a third of the time, IPv4 addresses alone are asked for.
      #expect(wait?.untilMilliseconds == 433)
      #expect(try connector.step([], nowMilliseconds: 433)?.untilMilliseconds == 100 + limit)
    } else {
      #expect(wait?.untilMilliseconds == 100 + limit)
    }
    connector.extendDeadlines(by: 50)
    #expect(try connector.step([], nowMilliseconds: 149 + limit)?.untilMilliseconds == 150 + limit)
    let peer = phase == .resolving ? "127.0.0.1" : address
    #expect(throws: UploadError.timedOut(phase, peer: peer, limitMilliseconds: limit)) {
      _ = try connector.step([], nowMilliseconds: 150 + limit)
    }
  }

  // MARK: Errors

  private func answer(_ text: String, on descriptor: Int32) { _ = write(descriptor, text, text.utf8.count) }

  /// The error of the connector after a server accepted its connection and did this.
  private func failure(
    _ connector: Connector, at listener: Listener, _ action: (Int32) -> Void
  ) throws -> UploadError? {
    _ = try settle(connector)
    let end = listener.accept()
    // With unread data, closing would reset the connection.
    var space = [UInt8](repeating: 0, count: 4096)
    _ = recv(end, &space, space.count, 0)
    action(end)
    do throws(UploadError) { _ = try settle(connector) } catch { return error }
    return nil
  }

  @Test func nobodyListens() throws {
    let port = Listener.closedPort
    let connector = try connector(to: "http://127.0.0.1:\(port)/")
    let refused = SystemError(code: ECONNREFUSED)
    #expect(throws: UploadError.notConnected(host: "127.0.0.1", address: "127.0.0.1:\(port)", refused)) {
      _ = try settle(connector)
    }
  }

  @Test func anAddressOfAnExcludedVersionIsNoUnknownName() throws {
    var configuration = Configuration()
    configuration.addressFamily = .ipv6
    let connector = Connector(to: try TargetURI("http://127.0.0.1/"), configuration: configuration, tls: nil)
    #expect(throws: UploadError.addressExcluded(host: "127.0.0.1", isIPv6: false)) { _ = try settle(connector) }
  }

  @Test func eachWayInWhichAProxyFailsHasItsOwnError() throws {
    let proxy = Listener()
    let name = "127.0.0.1:\(proxy.port)"
    let refusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
    let rows: [((Int32) -> Void, UploadError)] = [
      ({ answer(refusal, on: $0) }, .proxyRefused(status: 403, proxy: name, hadCredentials: false)),
      ({ answer("220 ftp\r\n", on: $0) }, .invalidResponse(.notHTTP, peer: "the proxy " + name)),
      ({ close($0) }, .connectionLost(.tunnelling, peer: name, nil)),
      ({ reset($0) }, .connectionLost(.tunnelling, peer: name, connectionReset)),
    ]
    for (action, error) in rows {
      #expect(try failure(connector(to: "https://hive/", through: proxy), at: proxy, action) == error)
    }
  }

  @Test func aProxyThatDemandsCredentialsIsReportedWithWhetherItHadSome() throws {
    let proxy = Listener()
    let demand = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    for user in [nil, "radio"] {
      let connector = try connector(to: "https://hive/", through: proxy, user: user)
      let error = UploadError.proxyRefused(
        status: 407, proxy: "127.0.0.1:\(proxy.port)", hadCredentials: user != nil)
      #expect(try failure(connector, at: proxy) { answer(demand, on: $0) } == error)
    }
  }

  @Test func eachWayInWhichAHandshakeFailsHasItsOwnError() throws {
    let server = Listener()
    let name = "127.0.0.1:\(server.port)"
    let noTLS = "HTTP/1.1 400 Bad Request\r\n\r\n"
    let rows: [((Int32) -> Void, UploadError)] = [
      ({ answer(noTLS, on: $0) }, .tls(.handshake(reason: "wrong version number"), host: "127.0.0.1")),
      ({ close($0) }, .tls(.closedDuringHandshake, host: "127.0.0.1")),
      ({ reset($0) }, .connectionLost(.handshaking, peer: name, connectionReset)),
    ]
    for (action, error) in rows {
      #expect(try failure(connector(to: "https://\(name)/"), at: server, action) == error)
    }
  }
}
