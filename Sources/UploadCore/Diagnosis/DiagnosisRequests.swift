/// The requests of a diagnosis. None of them creates a recording.
package enum DiagnosisRequests {
  package static func tusOptions(_ target: TargetURI) -> HTTPRequest { HTTPRequest(method: "OPTIONS", target: target) }

  /// A creation without a length, which every tus server refuses: with 400 if it can create uploads.
  package static func lengthlessCreation(_ target: TargetURI) -> HTTPRequest {
    HTTPRequest(method: "POST", target: target, fields: [TusFields.resumable], body: RequestBody())
  }

  static let fileName = "diagnosis.mp4"

  /// A form without a label, which GigHive refuses after it has checked the credentials and read the file.
  /// - Parameter length: the file's, in bytes.
  package static func unlabelledForm(
    _ target: TargetURI, length: Int64, _ boundary: Boundary
  ) throws(FormDataError) -> HTTPRequest {
    let part = FilePart(name: "file", fileName: Array(fileName.utf8), mediaType: "video/mp4")
    return HTTPRequest(
      method: "POST", target: target, fields: [Field("Content-Type", FormData.contentType(boundary))],
      body: try FormData.body(fields: [], file: part, fileLength: length, boundary: boundary))
  }

  /// A finalize call that names no upload.
  package static func guestToken(_ base: TargetURI) -> HTTPRequest {
    HTTPRequest(
      method: "POST", target: base.appending(GigHiveAPI.finalize), fields: [Field("Content-Type", "application/json")],
      body: RequestBody(header: GigHiveAPI.finalizeContent(uploadID: "", fields: [])))
  }

  package static func announcedForm(_ target: TargetURI, length: Int64, _ boundary: Boundary) -> HTTPRequest {
    announced("POST", target, [Field("Content-Type", FormData.contentType(boundary))], length)
  }

  /// Announces a part of an upload that does not exist.
  /// - Parameters:
  ///   - target: the URL that creates uploads.
  ///   - overridesMethod: announces a POST with `X-HTTP-Method-Override`.
  package static func announcedPatch(_ target: TargetURI, length: Int64, overridesMethod: Bool) -> HTTPRequest {
    let upload = target.appending(String(repeating: "0", count: 32))
    var fields = [TusFields.resumable, TusFields.contentType, Field("Upload-Offset", "0")]
    if overridesMethod { fields.append(Field("X-HTTP-Method-Override", "PATCH")) }
    return announced(overridesMethod ? "POST" : "PATCH", upload, fields, length)
  }

  private static func announced(
    _ method: String, _ target: TargetURI, _ fields: [Field], _ length: Int64
  ) -> HTTPRequest {
    var request = HTTPRequest(method: method, target: target, fields: fields, body: RequestBody(fileLength: length))
    request.mayExpectContinue = true
    return request
  }
}
