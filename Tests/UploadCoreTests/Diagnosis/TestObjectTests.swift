import Testing
import UploadCore

/// The test object of a diagnosis, without a network. Tests/CLITests/test_doctor_objects.py has the servers.
struct TestObjectTests {
  private enum Server { case s3, webDAV, nextcloud, put }

  /// What becomes of a test, given the results of its requests in order: its requests, and its findings as words.
  private func play(
    _ server: Server, interruptBefore: Int? = nil, _ results: [ProbeResult]
  ) throws -> (steps: [String], findings: [String]) {
    let target = try TargetURI(
      "https://hive/" + (server == .nextcloud ? "remote.php/dav/files/dj/object" : "a/b/object"))
    let test = TestObject(
      at: target, region: server == .s3 ? "here" : nil, isForWebDAV: [.webDAV, .nextcloud].contains(server),
      id: "01234567", Secrets())
    var steps: [String] = []
    var results = results[...]
    while true {
      if steps.count == interruptBefore { test.interrupt() }
      guard case .ask(let request) = test.next() else { break }
      #expect((request.signing != nil) == (server == .s3))
      steps.append(request.method)
      let result = results.popFirst()
      test.receive(try #require(result, "no result for \(steps)"))
    }
    #expect(results.isEmpty)
    return (steps, test.takeFindings().map { $0.check.rawValue + " " + $0.result.word })
  }

  /// By a WebDAV server.
  private let listed = answered(
    207,
    "<multistatus><response><href>/a</href><propstat><prop><getcontentlength>33</getcontentlength></prop></propstat></response></multistatus>"
  )

  private let lost = ProbeResult(error: .connectionLost(.sending, peer: "p", nil))

  @Test func anObjectThatMayHaveArrivedIsDeleted() throws {
    let run = try play(.s3, [lost, answered(204)])
    #expect(run.steps == ["PUT", "DELETE"] && run.findings == ["test-object failure", "removal ok"])
    #expect(try play(.s3, [answered(403)]).steps == ["PUT"])
    #expect(try play(.webDAV, [answered(500), answered(404)]).findings == ["test-object failure"])
  }

  @Test(arguments: [0, 1, 2, 3]) func anInterruptionDeletesTheTestObject(_ count: Int) throws {
    let results = [answered(201), answered(201), listed].prefix(count) + (count == 0 ? [] : [answered(204)])
    let run = try play(.webDAV, interruptBefore: count, Array(results))
    #expect(run.steps == Array(["PUT", "MOVE", "PROPFIND"].prefix(count)) + (count == 0 ? [] : ["DELETE"]))
  }

  /// Both names are deleted, because nobody knows which one it has.
  @Test(arguments: [0, 500, 504, 207]) func aMoveWithoutAClearOutcomeLeavesNothing(_ status: Int) throws {
    let run = try play(.webDAV, [answered(201), status == 0 ? lost : answered(status), answered(404), answered(204)])
    #expect(run.steps == ["PUT", "MOVE", "DELETE", "DELETE"] && run.findings == ["test-object failure", "removal ok"])
    #expect(try play(.webDAV, [answered(201), answered(403), answered(204)]).steps == ["PUT", "MOVE", "DELETE"])
  }

  @Test func aDirectoryOfChunksThatMayHaveBeenMadeIsDeleted() throws {
    for opening in [lost, answered(504)] {
      let run = try play(.nextcloud, [answered(201), answered(201), listed, opening, answered(204), answered(204)])
      #expect(run.steps == ["PUT", "MOVE", "PROPFIND", "MKCOL", "DELETE", "DELETE"])
      #expect(run.findings == ["test-object ok", "test-object failure", "removal ok"])
    }
  }

  @Test(arguments: [202, 302]) func anObjectThatMayBeStoredLaterIsDeleted(_ status: Int) throws {
    #expect(try play(.webDAV, [answered(status), answered(204)]).steps == ["PUT", "DELETE"])
  }

  @Test func aServerThatIsElsewhereIsAFailure() throws {
    let run = try play(.put, [answered(302, "", [Field("Location", "https://login/")])])
    #expect(run.steps == ["DELETE"] && run.findings == ["test-object failure"])
  }

  @Test func aRemovalWithoutAResponseIsALeftover() throws {
    let run = try play(.put, [answered(404), answered(201), answered(200), lost])
    #expect(run.findings == ["test-object ok", "removal warning"])
  }

  @Test func aWebDAVServerWithoutPropertiesIsAskedWithHEAD() throws {
    let run = try play(.webDAV, [answered(201), answered(201), answered(405), answered(200), answered(204)])
    #expect(run.steps == ["PUT", "MOVE", "PROPFIND", "HEAD", "DELETE"])
    #expect(run.findings == ["test-object ok", "removal ok"])
    let page = try play(.webDAV, [answered(201), answered(201), answered(200, "<html></html>"), answered(204)])
    #expect(page.findings == ["test-object failure", "removal ok"])
  }

  @Test(arguments: [204: "ok", 404: "ok", 403: "warning"])
  func aDirectoryOfChunksThatStaysIsNamed(status: Int, _ result: String) throws {
    let run = try play(
      .nextcloud, [answered(201), answered(201), listed, answered(201), answered(status), answered(204)])
    #expect(run.steps == ["PUT", "MOVE", "PROPFIND", "MKCOL", "DELETE", "DELETE"])
    #expect(run.findings == ["test-object ok", "chunks " + result, "removal ok"])
  }

  @Test func aDirectoryIsLookedForUpToTheRoot() throws {
    let run = try play(.webDAV, [answered(409), answered(404), answered(409)])
    #expect(run.steps == ["PUT", "PUT", "PUT"] && run.findings == ["test-object failure"])
    // Above the server's own directories, other refusals say nothing of the user.
    #expect(try play(.webDAV, [answered(409), answered(403)]).steps == ["PUT", "PUT"])
  }

  @Test func anObjectOfAnotherLengthIsAFailure() throws {
    let run = try play(.s3, [answered(200), answered(200, "", [Field("Content-Length", "7")]), answered(204)])
    #expect(run.findings == ["test-object failure", "removal ok"])
  }

  @Test(arguments: [(405, "test-object warning"), (404, "test-object failure")])
  func anObjectThatIsNotShown(_ status: Int, _ finding: String) throws {
    let results =
      [answered(200), answered(status)] + (status == 405 ? [answered(412), answered(403)] : []) + [answered(204)]
    #expect(try play(.s3, results).findings.first == finding)
  }

  /// What follows a PUT, HEAD and PUT that were answered as they should be.
  @Test(arguments: [
    // It is begun, listed and ended.
    ([(200, begun), (200, "<ListPartsResult></ListPartsResult>"), (204, "")], "POST GET DELETE", ["ok"]),
    // It is ended even if nobody may list it.
    ([(200, begun), (403, ""), (204, "")], "POST GET DELETE", ["warning"]),
    ([(200, begun), (403, ""), (403, "")], "POST GET DELETE", ["warning", "warning"]),
    ([(200, begun), (200, "<html></html>"), (404, "")], "POST GET DELETE", ["warning"]),
    ([(200, begun), (0, ""), (204, "")], "POST GET DELETE", ["failure"]),
    ([(0, "")], "POST", ["failure"]), ([(403, "")], "POST", ["failure"]),
    ([(200, "<html></html>")], "POST", ["failure"]),
  ]) func anUploadInPartsIsTested(_ answers: [(Int, String)], _ steps: String, _ findings: [String]) throws {
    let first = [answered(200), answered(200), answered(412)]
    let run = try play(.s3, first + answers.map { $0.0 == 0 ? lost : answered($0.0, $0.1) } + [answered(204)])
    #expect(run.steps.dropFirst(3).dropLast().joined(separator: " ") == steps)
    #expect(run.findings.filter { $0.hasPrefix("parts") } == findings.map { "parts " + $0 })
  }

  @Test(arguments: [4, 5]) func anInterruptionEndsAnUploadInParts(_ count: Int) throws {
    let results = [answered(200), answered(200), answered(412), answered(200, begun), answered(403)].prefix(count)
    let run = try play(.s3, interruptBefore: count, results + [answered(204), answered(204)])
    #expect(run.steps.suffix(2) == ["DELETE", "DELETE"])
  }
}

private let begun = "<InitiateMultipartUploadResult><UploadId>7</UploadId></InitiateMultipartUploadResult>"
