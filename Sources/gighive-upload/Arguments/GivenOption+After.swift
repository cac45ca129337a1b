import Uploader

/// `--after keep|delete|move=DIR`
extension GivenOption {
  /// - Returns: nil for `keep`.
  func removal() throws(UsageError) -> AfterDelivery.Removal? {
    if text == "keep" { return nil }
    if text == "delete" { return .delete }
    guard let target = moveTarget, !target.bytes.isEmpty else { throw invalid("keep, delete or move=DIR") }
    return .move(target)
  }

  /// The argument, which means the same in any working directory.
  var withAbsoluteTarget: LocalPath {
    guard let target = moveTarget, !target.bytes.isEmpty else { return argument }
    return argument.replacingTarget(with: target.absolute ?? target)
  }

  private var moveTarget: LocalPath? { option == .after ? argument.moveTarget : nil }
}

extension LocalPath {
  private static let move = Array("move=".utf8)

  /// The directory of an argument `move=DIR`; nil for other arguments.
  var moveTarget: LocalPath? {
    bytes.starts(with: LocalPath.move) ? LocalPath(bytes: Array(bytes.dropFirst(LocalPath.move.count))) : nil
  }

  func replacingTarget(with target: LocalPath) -> LocalPath { LocalPath(bytes: LocalPath.move + target.bytes) }
}
