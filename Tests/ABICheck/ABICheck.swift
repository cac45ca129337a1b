// Compares what Swift and C think of the structs they share, on the architecture that this is built for. Built and run
// for each by `make abi`; prints a line a check and exits with 1 if one differs.
import CShims
import sizes

@main
struct ABICheck {
  static func main() {
    var status = shim_file_status()
    let offsetOfSize = offset(in: &status) { withUnsafeMutablePointer(to: &$0.pointee.size) { UInt(bitPattern: $0) } }
    var address = shim_address()
    let offsetOfLength = offset(in: &address) {
      withUnsafeMutablePointer(to: &$0.pointee.length) { UInt(bitPattern: $0) }
    }
    let file = abi_file_status()
    let socket = abi_address()
    let all = [
      check("size of shim_file_status", MemoryLayout<shim_file_status>.size, file.size),
      check("alignment of shim_file_status", MemoryLayout<shim_file_status>.alignment, file.alignment),
      check("offset of its size", offsetOfSize, abi_offset_of_file_size()),
      check("size of shim_address", MemoryLayout<shim_address>.stride, socket.size),
      check("alignment of shim_address", MemoryLayout<shim_address>.alignment, socket.alignment),
      check("offset of its length", offsetOfLength, abi_offset_of_address_length()),
      check("bytes of off_t", 8, abi_size_of_file_offset()),
      check("bytes of time_t", 8, abi_size_of_time()),
    ]
    shim_exit(all.contains(false) ? 1 : 0)
  }

  private static func check(_ what: StaticString, _ swift: Int, _ c: UInt32) -> Bool {
    print(what, terminator: ": Swift ")
    print(swift, terminator: ", C ")
    print(c, terminator: swift == Int(c) ? "\n" : "  DIFFERENT\n")
    return swift == Int(c)
  }

  private static func offset<Whole>(
    in whole: inout Whole, of field: (UnsafeMutablePointer<Whole>) -> UInt
  ) -> Int {
    withUnsafeMutablePointer(to: &whole) { Int(field($0) - UInt(bitPattern: $0)) }
  }
}
