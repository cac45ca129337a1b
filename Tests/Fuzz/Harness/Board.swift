/// The entry point of the replay on a 32-bit board: Embedded Swift, called by board.c.
@_cdecl("run_target")
public func runTarget(_ name: UnsafePointer<CChar>, _ start: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
  let name = String(cString: name)
  guard let target = allTargets.first(where: { $0.name == name }) else { return false }
  target.run([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
  return true
}

/// The version in the tests needs Glibc.
final class GuardPage {
  init(room: Int) {}

  func placing<Result, Failure: Error>(
    _ bytes: ArraySlice<UInt8>, reader: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    return try reader(UnsafeRawBufferPointer(copy))
  }
}
