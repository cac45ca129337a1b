import Testing
import UploadCore

struct FormLimitsTests {
  private let hive = "https://hive/"
  private let week: Int64 = 604_800

  private func limits(_ entries: (Int64, String, Int64)...) -> FormLimits {
    var limits = FormLimits(decoding: [])
    for (length, endpoint, now) in entries { limits.noteRefusal(of: length, at: endpoint, now: now) }
    return limits
  }

  @Test func aRefusedLengthCountsForAWeekAndOnlyThere() {
    let limits = limits((50, hive, 1000))
    for (now, length) in [(1000, 50), (1000 + week - 1, 50), (1000 + week, nil), (999, nil)] as [(Int64, Int64?)] {
      #expect(limits.length(at: hive, now: now) == length)
    }
    #expect(limits.length(at: "https://other/", now: 1000) == nil)
  }

  @Test func theShortestCountsAndItsWeekBeginsAgain() {
    let limits = limits((50, hive, 1000), (70, hive, 2000), (40, hive, 3000))
    #expect(limits.length(at: hive, now: 3000) == 40)
    #expect(self.limits((50, hive, 0), (70, hive, week)).length(at: hive, now: week) == 70)
  }

  @Test(arguments: [(49, 50), (50, nil), (51, nil)] as [(Int64, Int64?)])
  func aFormOfThatLengthThatIsAcceptedEndsIt(accepted: Int64, length: Int64?) {
    var limits = limits((50, hive, 0), (50, "https://other/", 0))
    limits.noteSuccess(of: accepted, at: hive)
    #expect(limits.length(at: hive, now: 0) == length && limits.length(at: "https://other/", now: 0) == 50)
  }

  @Test func sixteenDestinationsAreKept() {
    var limits = FormLimits(decoding: [])
    for number in 0..<17 { limits.noteRefusal(of: 5, at: "https://hive\(number)/", now: 0) }
    #expect(limits.length(at: "https://hive0/", now: 0) == nil && limits.length(at: "https://hive1/", now: 0) == 5)
    #expect(limits.encoded.split(separator: UInt8(ascii: "\n")).count == 16)
  }

  @Test func formLimitsComeBackFromTheFileAndMalformedLinesAreLeftOut() {
    let limits = limits((50, hive, 1000), (70, "https://other/", 2000))
    #expect(limits.encoded == bytes("50 1000 https://hive/\n70 2000 https://other/\n"))
    #expect(FormLimits(decoding: limits.encoded) == limits)
    let torn = bytes(
      "x 1 https://a/\n5 https://b/\n0 1 https://c/\n\n5 1 https://d/ e\n5 9223372036854775807 https://f/\n"
        + "50 1000 https://hive/\n70 20")
    #expect(FormLimits(decoding: torn) == self.limits((50, hive, 1000)))
    #expect(limits.length(at: hive, now: -1_000_000_000_000) == nil)
  }
}
