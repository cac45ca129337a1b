/// A tus server with one upload of `length` bytes, and with faults. After the faults it accepts requests of any length, because
/// their length depends on the speed of the machine.
final class TusStub: @unchecked Sendable {
  private let length: Int
  private var resets: [Int] = []
  private var troubles: ArraySlice<LoopbackServer.Action> = []
  private var offset = 0
  private var offsetBehindTroubles = 0
  private var isFarAway = false
  private var count = 0

  /// - Parameter resets: the requests, counted from 0, whose connection is reset without reading them.
  init(length: Int, resets: [Int] = []) {
    self.length = length
    self.resets = resets
  }

  /// A server so distant that two requests are in flight.
  /// - Parameters:
  ///   - second: how to handle the second PATCH, when the first has arrived and was not answered.
  ///   - kept: how much of both the server has.
  init(farAway length: Int, second: LoopbackServer.Action, kept: Int) {
    self.length = length
    troubles = [.answer(""), second]
    offsetBehindTroubles = kept
    isFarAway = true
  }

  func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
    count += 1
    if resets.contains(count - 1) { return .reset }
    switch request.head.prefix(while: { $0 != " " }) {
    case "OPTIONS": return TusScript.offer
    case "POST":
      offset = Int(request.value("Content-Length") ?? "") ?? 0
      defer { isFarAway = false }
      return isFarAway ? TusScript.createdFarAway : TusScript.created(storing: offset)
    case "HEAD": return TusScript.located(offset, of: length)
    default: return patch(request)
    }
  }

  private func patch(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
    if let trouble = troubles.popFirst() {
      if troubles.isEmpty { offset = offsetBehindTroubles }
      return trouble
    }
    guard request.offset == offset else { return .answer(TusScript.refusal(409)) }
    offset += Int(request.value("Content-Length") ?? "") ?? 0
    return TusScript.took(offset)
  }
}

extension LoopbackServer {
  convenience init(_ stub: TusStub) { self.init(answering: stub.answer) }
}

/// The range of the file in a PATCH.
extension LoopbackServer.Request {
  var offset: Int? { value("Upload-Offset").flatMap { Int($0) } }
}
