import Testing
import UploadCore

/// Whether it is GigHive that responds, and what to do if it is not.
struct ServerChecksTests {
  private func form(_ result: ProbeResult) throws -> Finding {
    let target = try TargetURI("https://gighive/api/uploads.php?ui=json")
    return ServerChecks.form(result, at: target, hasCredentials: true)
  }

  private func remedy(_ finding: Finding) -> String {
    switch finding.result {
    case .failure(_, _, _, let remedy), .warning(_, let remedy): remedy ?? ""
    case .ok, .notExamined: "nothing failed"
    }
  }

  @Test func gigHivesRefusalOfAnEmptyFormIsWanted() throws {
    let refusal = "{\"error\":\"Bad Request\",\"message\":\"Empty upload\"}"
    #expect(try form(answered(400, refusal)).result.word == "ok")
  }

  @Test(arguments: [
    (404, "{\"error\":\"Not Found\",\"message\":\"no such page\"}"),
    (404, "{\"statusCode\":404,\"error\":\"Not Found\",\"message\":\"Route POST:/api/uploads.php not found\"}"),
    (404, "{\"timestamp\":\"2026-11-25T00:00:00Z\",\"status\":404,\"error\":\"Not Found\",\"message\":\"\"}"),
    (400, "{\"statusCode\":400,\"error\":\"Bad Request\",\"message\":\"body must be an object\"}"),
  ])
  func theRefusalOfAnotherProgramIsNotGigHives(status: Int, document: String) throws {
    let finding = try form(answered(status, document))
    #expect(finding.result.word == "failure")
    #expect(remedy(finding).hasPrefix("Check the server's address: GigHive has this path below it") == (status == 404))
    guard case .failure(_, let about, _, _) = finding.result else { return }
    #expect(about == "/api/uploads.php")
  }

  @Test func aPageThatIsNobodysIsAnotherServers() throws {
    let finding = try form(answered(200, "<html><body>It works!</body></html>"))
    #expect(finding.result.word == "failure" && remedy(finding).contains("another web server"))
  }

  @Test func aServerThatDoesNotRunPHPIsReported() throws {
    let source = "<?php\n// See upload_max_filesize and post_max_size.\necho json_encode($answer);\n"
    let answer = answered(200, source, [Field("Server", "Apache")])
    for finding in [try form(answer), ServerChecks.guestToken(answer)] {
      #expect(finding.result.word == "failure" && remedy(finding).contains("does not run PHP"))
    }
  }

  @Test func aProgramThatSaysNothingIsToBeLookedAt() throws {
    let result = ProbeResult(error: .connectionLost(.awaitingAnswer, peer: "192.0.2.1:80", nil))
    #expect(try remedy(form(result)).contains("Check the port"))
  }

  @Test func aRedirectNamesTheAddressToUse() throws {
    let moved = answered(308, "", [Field("Location", "/band/api/uploads.php?ui=json")])
    #expect(try remedy(form(moved)) == "The server's address is then --server https://gighive/band/.")
  }
}
