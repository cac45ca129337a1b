/// The time of the last change of a file's status (ctime), which cannot be set: any write to the file changes it.
package struct StatusTime: Equatable, Sendable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64, nanoseconds: Int64) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
