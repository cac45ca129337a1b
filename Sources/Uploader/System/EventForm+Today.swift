import CShims
import UploadCore

extension EventForm {
  /// Today's date in local time, YYYY-MM-DD.
  package static func today() -> String {
    var (year, month, day): (Int32, Int32, Int32) = (0, 0, 0)
    shim_local_date(&year, &month, &day)
    return calendarDay(year: Int(year), month: Int(month), day: Int(day))
  }
}
