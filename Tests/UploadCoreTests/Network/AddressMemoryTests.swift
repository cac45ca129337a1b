import Testing
import UploadCore

struct AddressMemoryTests {
  private let addresses = ["[2001:db8::1]:443", "192.0.2.1:443", "[2001:db8::2]:443", "192.0.2.2:443"]

  @Test func withoutSilenceTheOrderStays() {
    var memory = AddressMemory()
    #expect(memory.order(addresses) == [0, 1, 2, 3] && memory.order([]) == [])
    memory.noteSilence(of: "198.51.100.1:443", host: "other", hasArrived: false)
    #expect(memory.order(addresses) == [0, 1, 2, 3])
  }

  @Test func theOtherVersionOfIPComesFirstAndTheSilentOneLast() {
    var memory = AddressMemory()
    memory.noteSilence(of: "[2001:db8::1]:443", host: "hive", hasArrived: false)
    #expect(memory.order(addresses) == [1, 3, 2, 0])
    memory.noteSilence(of: "192.0.2.1:443", host: "hive", hasArrived: false)
    #expect(memory.order(addresses) == [2, 3, 0, 1])
    memory.noteSilence(of: "[2001:db8::1]:443", host: "hive", hasArrived: false)
    #expect(memory.order(addresses) == [3, 2, 1, 0])
    memory.noteResponse(of: "192.0.2.1:443")
    #expect(memory.order(addresses) == [1, 3, 2, 0])
  }

  @Test func shortSegmentsAreForThePathsOnWhichNothingArrived() {
    var memory = AddressMemory()
    memory.noteSilence(of: "192.0.2.1:443", host: "hive", hasArrived: true)
    #expect(!memory.isNarrow("hive"))
    memory.noteSilence(of: "192.0.2.1:443", host: "hive", hasArrived: false)
    #expect(memory.isNarrow("hive") && !memory.isNarrow("other"))
  }

  @Test func theOldestAreForgotten() {
    var memory = AddressMemory()
    memory.noteSilence(of: addresses[0], host: "hive", hasArrived: false)
    for number in 0..<Limits.silentAddressCount {
      memory.noteSilence(of: "192.0.2.\(number):1", host: "\(number)", hasArrived: false)
    }
    #expect(memory.order(addresses) == [0, 1, 2, 3] && !memory.isNarrow("hive"))
  }
}
