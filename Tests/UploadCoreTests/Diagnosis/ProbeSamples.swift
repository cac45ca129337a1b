import UploadCore

/// The result of a request that was answered.
func answered(
  _ status: Int, _ content: String = "", _ fields: [Field] = [], hiding secrets: Secrets = Secrets()
) -> ProbeResult {
  let answer = Answer(status: status, fields: fields, content: bytes(content))
  let result = ProbeResult(error: status < 300 ? nil : answer.refusal)
  result.answer = answer
  result.shown = RedactedAnswer(answer, secrets)
  result.contentMilliseconds = 1000
  return result
}

extension Finding.Result {
  /// Which kind of result it is.
  var word: String {
    switch self {
    case .ok: "ok"
    case .warning: "warning"
    case .failure: "failure"
    case .notExamined: "not examined"
    }
  }
}
