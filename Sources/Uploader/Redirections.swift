import UploadCore

/// Where the server has sent requests.
struct Redirections {
  private var moved: [(from: TargetURI, to: TargetURI)] = []
  private var followed = 0

  /// Where a request goes that is meant for the target.
  func target(for target: TargetURI) -> TargetURI {
    var target = target
    // Later redirections start from where earlier ones lead; circles have been refused.
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
    guard followed <= Limits.redirectCount else {
      throw .redirectionRefused(location: location, .tooMany(limit: Limits.redirectCount))
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

  /// The request has been answered; the next one counts its redirections anew.
  mutating func settle() { followed = 0 }
}
