import UploadCore

extension UploadMachine {
  /// For tests in which the time of day does not matter.
  mutating func next(nowMilliseconds: Int64) -> UploadAction { next(nowMilliseconds: nowMilliseconds, unixSeconds: 0) }

  /// A machine for the file `set.wav`, with two retries.
  static func upload(
    to destination: Destination, size: Int64 = 100, previous: UnfinishedUpload = UnfinishedUpload(),
    isGuest: Bool = false, policy configurePolicy: (inout UploadPolicy) -> Void = { _ in },
    configure: (inout UploadRequest) -> Void = { _ in }
  ) throws -> UploadMachine {
    var request = UploadRequest(file: LocalPath("/set.wav"), destination: destination)
    configure(&request)
    let plan = UploadPlan(
      request, size: size, previous: previous, isGuest: isGuest,
      boundary: Boundary(random: [UInt8](repeating: 7, count: 16)))
    return try UploadMachine(.upload(plan), policy(configurePolicy))
  }

  static func cancel() throws -> UploadMachine {
    try UploadMachine(.cancel(TargetURI("https://hive/files/1"), overridesMethod: false), policy())
  }

  static func delete(isRepeated: Bool = false) throws -> UploadMachine {
    try UploadMachine(
      .delete(assetID: 9, deleteToken: "5ec2e7", from: TargetURI("https://hive/"), isRepeated: isRepeated), policy())
  }

  static func policy(_ configure: (inout UploadPolicy) -> Void = { _ in }) -> UploadPolicy {
    var policy = UploadPolicy(retries: RetryPolicy(.failures(2), maximumDelayMilliseconds: 8000), seed: 7)
    configure(&policy)
    return policy
  }
}

extension Destination {
  static var plain: Destination { get throws { .multipart(try TargetURI("https://hive/upload")) } }
  static var tusServer: Destination { get throws { .tus(try TargetURI("https://hive/files/")) } }
  static var gigHive: Destination {
    get throws {
      var form = EventForm()
      (form.label, form.eventDate) = ("Set 1", "2026-05-01")
      return .gigHive(try TargetURI("https://hive/"), form)
    }
  }
}

extension HTTPRequest {
  /// The offset of the content in the file, in bytes.
  var fileOffset: Int64 { body?.fileOffset ?? 0 }
}
