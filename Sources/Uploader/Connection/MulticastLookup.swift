import CShims
import UploadCore

/// Asks the hosts on the local network for the addresses of a name below `.local`. ``MulticastDNSLookup`` decides; this sends,
/// and reads the answers.
final class MulticastLookup {
  private struct Channel {
    let isIPv6: Bool
    let socket: Socket
    var family: Int32 { Int32(isIPv6 ? SHIM_FAMILY_IPV6 : SHIM_FAMILY_IPV4) }
  }

  private let host: String
  private let port: UInt16
  private let diagnostics: ((String) -> Void)?
  private let channels: [Channel]
  private let buffer: UnsafeMutableRawBufferPointer
  private var lookup: MulticastDNSLookup
  /// The names of the interfaces that were asked on.
  private(set) var asked: [String] = []

  /// nil if the host is not looked up in this way.
  init?(
    _ host: String, port: UInt16, _ family: AddressFamily, now: Int64, limitMilliseconds: Int64,
    diagnostics: ((String) -> Void)?
  ) throws(UploadError) {
    guard var query = MulticastDNSQuery(name: host, id: 0) else { return nil }
    query.id = UInt16(truncatingIfNeeded: try RandomBytes.number())
    let kinds: [MulticastDNSQuery.Kind] =
      switch family {
      case .any: [.aaaa, .a]
      case .ipv4: [.a]
      case .ipv6: [.aaaa]
      }
    self.host = host
    self.port = port
    self.diagnostics = diagnostics
    buffer = .allocate(byteCount: Limits.dnsMessageLength, alignment: 16)
    lookup = MulticastDNSLookup(
      query, kinds: kinds, on: MulticastLookup.interfaces(), now: now, limitMilliseconds: limitMilliseconds)
    // A response over either IP version may contain addresses of both, so one version is enough.
    channels = [true, false].compactMap { isIPv6 in
      let descriptor = shim_multicast_socket(Int32(isIPv6 ? SHIM_FAMILY_IPV6 : SHIM_FAMILY_IPV4))
      return descriptor < 0 ? nil : Channel(isIPv6: isIPv6, socket: Socket(descriptor: descriptor))
    }
  }

  deinit { buffer.deallocate() }

  /// Reads what has arrived, and sends the query when it is due.
  /// - Returns: nil when there are addresses, or will be none.
  func step(now: Int64) -> Wait? {
    for channel in channels { receive(from: channel, now) }
    while true {
      switch lookup.next(now: now) {
      case .send:
        send()
        // If nothing can be sent, there will be no response.
        if asked.isEmpty { return nil }
      case .wait(let until):
        var wait = Wait(
          descriptor: channels.first?.socket.descriptor ?? -1, readiness: .readable, untilMilliseconds: until)
        wait.others = channels.dropFirst().map { $0.socket.descriptor }
        return wait
      case .finished: return nil
      }
    }
  }

  /// The addresses to try, in order; empty if there was no answer.
  func addresses() -> [shim_address] {
    let found = lookup.addresses
    let order = AddressOrder.interleaved(found.map { $0.address.bytes.count == 16 }, limit: Limits.addressCount)
    return order.map { index in
      let one = found[index]
      var address = shim_address()
      let family = one.address.bytes.count == 16 ? SHIM_FAMILY_IPV6 : SHIM_FAMILY_IPV4
      shim_make_address(one.address.bytes, Int32(family), one.zone, port, &address)
      diagnostics?(
        "* " + host + " is " + address.text + ", from multicast DNS on " + lookup.name(ofInterface: one.interface))
      return address
    }
  }

  private func send() {
    for interface in lookup.interfaces {
      var isSent = false
      for channel in channels where interface.hasAddress(ofIPv6: channel.isIPv6) {
        for kind in lookup.kinds {
          let message = lookup.query.message(for: kind)
          let result = shim_multicast_send(
            channel.socket.descriptor, channel.family, interface.index, message, message.count)
          isSent = isSent || result == 0
        }
      }
      if isSent, !asked.contains(interface.name) { asked.append(interface.name) }
    }
    diagnostics?(
      "* asking for " + host + " by multicast DNS on "
        + (asked.isEmpty ? "no interface" : asked.joined(separator: ", ")))
  }

  private func receive(from channel: Channel, _ now: Int64) {
    var origin = shim_datagram_origin()
    for _ in 0..<Limits.receiveCount {
      let count = shim_multicast_receive(channel.socket.descriptor, buffer.baseAddress, buffer.count, &origin)
      if count < 0 { return }
      guard count <= buffer.count, let source = MulticastLookup.address(origin.address, isIPv6: channel.isIPv6) else {
        continue
      }
      lookup.receive(
        UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]),
        from: MulticastDNSLookup.Origin(
          source: source, port: origin.port, interface: origin.interface,
          hopLimit: origin.hop_limit < 0 ? nil : Int(origin.hop_limit)),
        now: now)
    }
  }

  private static func address<Bytes>(_ bytes: Bytes, isIPv6: Bool) -> IPAddress? {
    withUnsafeBytes(of: bytes) { IPAddress(octets: $0.prefix(isIPv6 ? 16 : 4)) }
  }

  /// The interfaces that are up and can do multicast, with their addresses.
  private static func interfaces() -> [MulticastDNSLookup.Interface] {
    var entries = [shim_interface_address](repeating: shim_interface_address(), count: Limits.interfaceAddressCount)
    let count = shim_interface_addresses(&entries, Int32(entries.count))
    var interfaces: [MulticastDNSLookup.Interface] = []
    for entry in entries.prefix(max(0, Int(count))) {
      guard let address = address(entry.address, isIPv6: Int(entry.family) == SHIM_FAMILY_IPV6) else { continue }
      let index = interfaces.firstIndex { $0.index == entry.interface } ?? interfaces.count
      if index == interfaces.count {
        guard interfaces.count < Limits.multicastDNSInterfaceCount else { continue }
        interfaces.append(
          MulticastDNSLookup.Interface(
            index: entry.interface, name: name(of: entry), isLoopback: entry.is_loopback != 0))
      }
      interfaces[index].prefixes.append((address, Int(entry.prefix_bits)))
    }
    return interfaces
  }

  private static func name(of entry: shim_interface_address) -> String {
    withUnsafeBytes(of: entry.name) { PrintableText.line(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)) }
  }
}

extension Limits {
  /// Addresses of this machine that are considered, and network interfaces on which a name is looked up.
  static let interfaceAddressCount = 64
  static let multicastDNSInterfaceCount = 16
}
