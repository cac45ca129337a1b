/// What is asked of a server without content of a recording: a request that is repeated until there is a verdict.
enum ErrandTask: Sendable {
  case cancellation(CancelTask)
  case abort(AbortTask)
  case deletion(DeleteTask)
  case presence(PresenceTask)
  case removal(RemoveTask)

  var mayBeDeleted: Bool { if case .deletion(let task) = self { task.mayBeDone } else { false } }

  func isPortals(_ answer: Answer) -> Bool {
    if case .deletion = self { LikelySoftware.isLoginInstead(answer) } else { false }
  }

  func next() -> TaskStep {
    switch self {
    case .cancellation(let task): task.next()
    case .abort(let task): task.next()
    case .deletion(let task): task.next()
    case .presence(let task): task.next()
    case .removal(let task): task.next()
    }
  }

  mutating func receive(_ answer: Answer) throws(UploadError) {
    switch self {
    case .cancellation(var task):
      defer { self = .cancellation(task) }
      try task.receive(answer)
    case .abort(var task):
      defer { self = .abort(task) }
      try task.receive(answer)
    case .deletion(var task):
      defer { self = .deletion(task) }
      try task.receive(answer)
    case .presence(var task):
      defer { self = .presence(task) }
      try task.receive(answer)
    case .removal(var task):
      defer { self = .removal(task) }
      try task.receive(answer)
    }
  }

  mutating func interrupted(_ interruption: Interruption) {
    switch self {
    case .cancellation, .abort, .removal: break
    case .presence(var task):
      task.interrupted(interruption)
      self = .presence(task)
    case .deletion(var task):
      task.interrupted(interruption)
      self = .deletion(task)
    }
  }
}
