/// The time of the last change of a file's status (ctime).
struct StatusTime: Equatable {
  let seconds: Int64
  let nanoseconds: Int64
}
