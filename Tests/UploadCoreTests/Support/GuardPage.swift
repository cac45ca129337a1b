import Glibc

/// Memory that ends right before an inaccessible page, so that a reader that goes one byte too far crashes.
final class GuardPage {
  private let base: UnsafeMutableRawPointer
  private let room: Int
  private let pageSize: Int

  /// - Parameter room: the longest input that will be placed, in bytes.
  init(room wanted: Int) {
    pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
    room = (max(wanted, 1) + pageSize - 1) / pageSize * pageSize
    let mapped = mmap(nil, room + pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapped, mapped != MAP_FAILED else { fatalError("mmap failed") }
    base = mapped
    guard mprotect(base + room, pageSize, PROT_NONE) == 0 else { fatalError("mprotect failed") }
  }

  deinit { munmap(base, room + pageSize) }

  /// Gives `reader` the bytes, the last of them directly before the unmapped page.
  func placing<Result, Failure: Error>(
    _ bytes: ArraySlice<UInt8>, reader: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(bytes.count <= room)
    let place = UnsafeMutableRawBufferPointer(start: base + (room - bytes.count), count: bytes.count)
    place.copyBytes(from: bytes)
    return try reader(UnsafeRawBufferPointer(place))
  }
}
