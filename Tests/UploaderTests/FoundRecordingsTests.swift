import Glibc
import Testing

@testable import Uploader

/// Recordings that are found while others are sent.
struct FoundRecordingsTests {
  private let directory = TemporaryDirectory()
  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"

  private func request(_ name: String, _ url: String) throws -> UploadRequest {
    UploadRequest(file: directory.file(name, bytes(name)), destination: .multipart(try TargetURI(url + "up")))
  }

  private final class Log { var lines: [String] = [] }

  private func observer(_ log: Log) -> UploadObserver {
    var observer = UploadObserver()
    observer.onBegin = { log.lines.append("begin \($0)") }
    observer.onEnd = { index, result in
      switch result {
      case .success: log.lines.append("delivered \(index)")
      case .failure(.cancelled): log.lines.append("cancelled \(index)")
      case .failure: log.lines.append("failed \(index)")
      }
    }
    return observer
  }

  @Test func eachIsAskedForWhenItsTurnComes() throws {
    let server = LoopbackServer([[.answer(ok), .answer(ok)]])
    let log = Log()
    let requests = [try request("a", server.url), try request("b", server.url)]
    var invalid = requests[0]
    invalid.maximumSize = -1
    var waiting = [requests[0], invalid, requests[1]].makeIterator()
    let uploader = Uploader(Configuration())
    uploader.uploadAll(
      next: {
        log.lines.append("next")
        return waiting.next()
      }, observer: observer(log))
    let told = log.lines.filter { $0 != "next" }
    #expect(told == ["begin 0", "delivered 0", "begin 1", "failed 1", "begin 2", "delivered 2"])
    #expect(log.lines.prefix(4) == ["next", "begin 0", "delivered 0", "next"])
    withExtendedLifetime(uploader) {}
    #expect(server.finish().count == 2)
  }

  @Test func uploadsThatWereNotAskedForAreOnlyCounted() throws {
    let cancellation = Cancellation()
    cancellation.cancel()
    let one = try request("a", "http://127.0.0.1:9/")
    let log = Log()
    Uploader(Configuration()).uploadAll(next: { one }, cancellation: cancellation, observer: observer(log))
    #expect(log.lines == [])
    Uploader(Configuration()).uploadAll([one, one], cancellation: cancellation, observer: observer(log))
    #expect(log.lines == ["cancelled 0", "cancelled 1"])
  }

  @Test func aFoundFileThatHasBecomeALinkIsNotSent() throws {
    let log = Log()
    let target = directory.file("target", bytes("secret"))
    let link = LocalPath(bytes: target.directory.bytes + bytes("/link"))
    #expect(symlink(target.cString ?? [0], link.cString ?? [0]) == 0)
    var request = UploadRequest(file: link, destination: .multipart(try TargetURI("http://127.0.0.1:9/")))
    request.foundBelow = link.directory
    Uploader(Configuration()).uploadAll([request], observer: observer(log))
    #expect(log.lines == ["begin 0", "failed 0"])
    do throws(UploadError) {
      _ = try Uploader(Configuration()).preview(request)
      Issue.record("a link can be sent")
    } catch {
      guard case .file(_, .notRegular) = error else {
        Issue.record("\(error)")
        return
      }
    }
    request.foundBelow = nil
    guard case .send(size: 6, _, _) = try Uploader(Configuration()).preview(request) else {
      Issue.record("it would not be sent")
      return
    }
  }
}
