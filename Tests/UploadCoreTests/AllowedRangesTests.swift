import Testing

@testable import UploadCore

struct AllowedRangesTests {
  @Test(arguments: [
    AllowedRanges.timeoutMilliseconds, AllowedRanges.delayMilliseconds, AllowedRanges.rate, AllowedRanges.retries,
    AllowedRanges.chunkLength,
    AllowedRanges.fileSize, AllowedRanges.jobs,
  ])
  func bothEndsOfARangeAreAllowedAndWhatIsBeyondIsNot(range: ClosedRange<Int64>) {
    for value in [range.lowerBound, range.upperBound] {
      var ranges = AllowedRanges()
      ranges.check("number", value, in: range)
      #expect(ranges.problem == nil)
    }
    for value in [range.lowerBound - 1, range.upperBound + 1, .min, .max] {
      var ranges = AllowedRanges()
      ranges.check("number", value, in: range)
      #expect(ranges.problem == .invalidConfiguration(field: "number", value: value, allowed: range))
    }
  }

  @Test func aValueThatIsNotSetIsAllowed() {
    var ranges = AllowedRanges()
    ranges.check("number", nil, in: 1...1)
    #expect(ranges.problem == nil)
  }

  @Test func theFirstOfSeveralIsNamed() {
    var ranges = AllowedRanges()
    ranges.check("good", 1, in: 1...1)
    ranges.check("first", 2, in: 1...1)
    ranges.check("second", 3, in: 1...1)
    #expect(ranges.problem == .invalidConfiguration(field: "first", value: 2, allowed: 1...1))
  }

  /// Sums of a few numbers in their ranges and a clock's reading cannot overflow.
  @Test func theRangesLeaveRoomForSums() {
    for range in [
      AllowedRanges.timeoutMilliseconds, AllowedRanges.delayMilliseconds, AllowedRanges.rate, AllowedRanges.chunkLength,
      AllowedRanges.fileSize,
    ] {
      #expect(range.upperBound < Int64.max / 1000)
    }
  }
}
