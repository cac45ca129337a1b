import CShims
import UploadCore

final class NameLookup {
  enum Failure: Error {
    case noSuchName
    /// No name server answers.
    case noResolver
    case noMemory
  }

  private let pointer: OpaquePointer

  init(_ host: String, port: UInt16, _ family: AddressFamily) throws(UploadError) {
    let wanted =
      switch family {
      case .any: SHIM_FAMILY_ANY
      case .ipv4: SHIM_FAMILY_IPV4
      case .ipv6: SHIM_FAMILY_IPV6
      }
    // No name means this machine.
    let name = AddressOrder.isLocalHost(host) ? nil : host
    guard let pointer = shim_lookup_start(name, port, Int32(wanted)) else {
      throw .outOfResources("threads, memory or file descriptors")
    }
    self.pointer = pointer
  }

  deinit { shim_lookup_release(pointer) }

  var descriptor: Int32 { shim_lookup_descriptor(pointer) }

  func addresses() throws(Failure) -> [shim_address] {
    switch Int(shim_lookup_result(pointer)) {
    case SHIM_RESOLVED: break
    case SHIM_NO_SUCH_NAME: throw .noSuchName
    case SHIM_RESOLVER_NO_MEMORY: throw .noMemory
    default: throw .noResolver
    }
    let areIPv6 = (0..<shim_lookup_count(pointer)).map { address(at: $0).isIPv6 }
    return AddressOrder.interleaved(areIPv6, limit: Limits.addressCount).map { address(at: Int32($0)) }
  }

  private func address(at index: Int32) -> shim_address {
    var address = shim_address()
    shim_lookup_address(pointer, index, &address)
    return address
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
    return String(unsafeUninitializedCapacity: 80) { Int(shim_address_text(&address, $0.baseAddress, $0.count)) }
  }
}
