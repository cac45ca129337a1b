import CShims
import UploadCore

extension SystemError {
  /// "Connection refused"
  public var text: String { String(cString: shim_error_text(code)) }
}
