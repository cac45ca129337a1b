import Testing
import UploadCore

struct NextNamesTests {
  /// Reads a directory as often as needed.
  private func all(_ names: [String], capacity: Int) -> (names: [String], rounds: Int) {
    var next = NextNames(capacity: capacity)
    var result: [String] = []
    var rounds = 0
    repeat {
      rounds += 1
      for name in names { next.offer(name.utf8, isDirectory: name.hasSuffix("d")) }
      next.endRound()
      while let name = next.next() {
        let text = String(decoding: name.bytes, as: UTF8.self)
        #expect(name.isDirectory == text.hasSuffix("d"))
        result.append(text)
      }
    } while next.beginNextRound()
    return (result, rounds)
  }

  @Test(arguments: [0, 1, 60, 100, 1000, 100_000]) func theyComeInTheOrderOfTheirBytesWhateverFits(_ capacity: Int) {
    var generator = SeededGenerator(seed: UInt64(capacity))
    let names = Set(
      (0..<200).map { _ in
        "f" + String(UInt16.random(in: 0...9999, using: &generator)) + (Bool.random(using: &generator) ? "d" : "é")
      })
    let expected = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let (found, rounds) = all(names.shuffled(using: &generator), capacity: capacity)
    #expect(found == expected)
    #expect(capacity == 100_000 ? rounds == 1 : rounds > 1)
    if capacity == 0 { #expect(rounds == names.count) }
  }

  @Test func anEmptyDirectoryHasNone() {
    #expect(all([], capacity: 100) == ([], 1))
  }

  @Test func aNameThatFitsExactlyNeedsNoFurtherRound() {
    let length = 1 + Limits.nameOverhead
    #expect(all(["b", "a"], capacity: 2 * length).rounds == 1)
    #expect(all(["b", "a"], capacity: 2 * length - 1).rounds == 2)
  }
}
