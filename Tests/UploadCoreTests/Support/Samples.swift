@testable import UploadCore

/// The bytes of a text, as a sample.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A letter repeated, to reach a limit.
func filler(_ count: Int) -> String { String(repeating: "a", count: count) }

/// A generator that depends only on its seed (SplitMix64), so that a failing run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var numbers: SplitMix64

  init(seed: UInt64) { numbers = SplitMix64(state: seed) }

  mutating func next() -> UInt64 { numbers.next() }
}
