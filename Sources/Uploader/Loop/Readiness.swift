import CShims

/// Whether a descriptor is readable or writable.
struct Readiness: OptionSet {
  let rawValue: Int32
  static let readable = Readiness(rawValue: Int32(SHIM_POLL_READABLE))
  static let writable = Readiness(rawValue: Int32(SHIM_POLL_WRITABLE))

  /// The current readiness.
  static func of(_ descriptor: Int32, _ wanted: Readiness) -> Readiness {
    var entry = shim_poll_entry(descriptor: descriptor, events: wanted.rawValue, ready: 0)
    return shim_poll(&entry, 1, 0) == 0 ? Readiness(rawValue: entry.ready) : []
  }
}
