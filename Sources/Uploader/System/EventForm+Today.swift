import CShims
import UploadCore

extension EventForm {
  /// Today's date in local time, YYYY-MM-DD.
  package static func today() -> String {
    LocalTime(unixSeconds: shim_unix_seconds()).date
  }
}
