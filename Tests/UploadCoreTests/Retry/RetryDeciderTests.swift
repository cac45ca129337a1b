import Testing

@testable import UploadCore

struct RetryDeciderTests {
  private var decider = RetryDecider(RetryPolicy(.failures(10), maximumDelayMilliseconds: 1000), seed: 1)

  /// - Returns: the failures that the retry counts; nil if there is none.
  private mutating func failures(at progress: Int64) -> Int64? {
    let consequence = decider.failed(
      .uploadLost, mayPass: true, mayRepeat: true, fullSend: nil, progress: progress, nowMilliseconds: 0, unixSeconds: 0
    )
    if case .retry(let retry) = consequence { return retry.failures }
    return nil
  }

  @Test mutating func onlyMoreThanEverCountsAsProgress() {
    #expect(failures(at: 0) == 1)
    #expect(failures(at: 10) == 1)
    #expect(failures(at: 10) == 2)
    // A server has lost a part, which is sent again.
    #expect(failures(at: 5) == 3)
    #expect(failures(at: 10) == 4)
    #expect(failures(at: 11) == 1)
  }
}
