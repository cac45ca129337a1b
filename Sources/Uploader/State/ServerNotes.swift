import CShims
import UploadCore

/// The file `form-limits`. Two processes may write it at the same time, and an entry that is lost costs one refused form.
extension StateDirectory {
  private static let formLimitsName = "form-limits"

  private var formLimits: FormLimits {
    FormLimits(
      decoding: SmallFile.contents(of: file(StateDirectory.formLimitsName), limit: Limits.formLimitsLength) ?? [])
  }

  /// The request with the threshold for tus that the destination needs.
  func adapted(_ request: UploadRequest) -> UploadRequest {
    guard request.maySendTus, let length = formLimits.length(at: request.base.text, now: shim_unix_seconds()) else {
      return request
    }
    var request = request
    request.tusThreshold = min(request.tusThreshold, length)
    return request
  }

  /// A form with a file of this length was refused as too large.
  func noteRefusedForm(_ request: UploadRequest, length: Int64) {
    change { $0.noteRefusal(of: length, at: request.base.text, now: shim_unix_seconds()) }
  }

  func noteAcceptedForm(_ request: UploadRequest, length: Int64) {
    change { $0.noteSuccess(of: length, at: request.base.text) }
  }

  private func change(_ change: (inout FormLimits) -> Void) {
    let before = formLimits
    var limits = before
    change(&limits)
    if limits != before { _ = replace(StateDirectory.formLimitsName, with: limits.encoded) }
  }

  /// - Returns: whether it has this content now.
  private func replace(_ name: String, with bytes: [UInt8]) -> Bool {
    let temporary = file(name + ".new")
    if store(bytes, in: temporary, SHIM_OPEN_TRUNCATE) == 0, shim_rename(temporary.cName, file(name).cName) == 0 {
      return true
    }
    _ = shim_unlink(temporary.cName)
    return false
  }
}

/// The file `undeleted`. Two processes may write it at the same time, and what is lost stays on the server until a rule there deletes it.
extension StateDirectory {
  private static let undeletedName = "undeleted"

  package var undeleted: UndeletedUploads {
    let file = file(StateDirectory.undeletedName)
    return UndeletedUploads(decoding: SmallFile.contents(of: file, limit: Limits.undeletedLength) ?? [])
  }

  /// - Returns: whether it is noted.
  func changeUndeleted(_ change: (inout UndeletedUploads) -> Void) -> Bool {
    var undeleted = undeleted
    change(&undeleted)
    if undeleted.urls.isEmpty { return shim_unlink(file(StateDirectory.undeletedName).cName) == 0 }
    return replace(StateDirectory.undeletedName, with: undeleted.encoded)
  }
}

extension Limits {
  /// The file with the lengths of forms that were refused, in bytes.
  static let formLimitsLength = 64 << 10
}
