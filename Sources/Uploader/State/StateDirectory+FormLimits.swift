import CShims
import UploadCore

/// The file `form-limits`. Two processes may write it at the same time, and an entry that is lost costs one refused form.
extension StateDirectory {
  private var formLimitsFile: LocalPath { file("form-limits") }

  private var formLimits: FormLimits {
    let descriptor = shim_open_for_reading(formLimitsFile.cName, 0)
    guard descriptor >= 0 else { return FormLimits(decoding: []) }
    defer { _ = shim_close(descriptor) }
    return FormLimits(decoding: (try? SmallFile.read(descriptor, limit: Limits.formLimitsLength)) ?? [])
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

  /// A form with a file of this length was accepted.
  func noteAcceptedForm(_ request: UploadRequest, length: Int64) {
    change { $0.noteSuccess(of: length, at: request.base.text) }
  }

  private func change(_ change: (inout FormLimits) -> Void) {
    let before = formLimits
    var limits = before
    change(&limits)
    guard limits != before else { return }
    let temporary = file("form-limits.new")
    if store(limits.encoded, in: temporary, isEmptied: true) == 0 {
      _ = rename(temporary.cName, formLimitsFile.cName)
    } else {
      _ = unlink(temporary.cName)
    }
  }
}
