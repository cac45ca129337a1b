/// A server's answer, whole and in pieces, through an exchange.
enum ResponseTarget {
  /// What an exchange made of it.
  private struct Outcome: Equatable {
    var taken = 0
    var response: Response?
    var refusal: Response?
    var sending = Exchange.Sending.head
    var canReuse = false
    var error: ResponseError?
    /// When the connection ends after it.
    var atEnd: Response?
    var errorAtEnd: ResponseError?
  }

  private enum Kind: CaseIterable { case sent, head, awaitingContinue, followed }

  static func run(_ input: [UInt8]) {
    for kind in Kind.allCases {
      let whole = outcome(of: input, cut: .whole, kind)
      for cut in [Cut.bytes, .halves] {
        require(outcome(of: input, cut: cut, kind) == whole, "a \(kind) answer is another one in \(cut)")
      }
      for response in [whole.response, whole.refusal, whole.atEnd] { check(response, of: kind) }
    }
  }

  private static func outcome(of input: [UInt8], cut: Cut, _ kind: Kind) -> Outcome {
    var exchange = Exchange(method: kind == .head ? "HEAD" : "POST", expectsContinue: kind == .awaitingContinue)
    exchange.headWasSent(continueDeadlineMilliseconds: 1000)
    exchange.bodyWasSent()
    exchange.hasSuccessor = kind == .followed
    var outcome = Outcome()
    do throws(ResponseError) {
      try input.deliver(cut) { (piece) throws(ResponseError) in outcome.taken += try exchange.receive(piece) }
    } catch {
      // How much was consumed before the error does not matter.
      return Outcome(error: error)
    }
    outcome.response = exchange.finalResponse
    outcome.refusal = exchange.refusalSoFar
    outcome.sending = exchange.sending
    outcome.canReuse = exchange.canReuseConnection
    do throws(ResponseError) {
      try exchange.receiveEnd()
      outcome.atEnd = exchange.finalResponse
    } catch { outcome.errorAtEnd = error }
    return outcome
  }

  private static func check(_ response: Response?, of kind: Kind) {
    guard let response else { return }
    require(response.status >= 200 && response.status < 600, "an invalid status")
    require(response.head.fields.count <= Limits.fieldCount, "more fields than the limit")
    require(response.head.fields.allSatisfy { $0.isSendable }, "a field that could not be sent on")
    require(response.content.count <= Limits.replyLength, "more content than the limit")
    require(!response.isTruncated || response.content.count == Limits.replyLength, "truncated before the limit")
    require(kind != .head || response.content.isEmpty, "content of an answer to HEAD")
  }
}
