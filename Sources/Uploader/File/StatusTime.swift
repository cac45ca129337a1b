/// When a file's status last changed (ctime).
struct StatusTime: Equatable {
  let seconds: Int64
  let nanoseconds: Int64
}
