import Testing

@testable import Uploader

/// The bytes of a text, as a sample.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Content without repetitions.
func recording(_ length: Int) -> [UInt8] {
  var state: UInt64 = 1
  let words = (0..<(length + 7) / 8).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 33)
  }
  return words.withUnsafeBytes { Array($0.prefix(length)) }
}

/// Bytes written as hexadecimal digits.
func hex(_ digits: String) -> [UInt8] {
  let values = digits.utf8.compactMap { ASCII.hexValue($0) }
  return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}

func sha256(_ content: [UInt8]) -> String {
  guard let digest = try? Digest(.sha256) else { return "no SHA-256" }
  content.withUnsafeBytes { digest.update($0) }
  return (try? digest.finishInHex()) ?? "no SHA-256"
}

let brokenPipe = SystemError(code: 32)
let connectionReset = SystemError(code: 104)

/// Compares long contents without computing their difference, which takes minutes.
func expectSame(_ one: [UInt8], _ other: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
  let isSame = one == other
  #expect(isSame, "\(one.count) and \(other.count) bytes", sourceLocation: sourceLocation)
}
