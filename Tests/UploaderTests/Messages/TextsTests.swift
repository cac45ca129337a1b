import Testing

@testable import Uploader

struct TextsTests {
  @Test(
    arguments: [
      (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"), (1050, "1.1 kB"),
      (1999, "2.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (1_000_000, "1.0 MB"), (4_710_000_000, "4.7 GB"),
      (999_949_999_999, "999.9 GB"), (999_999_999_999, "1.0 TB"), (1_000_000_000_000, "1.0 TB"),
      (9_000_000_000_000_000, "9000.0 TB"), (Int64.max, "9223372.0 TB"),
    ] as [(Int64, String)])
  func aShortSizeHasADecimalUnit(bytes: Int64, text: String) {
    #expect(SizeText.short(bytes) == text)
  }

  @Test func anExactSizeHasAllDigits() {
    #expect(SizeText.exact(0) == "0 bytes")
    #expect(SizeText.exact(1) == "1 byte")
    #expect(SizeText.exact(4_710_000_000) == "4710000000 bytes")
  }

  @Test(
    arguments: [
      (0, 1000, "0 B/s"), (11_400_000, 1000, "11.4 MB/s"), (11_499_999, 1000, "11.5 MB/s"),
      (1_000_000_000, 250, "4.0 GB/s"), (99_999, 1000, "100.0 kB/s"), (99_999, 100_000, "999 B/s"),
      (5_000_000, 0, "5.0 GB/s"), (5_000_000_000, 600_000, "8.3 MB/s"),
      (Int64.max, 1_000_000_000_000, "9.2 GB/s"), (Int64.max, 0, "9223372.0 TB/s"),
    ] as [(Int64, Int64, String)])
  func aRateHasTheUnitThatSuitsIt(bytes: Int64, milliseconds: Int64, text: String) {
    #expect(SizeText.rate(bytes: bytes, milliseconds: milliseconds) == text)
  }

  @Test(
    arguments: [
      (0, "0 s"), (30_000, "30 s"), (350, "0.35 s"), (1050, "1.05 s"), (1500, "1.50 s"), (99_990, "99.99 s"),
      (100_500, "100 s"),
      (120_000, "120 s"),
    ] as [(Int64, String)])
  func aDurationIsInSeconds(milliseconds: Int64, text: String) {
    #expect(DurationText.seconds(milliseconds) == text)
  }

  @Test(
    arguments: [
      (0, "0:00"), (999, "0:00"), (7000, "0:07"), (425_000, "7:05"), (3_599_999, "59:59"), (3_600_000, "1:00:00"),
      (4_025_000, "1:07:05"), (360_000_000, "100:00:00"),
    ] as [(Int64, String)])
  func aClockShowsHoursOnlyWhereThereAreAny(milliseconds: Int64, text: String) {
    #expect(DurationText.clock(milliseconds) == text)
  }

  @Test(
    arguments: [
      (0, "0 s"), (1, "1 s"), (1000, "1 s"), (1001, "2 s"), (59_000, "59 s"), (60_000, "1 min"), (3_599_999, "59 min"),
      (3_600_000, "1 h"),
      (12_000_000, "3 h 20 min"),
      (86_400_000, "1 d"), (187_200_000, "2 d 4 h"),
    ] as [(Int64, String)])
  func longTimesAreRough(milliseconds: Int64, text: String) {
    #expect(DurationText.rough(milliseconds) == text)
  }

  @Test(
    arguments: [
      (1_800_000_000, "2027-01-15 08:00 UTC"), (1_800_000_001, "2027-01-15 08:01 UTC"), (0, "1970-01-01 00:00 UTC"),
      (.max, "9999-12-31 23:59 UTC"),
    ] as [(Int64, String)])
  func aMomentIsNeverTooEarly(seconds: Int64, text: String) {
    #expect(DurationText.moment(seconds) == text)
  }
}
