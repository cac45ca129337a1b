import Testing
import UploadCore

/// The expected figures are those of `date -u -d … +%s`.
struct HTTPDateTests {
  /// RFC 9110, 5.6.7: one moment in the three formats.
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func theStandardsExampleIsTheSameMomentInEveryFormat(text: String) {
    #expect(HTTPDate.seconds(text) == 784_111_777)
  }

  @Test(
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
      ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
      ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
      ("Sun, 28 Feb 2100 00:00:00 GMT", 4_107_456_000), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
      ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      ("Fri, 20 Nov 2026 14:07:47 GMT", 1_795_183_667),
      // In this format, a day has one or two digits.
      ("Fri Nov 20 14:07:47 2026", 1_795_183_667), ("Sun Nov  1 00:00:00 2026", 1_793_491_200),
      // A leap second is the next minute's first.
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    ] as [(String, Int64)])
  func daysAreCountedByTheCalendar(text: String, seconds: Int64) {
    #expect(HTTPDate.seconds(text) == seconds)
  }

  @Test func everyMonthHasItsPlace() {
    let starts: [Int64] = [
      1_767_225_600, 1_769_904_000, 1_772_323_200, 1_775_001_600, 1_777_593_600, 1_780_272_000, 1_782_864_000,
      1_785_542_400, 1_788_220_800, 1_790_812_800, 1_793_491_200, 1_796_083_200,
    ]
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    for (name, start) in zip(names, starts) { #expect(HTTPDate.seconds("Thu, 01 \(name) 2026 00:00:00 GMT") == start) }
  }

  /// As in POSIX's strptime.
  @Test(
    arguments: [
      ("26", 1_767_225_600), ("68", 3_092_601_600), ("69", -31_536_000), ("70", 0), ("77", 220_924_800),
      ("00", 946_684_800), ("99", 915_148_800),
    ] as [(String, Int64)])
  func aYearOfTwoDigitsIsOfThePastFrom69On(year: String, seconds: Int64) {
    #expect(HTTPDate.seconds("Thursday, 01-Jan-\(year) 00:00:00 GMT") == seconds)
  }

  @Test(arguments: [
    "", " ", "now", "784111777", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
    "Sun, 006 Nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
    "Sun, 06 November 1994 08:49:37 GMT", "Sun, 06 11 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 06 Nov 1994 08::37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06-Nov 08:49:37 GMT", "Sunday, 06-Nov-94-1 08:49:37 GMT",
    "Sun Nov  6 08:49:37 94", "Nov  6 08:49:37 1994", "2026-11-20T14:07:47Z", "Sun, 06 Nov ١٩٩٤ 08:49:37 GMT",
    // No calendar has them.
    "Sun, 31 Apr 2026 00:00:00 GMT", "Sun, 29 Feb 2026 00:00:00 GMT", "Sun, 30 Feb 2024 00:00:00 GMT",
    "Sun, 29 Feb 2100 00:00:00 GMT", "Sunday, 31-Jun-26 00:00:00 GMT", "Sun Feb 29 00:00:00 2023",
  ])
  func anythingElseIsNoDate(text: String) {
    #expect(HTTPDate.seconds(text) == nil)
  }
}

/// RFC 9110, 10.2.3
struct RetryAfterTests {
  private func milliseconds(_ value: String, date: String? = nil, nowSeconds: Int64 = 784_111_000) -> Int64? {
    var fields = [Field("retry-after", value)]
    if let date { fields.append(Field("Date", date)) }
    return RetryAfter.milliseconds(fields, nowSeconds: nowSeconds)
  }

  @Test func withoutTheFieldThereIsNoWish() {
    #expect(RetryAfter.milliseconds([Field("Date", "Sun, 06 Nov 1994 08:49:37 GMT")], nowSeconds: 0) == nil)
  }

  @Test(arguments: [("0", 0), ("1", 1000), ("120", 120_000), ("3600", 3_600_000), ("007", 7000)] as [(String, Int64)])
  func aNumberIsSeconds(value: String, milliseconds: Int64) {
    #expect(self.milliseconds(value) == milliseconds)
  }

  @Test(arguments: ["3601", "86400", "9223372036854775807"])
  func noDelayIsLongerThanAnHour(value: String) {
    #expect(milliseconds(value) == 3_600_000)
  }

  /// Boards often do not know the time, so the server's own clock is used.
  @Test func aDateIsHeldAgainstTheServersClock() {
    let value = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(milliseconds(value, date: "Sun, 06 Nov 1994 08:49:30 GMT", nowSeconds: 0) == 7000)
    #expect(milliseconds(value, date: "Sunday, 06-Nov-94 08:48:37 GMT", nowSeconds: .max) == 60_000)
  }

  @Test func withoutTheServersClockThisMachinesCounts() {
    let value = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(milliseconds(value, nowSeconds: 784_111_767) == 10_000)
    #expect(milliseconds(value, date: "soon", nowSeconds: 784_111_767) == 10_000)
  }

  @Test func aDateInThePastIsNow() {
    #expect(milliseconds("Sun, 06 Nov 1994 08:49:37 GMT", nowSeconds: 784_111_778) == 0)
    #expect(milliseconds("Sun, 06 Nov 1994 08:49:37 GMT", nowSeconds: 1_795_183_667) == 0)
  }

  @Test func aDateFarAheadIsAnHour() {
    #expect(milliseconds("Fri, 31 Dec 9999 23:59:59 GMT", nowSeconds: 0) == 3_600_000)
  }

  @Test(arguments: ["", "-1", "1.5", "soon", "1 2", "0x10", "10s", "Sun, 06 Nov 1994"])
  func anUnreadableRetryAfterIsIgnored(value: String) {
    #expect(milliseconds(value) == nil)
  }
}
