import Uploader

extension Retry {
  /// "Retrying in 5 s (3 of 5)."
  func text(of limit: RetryLimit) -> String {
    let delay = delayMilliseconds / 100 * 100
    let start = "Retrying " + (delay == 0 ? "now" : "in " + DurationText.seconds(delay))
    let number = String(failures)
    return switch limit {
    case .failures(let count): start + " (" + number + " of " + String(count) + ")."
    case .time: start + " (retry " + number + ", for up to " + DurationText.rough(remainingMilliseconds ?? 0) + ")."
    case .forever: start + " (retry " + number + ")."
    }
  }
}
