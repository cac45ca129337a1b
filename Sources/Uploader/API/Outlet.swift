/// Where an uploader's caller writes what it says of the uploads. The loop waits for it beside the connections, so that a reader
/// who is slow or gone holds up no upload that is under way.
package protocol Outlet: AnyObject {
  /// The descriptors that it waits to write to.
  var blocked: [Int32] { get }
  /// Writes what is possible without waiting.
  func write()
  /// May a further upload begin?
  func admission(nowMilliseconds: Int64) -> Admission
}
