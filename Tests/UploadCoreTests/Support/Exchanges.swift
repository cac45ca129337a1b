import UploadCore

/// The result of feeding bytes to an exchange.
enum Reception: Equatable {
  case complete(Response)
  case needsMore
  case failed(ResponseError)
}

extension Exchange {
  /// An exchange whose request was sent.
  static func afterSending(method: String = "POST") -> Exchange {
    var exchange = Exchange(method: method, expectsContinue: false)
    exchange.headWasSent(continueDeadlineMilliseconds: 0)
    exchange.bodyWasSent()
    return exchange
  }

  /// Takes a text as it would come from a connection.
  mutating func receive(_ text: String) throws(ResponseError) {
    let sample = bytes(text)
    try GuardPage(room: sample.count).placing(sample[...]) { (input) throws(ResponseError) in _ = try receive(input) }
  }

  var reception: Reception { finalResponse.map { .complete($0) } ?? .needsMore }
}

/// Feeds pieces to an exchange whose request was sent.
func reception(of delivery: Delivery, method: String = "POST", connectionEnds: Bool = false) -> Reception {
  var exchange = Exchange.afterSending(method: method)
  do throws(ResponseError) {
    try delivery.each { (piece) throws(ResponseError) in try exchange.receive(piece) }
    if connectionEnds { try exchange.receiveEnd() }
  } catch { return .failed(error) }
  return exchange.reception
}

/// The same for a text in one piece.
func reception(of text: String, method: String = "POST", connectionEnds: Bool = false) -> Reception {
  let sample = bytes(text)
  let delivery = Delivery(pieces: [sample[...]], page: GuardPage(room: sample.count))
  return reception(of: delivery, method: method, connectionEnds: connectionEnds)
}

/// A whole response as the tests expect it.
func response(
  _ status: Int, _ fields: [Field] = [], _ content: String = "", minorVersion: UInt8 = 1, isTruncated: Bool = false
) -> Response {
  var response = Response(head: ResponseHead(minorVersion: minorVersion, status: status, fields: fields))
  response.content = bytes(content)
  response.isTruncated = isTruncated
  return response
}
