/// What is to be done with a server: the protocols, without connections, tries and redirects.
enum UploadTask: Sendable {
  case multipart(MultipartTask)
  case tus(TusTask)
  case cancellation(CancelTask)
  case deletion(DeleteTask)

  /// Grows with everything that need not be done again after a failure.
  var progress: Int64 {
    switch self {
    case .multipart(let task): task.progress
    case .tus(let task): task.progress
    case .cancellation, .deletion: 0
    }
  }

  /// Can a request be sent before the one before it is answered? (RFC 9112, 9.3.2)
  var mayPipeline: Bool {
    if case .tus(let task) = self { task.mayPipeline } else { false }
  }

  /// Is a request under way whose answer counts, behind one that was answered?
  var awaitsAnswer: Bool {
    if case .tus(let task) = self { task.awaitsAnswer } else { false }
  }

  /// Bytes that the server had when it last said so.
  var lastOffset: Int64 {
    if case .tus(let task) = self { task.lastOffset } else { 0 }
  }

  mutating func next() throws(UploadError) -> TaskStep {
    switch self {
    case .multipart(let task): return try task.next()
    case .tus(var task):
      defer { self = .tus(task) }
      return try task.next()
    case .cancellation(let task): return task.next()
    case .deletion(let task): return task.next()
    }
  }

  /// A change that the record must have whatever comes next.
  mutating func takeUnsaved() -> RecordChange? {
    guard case .tus(var task) = self else { return nil }
    defer { self = .tus(task) }
    return task.takeUnsaved()
  }

  /// Does the answer say that a part of a request was stored, which has not gone out as a whole?
  func isOfPart(_ answer: Answer) -> Bool {
    if case .tus(let task) = self { task.isOfPart(answer) } else { false }
  }

  /// Takes the answer to the oldest request under way.
  /// - Parameter target: who answered, which is not who was asked after a redirect.
  mutating func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch self {
    case .multipart(var task):
      defer { self = .multipart(task) }
      try task.receive(answer)
    case .tus(var task):
      defer { self = .tus(task) }
      try task.receive(answer, from: target)
    case .cancellation(var task):
      defer { self = .cancellation(task) }
      try task.receive(answer)
    case .deletion(var task):
      defer { self = .deletion(task) }
      try task.receive(answer)
    }
  }

  mutating func hashed(_ hashed: HashResult) throws(UploadError) {
    switch (self, hashed) {
    case (.multipart(var task), .wholeFile(let sha256, _)):
      defer { self = .multipart(task) }
      try task.hashed(sha256: sha256)
    case (.tus(var task), _):
      task.hashed(hashed)
      self = .tus(task)
    case (.multipart, .range), (.multipart, .wholeFileAgain), (.cancellation, _), (.deletion, _): break
    }
  }

  /// The requests under way will not be answered, or the last answer was no use.
  mutating func interrupted(_ interruption: Interruption) -> Repetition {
    switch self {
    case .multipart(var task):
      defer { self = .multipart(task) }
      return task.interrupted(interruption)
    case .tus(var task):
      task.interrupted(interruption)
      self = .tus(task)
    case .cancellation: break
    case .deletion(var task):
      task.interrupted(interruption)
      self = .deletion(task)
    }
    return .allowed
  }

  /// Requests wait for the answers to those before them from now on.
  mutating func forbidPipelining() {
    guard case .tus(var task) = self else { return }
    task.forbidPipelining()
    self = .tus(task)
  }

  /// Takes a redirect that says that the upload is stored.
  /// - Returns: false if it does not say so.
  mutating func takeConfirmation(by location: String, _ answer: Answer) throws(UploadError) -> Bool {
    guard case .multipart(var task) = self, task.isConfirmed(by: location, answer) else { return false }
    defer { self = .multipart(task) }
    try task.confirm(by: answer)
    return true
  }
}
