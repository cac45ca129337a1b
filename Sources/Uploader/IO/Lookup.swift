import CShims
import UploadCore

/// A name lookup under way.
final class Lookup {
  private let pointer: OpaquePointer
  private let host: String

  init(_ host: String, port: UInt16, _ family: AddressFamily) throws(UploadError) {
    let wanted =
      switch family {
      case .any: SHIM_FAMILY_ANY
      case .ipv4: SHIM_FAMILY_IPV4
      case .ipv6: SHIM_FAMILY_IPV6
      }
    guard let pointer = shim_lookup_start(host, port, Int32(wanted)) else {
      throw .outOfResources("threads, memory or file descriptors")
    }
    self.pointer = pointer
    self.host = host
  }

  deinit { shim_lookup_release(pointer) }

  var descriptor: Int32 { shim_lookup_descriptor(pointer) }

  /// The addresses, in the order in which they should be tried: families take turns, beginning with that of the first
  /// address (RFC 8305, 4).
  func addresses() throws(UploadError) -> [shim_address] {
    var addresses = [shim_address](repeating: shim_address(), count: Limits.addressCount)
    var count: Int32 = 0
    switch Int(shim_lookup_result(pointer, &addresses, Int32(addresses.count), &count)) {
    case SHIM_RESOLVED: return Lookup.takingTurns(Array(addresses.prefix(Int(count)))) { $0.isIPv6 }
    case SHIM_NO_SUCH_NAME: throw .noSuchName(host: host)
    case SHIM_RESOLVER_NO_MEMORY: throw .outOfResources("memory")
    default: throw .noResolver(host: host)
    }
  }

  /// Elements of two kinds so that the kinds take turns as long as there are both, each kind in its own order.
  static func takingTurns<Element>(_ elements: [Element], by isSecondKind: (Element) -> Bool) -> [Element] {
    guard let first = elements.first else { return [] }
    var same = elements.filter { isSecondKind($0) == isSecondKind(first) }[...]
    var other = elements.filter { isSecondKind($0) != isSecondKind(first) }[...]
    var result: [Element] = []
    while let next = same.popFirst() {
      result.append(next)
      if let next = other.popFirst() { result.append(next) }
    }
    return result + other
  }
}

extension shim_address {
  var isIPv6: Bool {
    var address = self
    return Int(shim_address_family(&address)) == SHIM_FAMILY_IPV6
  }

  /// "192.0.2.1:443"
  var text: String {
    var address = self
    return String(unsafeUninitializedCapacity: 64) { Int(shim_address_text(&address, $0.baseAddress, $0.count)) }
  }
}
