import CShims
import UploadCore

extension LocalTime {
  /// - Parameter seconds: since 1970.
  package init(unixSeconds seconds: Int64) {
    var time = shim_local_time()
    shim_local_time_of(seconds, &time)
    self.init(
      year: Int(time.year), month: Int(time.month), day: Int(time.day), hour: Int(time.hour), minute: Int(time.minute))
  }
}
