/// What a machine waits for before its next step.
struct Wait {
  /// -1 to wait only for a time.
  var descriptor: Int32
  /// Other descriptors to wait for in the same way. The machine checks by itself which one is ready.
  var others: [Int32] = []
  var readiness: Readiness
  /// On the monotonic clock. A time in the past polls without waiting.
  var untilMilliseconds: Int64

  init(descriptor: Int32 = -1, readiness: Readiness = [], untilMilliseconds: Int64) {
    self.descriptor = descriptor
    self.readiness = readiness
    self.untilMilliseconds = untilMilliseconds
  }
}
