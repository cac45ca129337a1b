import Testing
import UploadCore

/// What a measured line means.
struct LinkChecksTests {
  /// What the kernel has counted by the end of a measurement. The defaults are those of a good line: 10 MB/s.
  private struct Line {
    var seconds: Int64 = 10
    var length: Int64 = 100_000_000
    var segments: Int64? = 70_000
    var repeated: Int64? = 14
    var duplicate: Int64? = 0
    var idle: Int64? = 31_000
    var loaded: Int64? = 60_000
    var busy: Int64? = 10_000_000
    var windowLimited: Int64? = 0
    var congestionControl: String? = "cubic"

    var counts: LinkCounts {
      var counts = LinkCounts()
      counts.segments = segments
      counts.repeatedSegments = repeated
      counts.duplicateSegments = duplicate
      counts.leastRoundTripMicroseconds = idle
      counts.roundTripMicroseconds = loaded
      counts.busyMicroseconds = busy
      counts.windowLimitedMicroseconds = windowLimited
      return counts
    }
  }

  private var zero: LinkCounts {
    Line(segments: 0, repeated: 0, busy: 0, windowLimited: 0).counts
  }

  private func measured(_ line: Line) -> LinkMeasurement {
    var measurement = LinkMeasurement(
      LinkMeasurement.Reading(milliseconds: 5, arrivedLength: 0, zero), congestionControl: line.congestionControl)
    measurement.add(
      LinkMeasurement.Reading(milliseconds: 5 + line.seconds * 1000, arrivedLength: line.length, line.counts))
    return measurement
  }

  private func found(
    _ line: Line, to peer: String = "192.0.2.7:443", proxy: String? = nil, isNarrow: Bool = false
  ) -> (word: String, text: String, remedy: String) {
    let finding = LinkChecks.finding(measured(line), to: peer, proxy: proxy, isNarrow: isNarrow)
    switch finding.result {
    case .ok(let text): return ("ok", text, "")
    case .warning(let text, let remedy): return ("warning", text, remedy ?? "")
    case .failure(let error, _, _, _): return ("failure", "\(error)", "")
    case .notExamined(let reason): return ("not examined", reason, "")
    }
  }

  @Test func aGoodLinkIsReportedWithItsFigures() {
    let good = found(Line())
    #expect(good.word == "ok")
    #expect(
      good.text == "the link to 192.0.2.7:443 takes 10.0 MB/s (100.0 MB in 10.0 s); round trip 31 ms, 60 ms under load;"
        + " 0.02 % was lost")
    #expect(found(Line(repeated: 0)).text.hasSuffix("; nothing was lost"))
    #expect(found(Line(segments: 1_000_000, repeated: 1)).text.hasSuffix("; less than 0.01 % was lost"))
    #expect(found(Line(), proxy: "http://proxy:8080").text.hasPrefix("the link to the proxy http://proxy:8080 takes"))
  }

  @Test(arguments: [(1000, 4, "ok"), (1000, 5, "warning"), (2000, 9, "ok"), (2000, 10, "warning"), (100, 4, "ok")])
  func lossCountsFromHalfAPercentAndSomeSegments(segments: Int64, repeated: Int64, word: String) {
    #expect(found(Line(segments: segments, repeated: repeated)).word == word)
  }

  @Test func segmentsThatArrivedTwiceWereNotLost() {
    #expect(found(Line(repeated: 1000, duplicate: 1000)).text.hasSuffix("nothing was lost"))
    #expect(found(Line(repeated: 1000, duplicate: 1001)).text.hasSuffix("nothing was lost"))
    #expect(found(Line(repeated: 1000, duplicate: 986)).text.hasSuffix("0.02 % was lost"))
    #expect(found(Line(repeated: 1000, duplicate: nil)).word == "warning")
  }

  @Test func aReceiverWithoutRoomDropsSegmentsToo() {
    #expect(found(Line(repeated: 1000, windowLimited: 5_000_000)).word == "ok")
    #expect(found(Line(repeated: 1000, windowLimited: 4_900_000)).word == "warning")
  }

  @Test func theRemedyForLossDependsOnTheCongestionControl() {
    let cubic = found(Line(repeated: 1000))
    #expect(cubic.text.hasSuffix("1.43 % was lost."))
    #expect(
      cubic.remedy.contains("cable") && cubic.remedy.contains("cubic") && cubic.remedy.contains("congestion = bbr"))
    let bbr = found(Line(repeated: 1000, congestionControl: "bbr"))
    #expect(bbr.remedy.contains("cable") && !bbr.remedy.contains("--congestion"))
    #expect(!found(Line(repeated: 1000, congestionControl: nil)).remedy.contains("--congestion"))
  }

  @Test(arguments: [
    (31_000, 123_000, "ok"), (31_000, 131_000, "warning"), (1000, 100_000, "ok"), (1000, 101_000, "warning"),
  ])
  func aQueueIsReportedIfOthersNoticeIt(idle: Int64, loaded: Int64, word: String) {
    #expect(found(Line(idle: idle, loaded: loaded)).word == word)
  }

  @Test(arguments: [
    (100_000_000, "--limit-rate 9M,"), (112_000_000, "--limit-rate 10M,"), (12_000_000, "--limit-rate 1M,"),
    (12_500_000, "--limit-rate 1100k,"), (1_110_000, "--limit-rate 99k,"), (5_000_000_000, "--limit-rate 450M,"),
    (9000, "--limit-rate 810,"), (1, "--limit-rate 1,"),
  ])
  func theSuggestedRateIsALittleBelow(length: Int64, option: String) {
    #expect(found(Line(length: length, idle: 20_000, loaded: 500_000)).remedy.contains(option))
  }

  @Test func aReceiverThatSetsThePaceIsNamed() {
    let slow = found(Line(windowLimited: 8_300_000))
    #expect(slow.word == "ok")
    #expect(slow.text.contains("192.0.2.7:443 takes 10.0 MB/s (100.0 MB in 10.0 s), and the link could take more"))
    #expect(slow.text.contains("83 %") && !slow.text.hasPrefix("the link"))
    #expect(found(Line(windowLimited: 4_900_000)).text.hasPrefix("the link to"))
  }

  @Test func anOldKernelDoesNotCountEverything() {
    let old = found(Line(segments: nil, repeated: 500, idle: nil, busy: nil, windowLimited: nil))
    #expect(old.word == "ok" && old.text.hasSuffix("this kernel does not count it") && !old.text.contains("round trip"))
  }

  @Test func aLineThatTakesNothingIsAFailure() {
    #expect(found(Line(length: 0)).word == "failure")
  }

  /// TCP finds the rate of a link by sending too much, and that is no fault of the link.
  @Test func theBeginningDoesNotCountIfThereIsMore() {
    var line = measured(Line(seconds: 2, length: 10_000_000, segments: 1000, repeated: 500))
    #expect(word(line) == "warning")
    line.add(
      LinkMeasurement.Reading(
        milliseconds: 3500, arrivedLength: 20_000_000, Line(segments: 10_000, repeated: 500).counts))
    #expect(word(line) == "warning")
    line.add(
      LinkMeasurement.Reading(
        milliseconds: 10_005, arrivedLength: 50_000_000, Line(segments: 40_000, repeated: 500).counts))
    #expect(word(line) == "ok")
    guard case .ok(let text) = LinkChecks.finding(line, to: "a", proxy: nil, isNarrow: false).result else { return }
    #expect(text.contains("takes 5.0 MB/s (40.0 MB in 8.0 s)") && text.contains("nothing was lost"))
  }

  private func word(_ line: LinkMeasurement) -> String {
    if case .ok = LinkChecks.finding(line, to: "a", proxy: nil, isNarrow: false).result { "ok" } else { "warning" }
  }

  @Test func aLinkThatOnlyShortPacketsPassIsAWarning() {
    let narrow = found(Line(), isNarrow: true)
    #expect(narrow.word == "warning" && narrow.remedy.contains("path MTU") && !narrow.remedy.contains("--ipv4"))
    #expect(narrow.text.contains("but only in short packets: longer ones than 1280 bytes do not arrive"))
    #expect(found(Line(), to: "[2001:db8::1]:443", isNarrow: true).remedy.hasSuffix("or use --ipv4."))
    #expect(found(Line(length: 0), isNarrow: true).word == "failure")
  }

  // MARK: Forms

  private func measured(_ result: ProbeResult) -> ProbeResult {
    result.link = measured(Line())
    return result
  }

  @Test func aFormMeasuresIfItIsReadOrCutShort() {
    let lost = ProbeResult(error: .connectionLost(.sending, peer: "p", nil))
    let refusal = "{\"error\":\"Bad Request\",\"message\":\"Label is required\"}"
    for (result, isMeasured) in [
      (ProbeResult(), true), (lost, false), (answered(400, refusal), true), (answered(409, refusal), true),
      (answered(201, "{\"asset_id\":1,\"checksum_sha256\":\"00\"}"), true), (answered(400, "<html>"), false),
      (answered(200, "<html>"), false), (answered(413, refusal), false), (answered(502), false),
    ] {
      let finding = LinkChecks.form(measured(result), length: 100, proxy: nil, isNarrow: false)
      if case .ok = finding.result { #expect(isMeasured) } else { #expect(!isMeasured, "\(finding)") }
    }
  }

  @Test func aFormIsHalvedOnlyIfItIsTooLongAndNotShortYet() {
    #expect(LinkChecks.shorter(than: 94_371_840, after: answered(413)) == 47_185_920)
    #expect(LinkChecks.shorter(than: 1_999_999, after: answered(413)) == nil)
    #expect(LinkChecks.shorter(than: 94_371_840, after: answered(400)) == nil)
    #expect(LinkChecks.shorter(than: 94_371_840, after: ProbeResult()) == nil)
  }
}
