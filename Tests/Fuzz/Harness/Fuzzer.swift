import Glibc

/// The entry points that libFuzzer calls. One binary has all targets; the environment's FUZZ_TARGET says which one is meant.
nonisolated(unsafe) private var target: Target?

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  target = allTargets.first { $0.name == name }
  guard target != nil else { fatalError("FUZZ_TARGET names no target") }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target?.run([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
  return 0
}
