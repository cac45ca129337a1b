import Testing
import UploadCore

/// Whether recordings can be sent over tus, and what an upload does if not.
struct TusChecksTests {
  private let version = [Field("Tus-Resumable", "1.0.0"), Field("Tus-Version", "1.0.0")]
  private let needs: [TusChecks.Need] = [.tusServer, .chosen, .guests, .preferred, .avoided]

  /// The result as a word. Asks for a creation only if it is needed.
  private func word(_ options: ProbeResult, _ creation: ProbeResult, _ need: TusChecks.Need) throws -> String {
    let asked = TusChecks.leavesOpen(options, need) ? creation : nil
    return TusChecks.tus(options, asked, at: try TargetURI("https://gighive/files/"), need).result.word
  }

  private var missingLength: ProbeResult { answered(400, "ERR_INVALID_UPLOAD_LENGTH", [version[0]]) }

  @Test func aServerThatNamesCreationIsNotAskedForOne() throws {
    let options = answered(204, "", version + [Field("Tus-Extension", "creation,termination")])
    for need in needs {
      #expect(!TusChecks.leavesOpen(options, need))
      #expect(try word(options, answered(404), need) == "ok")
    }
  }

  @Test func withoutCreationNoUploadStarts() throws {
    let options = answered(204, "", version + [Field("Tus-Extension", "termination")])
    let words = try needs.map { try word(options, answered(405), $0) }
    #expect(words == ["failure", "failure", "failure", "failure", "warning"])
    #expect(try needs.allSatisfy { try word(options, missingLength, $0) == "ok" })
    // An upload falls back to a form only if the server has offered nothing.
    #expect(try word(answered(204, "", version), answered(405), .preferred) == "warning")
    #expect(try word(answered(204, "", version), answered(403), .preferred) == "failure")
  }

  @Test(arguments: [403, 501]) func refusedOptionsSayNothing(status: Int) throws {
    #expect(try needs.allSatisfy { try word(answered(status), missingLength, $0) == "ok" })
    let words = try needs.map { try word(answered(status), answered(404), $0) }
    #expect(words == ["failure", "failure", "failure", "warning", "warning"])
    #expect(try word(answered(status), answered(403), .preferred) == "failure")
  }

  @Test(arguments: [200, 404, 405]) func aServerThatDoesNotAnswerOptionsHasNoTus(status: Int) throws {
    let words = try needs.map { try word(answered(status), missingLength, $0) }
    // As an upload does: what can go only over tus is tried nevertheless.
    #expect(words == ["ok", "ok", "failure", "warning", "warning"])
    #expect(try word(answered(status), answered(status), .tusServer) == "failure")
  }

  @Test(arguments: [401, 500, 502, 503]) func aFailingServerConcernsWhatGoesOverTus(status: Int) throws {
    let words = try needs.map { try word(answered(status), missingLength, $0) }
    #expect(words == ["failure", "failure", "failure", "failure", "warning"])
    let lost = ProbeResult(error: .connectionLost(.awaitingAnswer, peer: "x", nil))
    #expect(try word(lost, missingLength, .preferred) == "failure")
    #expect(try word(lost, missingLength, .avoided) == "warning")
  }

  @Test func aLoginPageIsNobodysOffer() throws {
    let page = answered(200, "<html><form><input type=password></form></html>")
    #expect(try word(page, missingLength, .preferred) == "failure")
  }

  @Test func anotherVersionIsAFailure() throws {
    #expect(try word(answered(200, "", [Field("Tus-Version", "2.0.0")]), missingLength, .preferred) == "failure")
    #expect(try word(answered(403), answered(412, "", version), .preferred) == "failure")
  }

  private func isWarning(_ limit: Int64, size: Int64?) -> Bool? {
    let finding = TusChecks.largestFile(answered(204, "", [Field("Tus-Max-Size", String(limit))]), size: size)
    return switch finding?.result {
    case .ok: false
    case .warning, .failure: true
    case .notExamined, nil: nil
    }
  }

  /// As an upload calls it, which waits until somebody has logged in.
  @Test func aPortalsPageIsNotTheServers() throws {
    let page = "<html><form><input type=password></form></html>"
    let finding = TusChecks.tus(answered(200, page), nil, at: try TargetURI("https://gighive/files/"), .tusServer)
    guard case .failure(.notFromServer(status: 200), _, _, _) = finding.result else {
      Issue.record("\(finding.result)")
      return
    }
  }

  @Test func theLargestFileIsCompared() {
    #expect(isWarning(0, size: nil) == nil)
    #expect(isWarning(1000, size: nil) == true && isWarning(1000, size: 1001) == true)
    #expect(isWarning(1000, size: 1000) == false && isWarning(Limits.gigHiveFileSize, size: nil) == false)
  }
}
