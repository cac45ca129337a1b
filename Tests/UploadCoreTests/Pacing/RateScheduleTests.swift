import Testing
import UploadCore

struct RateScheduleTests {
  /// Numbers with an optional M, as the caller would parse them.
  private func schedule(_ text: String) throws(RateScheduleError) -> RateSchedule {
    try RateSchedule(parsing: text) { $0.hasSuffix("M") ? Int64($0.dropLast()).map { $0 * 1_000_000 } : Int64($0) }
  }

  private func minute(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Int { (day * 24 + hour) * 60 + minute }

  @Test(arguments: ["1", "1M", "1000000000000"])
  func aRateHoldsAtAnyTime(text: String) throws {
    let schedule = try schedule(text)
    #expect(schedule.rates.count == 1)
    for minute in [0, 1, 10_079] { #expect(schedule.limit(atMinute: minute) == .bytesPerSecond(schedule.rates[0])) }
  }

  @Test(arguments: ["off", "0"])
  func withoutALimitThereIsNoLimit(text: String) throws {
    #expect(try schedule(text) == .unlimited)
    #expect(try schedule(text).isUnlimited)
  }

  @Test func anEntryWithoutADayHoldsEveryDayUntilTheNextOne() throws {
    let schedule = try schedule("08:00,1M 12:30,pause 23:00,off")
    for day in 0..<7 {
      #expect(schedule.limit(atMinute: minute(day, 0)) == .unlimited)
      #expect(schedule.limit(atMinute: minute(day, 7, 59)) == .unlimited)
      #expect(schedule.limit(atMinute: minute(day, 8)) == .bytesPerSecond(1_000_000))
      #expect(schedule.limit(atMinute: minute(day, 12, 29)) == .bytesPerSecond(1_000_000))
      #expect(schedule.limit(atMinute: minute(day, 12, 30)) == .paused)
      #expect(schedule.limit(atMinute: minute(day, 23)) == .unlimited)
    }
  }

  @Test func theLastEntryOfTheWeekHoldsIntoTheNext() throws {
    let schedule = try schedule("Mon-08:00,5 Friday-18:00,off")
    #expect(schedule.limit(atMinute: minute(0, 12)) == .unlimited)
    #expect(schedule.limit(atMinute: minute(1, 7, 59)) == .unlimited)
    #expect(schedule.limit(atMinute: minute(1, 8)) == .bytesPerSecond(5))
    #expect(schedule.limit(atMinute: minute(5, 17, 59)) == .bytesPerSecond(5))
    #expect(schedule.limit(atMinute: minute(6, 23, 59)) == .unlimited)
  }

  @Test func daysMayBeAbbreviatedAndInAnyCase() throws {
    let names = ["Sun", "MON", "tue", "Wednesday", "thursday", "FRI", "Sat"]
    for (day, name) in names.enumerated() {
      let schedule = try schedule("\(name)-10:00,7 00:00,off")
      #expect(schedule.limit(atMinute: minute(day, 10)) == .bytesPerSecond(7), "\(name)")
      #expect(schedule.limit(atMinute: minute((day + 1) % 7, 10)) == .unlimited, "\(name)")
    }
  }

  @Test func theStrictestEntryHoldsWhileTheTimeIsNotKnown() throws {
    #expect(try schedule("08:00,2M 12:00,1M 23:00,off").limit(atMinute: nil) == .bytesPerSecond(1_000_000))
    #expect(try schedule("08:00,2M 12:00,pause").limit(atMinute: nil) == .paused)
    #expect(try schedule("off").limit(atMinute: nil) == .unlimited)
  }

  @Test(
    arguments: [
      ("", .entry("")), (" \t", .entry("")), ("8:00,1M", .entry("8:00,1M")), ("24:00,1M", .entry("24:00,1M")),
      ("08:60,1M", .entry("08:60,1M")), ("08:00,1M 09:00", .entry("09:00")), ("Mo-08:00,1M", .entry("Mo-08:00,1M")),
      ("Mondays-08:00,1M", .entry("Mondays-08:00,1M")), ("-08:00,1M", .entry("-08:00,1M")),
      ("08:00:00,1M", .entry("08:00:00,1M")), ("+8:00,1M", .entry("+8:00,1M")), ("08:00,", .rate("")),
      ("08:00,fast", .rate("fast")), ("fast", .rate("fast")), ("1000000000001", .rate("1000000000001")),
      ("08:00,-1", .rate("-1")), ("08:00,1M 08:00,2M", .repeated("08:00,2M")),
      ("08:00,1M Tue-08:00,2M", .repeated("Tue-08:00,2M")), ("pause", .pausesForever),
      ("08:00,pause 09:00,pause", .pausesForever),
    ] as [(String, RateScheduleError)])
  func aMalformedTimetableIsRefusedWithTheWrongWord(text: String, error: RateScheduleError) {
    #expect(throws: error) { try schedule(text) }
  }

  @Test func aTimetableHasAtMost128Entries() throws {
    let words = (0..<129).map { "0\($0 / 60):\($0 % 60 < 10 ? "0" : "")\($0 % 60),5" }
    #expect(try schedule(words.dropLast().joined(separator: " ")).rates.count == 128 * 7)
    #expect(throws: RateScheduleError.tooLong(limit: 128)) { try schedule(words.joined(separator: " ")) }
  }
}
