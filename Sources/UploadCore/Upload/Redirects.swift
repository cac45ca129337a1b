/// Where servers have sent requests (RFC 9110, 15.4).
struct Redirects: Sendable {
  private var moved: [(from: TargetURI, to: TargetURI)] = []
  /// Of the request under way.
  private var followed = 0
  /// Since the upload last got further.
  private var followedInAll = 0
  private var settledProgress: Int64 = 0

  /// Where a request goes that is meant for the target.
  func target(for target: TargetURI) -> TargetURI {
    var target = target
    // Later redirects start from where earlier ones lead; circles have been refused.
    for (from, to) in moved where from == target { target = to }
    return target
  }

  /// Takes a Location field.
  /// - Returns: where it leads.
  @discardableResult
  mutating func follow(from target: TargetURI, to location: String) throws(UploadError) -> TargetURI {
    guard let destination = try? target.resolving(location) else {
      throw .redirectionRefused(location: location, .noAddress)
    }
    followed += 1
    followedInAll += 1
    guard followed <= Limits.redirectCount else {
      throw .redirectionRefused(location: location, .tooMany(limit: Limits.redirectCount))
    }
    guard followedInAll <= Limits.redirectCountInAll else {
      throw .redirectionRefused(location: location, .tooMany(limit: Limits.redirectCountInAll))
    }
    if target.scheme == .https, destination.scheme == .http {
      throw .redirectionRefused(location: location, .leavesTLS)
    }
    guard destination != target, !moved.contains(where: { $0.from == destination }) else {
      throw .redirectionRefused(location: location, .circle)
    }
    moved.append((target, destination))
    return destination
  }

  /// A request has been answered: the next one counts its redirects from zero.
  /// - Parameter progress: grows as the upload gets further.
  mutating func settle(progress: Int64) {
    followed = 0
    guard progress > settledProgress else { return }
    settledProgress = progress
    followedInAll = 0
  }
}
