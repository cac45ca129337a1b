/// The redirects of an upload (RFC 9110, 15.4).
struct Redirects: Sendable {
  private var moved: [(from: TargetURI, to: TargetURI, isPermanent: Bool)] = []
  /// For the current request.
  private var followed = 0
  /// Since the last progress of the upload, in this attempt.
  private var followedInAll = 0
  private var highestProgress: Int64 = 0

  /// The URI to use for a request to the target.
  func target(for target: TargetURI) -> TargetURI {
    var target = target
    // Loops were refused.
    while let redirect = moved.first(where: { $0.from == target }) { target = redirect.to }
    return target
  }

  /// Follows a Location field.
  /// - Parameter isPermanent: whether it also applies to later attempts (308).
  /// - Returns: its URI.
  @discardableResult
  mutating func follow(
    from target: TargetURI, to location: String, isPermanent: Bool
  ) throws(UploadError) -> TargetURI {
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
    moved.removeAll { $0.from == target }
    guard self.target(for: destination) != target else { throw .redirectionRefused(location: location, .circle) }
    if moved.count == Limits.redirectMemoryCount { forgetOldest() }
    moved.append((target, destination, isPermanent))
    return destination
  }

  /// A captive portal can redirect a form to its login page, which accepts everything.
  /// - Parameter origin: that of the upload's target.
  static func problem(_ answer: Answer, from target: TargetURI, origin: String) -> UploadError? {
    guard answer.isSuccess, target.origin != origin, LikelySoftware(of: answer) == .loginPage else { return nil }
    return .redirectionRefused(location: target.text, .loginPage)
  }

  /// A server that moves every request would fill the memory. A chain is forgotten as a whole, so that its start is redirected again.
  private mutating func forgetOldest() {
    var end = moved.removeFirst().to
    while let next = moved.firstIndex(where: { $0.from == end }) { end = moved.remove(at: next).to }
  }

  /// After a pause, the server is asked again where temporary redirects lead (RFC 9110, 15.4.8).
  mutating func attemptFailed() {
    moved.removeAll { !$0.isPermanent }
    followed = 0
    followedInAll = 0
  }

  /// Forgets all redirects, because a captive portal may have made them.
  mutating func forget() { self = Redirects() }

  /// A request has been answered. The next one counts its redirects from zero.
  /// - Parameter progress: grows as the upload progresses.
  mutating func requestAnswered(progress: Int64) {
    followed = 0
    guard progress > highestProgress else { return }
    highestProgress = progress
    followedInAll = 0
  }
}

extension Limits {
  /// Redirects followed for all requests of one attempt without progress.
  static let redirectCountInAll = 50
  /// Redirects that are remembered: far more than are followed without progress, because those that are forgotten count again.
  static let redirectMemoryCount = 1000
}
