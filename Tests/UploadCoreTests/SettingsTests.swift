import Testing

@testable import UploadCore

struct SettingsTests {
  @Test(arguments: [
    Settings.timeoutMilliseconds, Settings.delayMilliseconds, Settings.rate, Settings.retries, Settings.chunkLength,
    Settings.fileSize, Settings.jobs,
  ])
  func bothEndsOfARangeAreAllowedAndWhatIsBeyondIsNot(range: ClosedRange<Int64>) {
    for value in [range.lowerBound, range.upperBound] {
      var settings = Settings()
      settings.check("number", value, in: range)
      #expect(settings.problem == nil)
    }
    for value in [range.lowerBound - 1, range.upperBound + 1, .min, .max] {
      var settings = Settings()
      settings.check("number", value, in: range)
      #expect(settings.problem == .invalidConfiguration(field: "number", value: value, allowed: range))
    }
  }

  @Test func whatIsNotSetIsAllowed() {
    var settings = Settings()
    settings.check("number", nil, in: 1...1)
    #expect(settings.problem == nil)
  }

  @Test func theFirstOfSeveralIsNamed() {
    var settings = Settings()
    settings.check("good", 1, in: 1...1)
    settings.check("first", 2, in: 1...1)
    settings.check("second", 3, in: 1...1)
    #expect(settings.problem == .invalidConfiguration(field: "first", value: 2, allowed: 1...1))
  }

  /// Sums of a few numbers in their ranges and a clock's reading cannot overflow.
  @Test func theRangesLeaveRoomForSums() {
    for range in [
      Settings.timeoutMilliseconds, Settings.delayMilliseconds, Settings.rate, Settings.chunkLength, Settings.fileSize,
    ] {
      #expect(range.upperBound < Int64.max / 1000)
    }
  }
}
