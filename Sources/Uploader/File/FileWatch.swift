import UploadCore

/// Watches, during one transfer, whether the file is still what was sent of it.
struct FileWatch {
  /// nil if the request bodies are ranges of no file.
  let source: TransferSource?
  /// What has become of the file, and was not told yet.
  private(set) var statusChange: StatusChange?
  /// Can pages of the file itself be on their way, which follow its changes?
  private(set) var hasPagesUnderWay = false

  init(_ source: TransferSource?) { self.source = source }

  /// The kernel passes on pages of the file by itself.
  mutating func notePagesSent() { hasPagesUnderWay = true }

  mutating func takeStatusChange() -> StatusChange? {
    defer { statusChange = nil }
    return statusChange
  }

  /// Looks before the file's last pages are passed on: they can be all that a server waits for.
  mutating func verifyBeforeEnd() throws(UploadError) {
    if try hasStatusChanged(isAllSent: false) { statusChange = .beforeEnd(isDigested: false) }
  }

  /// The end of the body says "this was the whole file", so it follows only if that is still true.
  mutating func verifyAtEnd(of body: RequestBody) throws(UploadError) {
    if case .file = body.phase { return }
    guard let source else { return }
    let endsFile = body.endsFile(of: source.file.size)
    let isAllSent = endsFile && hasPagesUnderWay && body.phase == .complete
    guard try hasStatusChanged(isAllSent: isAllSent) else { return }
    guard endsFile else { return noteStatusChange() }
    statusChange = isAllSent ? .behindEnd : .beforeEnd(isDigested: source.isDigested)
  }

  /// Looks whether the file is still what it was, as long as what has been read of it is not all.
  /// - Parameter hasArrived: has the other side acknowledged all of the body?
  mutating func verify(_ body: RequestBody, hasArrived: Bool) throws(UploadError) {
    if case .file = body.phase {
      if try hasStatusChanged(isAllSent: false) { noteStatusChange() }
    } else if hasPagesUnderWay, let source, body.endsFile(of: source.file.size) {
      if try hasStatusChanged(isAllSent: true) { statusChange = .behindEnd }
      // What the other side has cannot change any more.
      if hasArrived { hasPagesUnderWay = false }
    }
  }

  /// - Parameter isAllSent: has all of the file gone out?
  private func hasStatusChanged(isAllSent: Bool) throws(UploadError) -> Bool {
    guard let source else { return false }
    do throws(UploadError) { return try source.hasStatusChanged() } catch {
      guard isAllSent, case .file(let path, let change) = error, change.isChange else { throw error }
      throw .file(path, .changedOnItsWay)
    }
  }

  /// Tells it once, as long as there is more of the file to come.
  private mutating func noteStatusChange() {
    guard let source, !source.hasToldStatusChange else { return }
    source.hasToldStatusChange = true
    statusChange = .underWay
  }
}
