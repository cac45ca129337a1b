/// Whether a server accepts content that it has received.
package enum FormTestCheck {
  /// - Parameters:
  ///   - result: the response to a form that lacks its label, so that GigHive refuses it once it has read everything.
  ///   - length: the length of the file in it.
  package static func form(_ result: ProbeResult, length: Int64) -> Finding {
    let about = "a form of " + SizeText.short(length)
    guard let answer = result.answer else {
      return Finding(
        .contentLimit,
        .failure(
          result.error ?? .unconfirmed(status: 0), about: about + ", after " + SizeText.exact(result.arrivedLength)))
    }
    let isGigHives = result.shown?.software == .gigHive
    if isGigHives, answer.status == 400 || answer.status == 409 {
      let rate = SizeText.rate(bytes: length, milliseconds: result.contentMilliseconds)
      return Finding(
        .contentLimit,
        .ok("GigHive has received " + about + ", at " + rate + ", and stored nothing: the form has no label"))
    }
    if isGigHives, answer.isSuccess {
      return Finding(.contentLimit, .ok("GigHive has received " + about + ", and stored it, although it has no label"))
    }
    return Finding(
      .contentLimit,
      .failure(
        result.error ?? .unconfirmed(status: answer.status), about: about, answer: result.shown,
        remedy: result.remedyOfUnknownLimit))
  }
}
