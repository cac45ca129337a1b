import UploadCore

/// The servers that did not answer when they were asked about a delivered recording. An upload waits while they are asked.
final class SilentServers {
  private var servers: [(origin: String, silence: ServerSilence, error: UploadError)] = []

  /// Why the server is not asked now; nil if it is.
  func error(of origin: String, _ now: Int64) -> UploadError? {
    servers.first { $0.origin == origin && !$0.silence.allowsQuestion(now) }?.error
  }

  func note(_ error: UploadError, of origin: String, _ now: Int64) {
    if let index = servers.firstIndex(where: { $0.origin == origin }) {
      servers[index].silence.note(now)
      servers[index].error = error
    } else {
      servers.append((origin, ServerSilence(), error))
      servers[servers.count - 1].silence.note(now)
    }
  }

  func noteAnswer(of origin: String) { servers.removeAll { $0.origin == origin } }
}
