import CShims
import UploadCore

/// Delivers a recording as multipart/form-data: one POST.
final class MultipartDelivery: Dialogue {
  let file: SourceFile?
  let digest: FileDigest?
  let progress: Int64 = 0
  private let request: UploadRequest
  private let source: SourceFile
  /// The answer, once there is a good one.
  private(set) var result: (receipt: Receipt, sent: SentFile)?

  init(_ request: UploadRequest, _ file: SourceFile, digest: FileDigest?) {
    self.request = request
    self.file = file
    source = file
    self.digest = digest
  }

  func next() throws(UploadError) -> DialogueStep {
    if result != nil { return .finished }
    var random = [UInt8](repeating: 0, count: 16)
    guard shim_random(&random, random.count) == 0 else { throw .outOfResources("randomness") }
    let boundary = Boundary(random: random)
    let body: RequestBody
    do throws(FormDataError) {
      body = try FormData.body(
        fields: request.fields, file: request.filePart, fileLength: source.size, boundary: boundary)
    } catch { throw .formData(error) }
    return .ask(
      Request(
        method: "POST", target: request.multipartTarget,
        fields: [Field("Content-Type", FormData.contentType(boundary))], body: body, mayExpectContinue: true))
  }

  func receive(_ response: Response, from: TargetURI, afterMilliseconds: Int64) throws(UploadError) {
    let isWhole = digest?.position == source.size
    let sent = SentFile(size: source.size, sha256: isWhole ? try digest?.finish() : nil)
    let receipt =
      request.isForGigHive
      ? try response.gigHiveReceipt(sent: sent) : try response.plainReceipt(sent: sent)
    result = (receipt, sent)
  }

  /// GigHive knows a duplicate when it sees one. Another endpoint may not: once any of the recording may have reached it,
  /// sending it again could store it twice.
  func interrupted(arrived: Int64, hasBegunBody: Bool) -> Bool { request.isForGigHive || !hasBegunBody }
}

extension Response {
  /// What cannot be read confirms nothing.
  private func readableContent() throws(UploadError) -> [UInt8] {
    isTruncated ? [] : try ContentCoding.decodedContent(of: self) ?? []
  }

  /// GigHive's confirmation of a recording.
  func gigHiveReceipt(sent: SentFile) throws(UploadError) -> Receipt {
    let content = try readableContent()
    do throws(ReplyFailure) { return try ServerReply.fromGigHive(status: status, content: content, sent: sent) } catch {
      throw UploadError(error)
    }
  }

  /// Another endpoint's confirmation: its status, and what it says besides.
  func plainReceipt(sent: SentFile) throws(UploadError) -> Receipt {
    let content = try readableContent()
    do throws(ReplyFailure) {
      return try ServerReply.fromPlainEndpoint(status: status, content: content, sent: sent)
    } catch { throw UploadError(error) }
  }

  /// Returns if a recording is not there any more.
  func checkDeletion() throws(UploadError) {
    let content = try readableContent()
    do throws(ReplyFailure) { try ServerReply.ofDeletion(status: status, content: content) } catch {
      throw UploadError(error)
    }
  }

  /// The answer as a refusal, in the server's words.
  func refusal() throws(UploadError) -> UploadError {
    .refused(status: status, message: ServerReply.message(of: try readableContent()))
  }
}
