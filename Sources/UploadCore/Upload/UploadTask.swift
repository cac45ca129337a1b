/// What a task wants next.
enum TaskStep: Equatable, Sendable {
  case ask(Request)
  case hash(HashRange)
  case save(RecordChange)
  /// Nothing before the requests under way are answered.
  case await
  case finished(Outcome)
  /// The server speaks no tus, and the recording may go as a form.
  case sendAsForm
}

/// May requests be repeated that were interrupted?
enum Repetition: Equatable, Sendable {
  case allowed
  case forbidden
  /// The server may have stored what it was sent, and would store it once more.
  case couldStoreTwice
}

/// What is to be done with a server: the protocols, without connections, tries and redirects.
enum UploadTask: Sendable {
  case multipart(MultipartUpload)
  case tus(TusDelivery)
  case cancellation(Cancelling)
  case deletion(Deleting)

  /// Grows with everything that need not be done again after a failure.
  var progress: Int64 {
    switch self {
    case .multipart(let upload): upload.progress
    case .tus(let delivery): delivery.progress
    case .cancellation, .deletion: 0
    }
  }

  /// Can a request be sent before the one before it is answered? (RFC 9112, 9.3.2)
  var mayPipeline: Bool {
    if case .tus(let delivery) = self { delivery.mayPipeline } else { false }
  }

  /// Is a request under way whose answer counts, behind one that was answered?
  var awaitsAnswer: Bool {
    if case .tus(let delivery) = self { delivery.awaitsAnswer } else { false }
  }

  /// Bytes that the server had when it last said so.
  var lastOffset: Int64 {
    if case .tus(let delivery) = self { delivery.lastOffset } else { 0 }
  }

  mutating func next() throws(UploadError) -> TaskStep {
    switch self {
    case .multipart(let upload): return try upload.next()
    case .tus(var delivery):
      defer { self = .tus(delivery) }
      return try delivery.next()
    case .cancellation(let cancelling): return cancelling.next()
    case .deletion(let deleting): return deleting.next()
    }
  }

  /// A change that the record must have whatever comes next.
  mutating func takeUnsaved() -> RecordChange? {
    guard case .tus(var delivery) = self else { return nil }
    defer { self = .tus(delivery) }
    return delivery.takeUnsaved()
  }

  /// Does the answer say that a part of a request was stored, which has not gone out as a whole?
  func isOfPart(_ answer: Answer) -> Bool {
    if case .tus(let delivery) = self { delivery.isOfPart(answer) } else { false }
  }

  /// Takes the answer to the oldest request under way.
  /// - Parameter target: who answered, which is not who was asked after a redirect.
  mutating func receive(_ answer: Answer, from target: TargetURI) throws(UploadError) {
    switch self {
    case .multipart(var upload):
      defer { self = .multipart(upload) }
      try upload.receive(answer)
    case .tus(var delivery):
      defer { self = .tus(delivery) }
      try delivery.receive(answer, from: target)
    case .cancellation(var cancelling):
      defer { self = .cancellation(cancelling) }
      try cancelling.receive(answer)
    case .deletion(var deleting):
      defer { self = .deletion(deleting) }
      try deleting.receive(answer)
    }
  }

  mutating func hashed(_ hashed: HashedRange) throws(UploadError) {
    switch (self, hashed) {
    case (.multipart(var upload), .wholeFile(let sha256, _)):
      defer { self = .multipart(upload) }
      try upload.hashed(sha256: sha256)
    case (.tus(var delivery), _):
      delivery.hashed(hashed)
      self = .tus(delivery)
    case (.multipart, .range), (.multipart, .wholeFileAgain), (.cancellation, _), (.deletion, _): break
    }
  }

  /// The requests under way will not be answered, or the last answer was no use.
  mutating func interrupted(_ interruption: Interruption) -> Repetition {
    switch self {
    case .multipart(var upload):
      defer { self = .multipart(upload) }
      return upload.interrupted(interruption)
    case .tus(var delivery):
      delivery.interrupted(interruption)
      self = .tus(delivery)
    case .cancellation: break
    case .deletion(var deleting):
      deleting.interrupted(interruption)
      self = .deletion(deleting)
    }
    return .allowed
  }

  /// Requests wait for the answers to those before them from now on.
  mutating func forbidPipelining() {
    guard case .tus(var delivery) = self else { return }
    delivery.forbidPipelining()
    self = .tus(delivery)
  }

  /// Takes a redirect that says that the upload is stored.
  /// - Returns: false if it does not say so.
  mutating func takeConfirmation(by location: String, _ answer: Answer) throws(UploadError) -> Bool {
    guard case .multipart(var upload) = self, upload.isConfirmed(by: location, answer) else { return false }
    defer { self = .multipart(upload) }
    try upload.confirm(by: answer)
    return true
  }
}
