import Testing
import UploadCore

struct UndeletedUploadsTests {
  private func targets(_ urls: String...) throws -> [TargetURI] { try urls.map { try TargetURI($0) } }

  private func uploads(_ urls: String...) throws -> UndeletedUploads {
    var uploads = UndeletedUploads(decoding: [])
    uploads.add(try urls.map { try TargetURI($0) })
    return uploads
  }

  @Test func theyAreKeptUntilTheyAreDeleted() throws {
    var uploads = try uploads(
      "https://hive/files/1", "https://other/files/1", "https://hive/files/2", "https://hive/files/1")
    #expect(uploads.urls == ["https://hive/files/1", "https://other/files/1", "https://hive/files/2"])
    let found = uploads.uploads(at: "https://hive")
    #expect(found == (try targets("https://hive/files/1", "https://hive/files/2")))
    #expect(UndeletedUploads(decoding: uploads.encoded) == uploads)
    for upload in found { uploads.remove(upload) }
    #expect(uploads.urls == ["https://other/files/1"])
  }

  /// The beginning of a URL can be that of a directory.
  @Test func aFileThatIsCutHasOnlyWholeURLs() throws {
    let whole = try uploads("https://hive/files/1", "https://hive/files/22")
    let bytes = whole.encoded
    for count in bytes.indices {
      let read = UndeletedUploads(decoding: Array(bytes[..<count]))
      #expect(read.urls == Array(whole.urls.prefix(bytes[..<count].count { $0 == ASCII.lineFeed })))
    }
    #expect(UndeletedUploads(decoding: bytes + Array("\n\u{0}\nno URL\nftp://hive/\n".utf8)) == whole)
  }

  @Test func theOldestAreLeftToTheServer() throws {
    var uploads = UndeletedUploads(decoding: [])
    let path = String(repeating: "a", count: 1000)
    for number in 1...70 { uploads.add(try targets("https://hive/\(path)/\(number)")) }
    #expect(uploads.encoded.count <= Limits.undeletedLength && uploads.encoded.count > Limits.undeletedLength - 1100)
    #expect(uploads.urls.last == "https://hive/\(path)/70" && uploads.urls.first != "https://hive/\(path)/1")
  }

  @Test func eachKindOfServerEndsUploadsOfItsOwnKind() throws {
    let target = try TargetURI("https://hive/b/")
    let s3 = S3Object(url: try TargetURI("https://hive/b/a.wav"), region: "here")
    let (multipart, other) = (try TargetURI("https://hive/b/a.wav?uploadId=u"), try TargetURI("https://hive/files/1"))
    func end(_ upload: TargetURI, at destination: Destination) throws -> String? {
      let request = UploadRequest(file: LocalPath("/a.wav"), destination: destination)
      guard let purpose = UploadMachine.Purpose(ending: upload, as: request) else { return nil }
      var machine = try UploadMachine(
        purpose, UploadPolicy(retries: RetryPolicy(.failures(0), maximumDelayMilliseconds: 4000), seed: 7))
      guard case .send(let request, _) = machine.next(nowMilliseconds: 0, unixSeconds: 0) else { return "nothing" }
      return request.method + " " + request.target.text + (request.signing == nil ? "" : " signed")
    }
    #expect(try end(multipart, at: .s3(s3)) == "DELETE https://hive/b/a.wav?uploadId=u signed")
    #expect(try end(other, at: .webDAV(target)) == "DELETE https://hive/files/1")
    #expect(try end(other, at: .tus(target)) == "DELETE https://hive/files/1")
    #expect(try end(other, at: .s3(s3)) == nil && end(multipart, at: .webDAV(target)) == nil)
    #expect(try end(multipart, at: .tus(target)) == nil && end(other, at: .put(target, isSigned: false)) == nil)
  }
}
