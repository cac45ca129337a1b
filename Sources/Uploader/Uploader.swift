import CShims
@_exported public import UploadCore

/// Delivers recordings, one after the other, in a fixed amount of memory.
///
///     let uploader = Uploader(configuration)
///     let delivery = try uploader.upload(request) { print($0.deliveredBytes) }
///
/// A call blocks until the upload has ended. The connection is kept for the next upload to the same server. An uploader is
/// for one thread; several uploaders can work in several threads.
public final class Uploader {
  private let configuration: Configuration
  private let buffers = TransferBuffers()
  private var tls: TLSContext?
  private var kept: (connection: Connection, origin: String)?

  public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

  deinit { kept?.connection.stream.closeNotify() }

  /// Delivers one recording.
  /// - Parameters:
  ///   - cancellation: ends the upload early, from another thread or a signal handler.
  ///   - onProgress: is called on this thread about ten times a second and once at the end.
  /// - Returns: the server's confirmation. GigHive's is held against the size and SHA-256 of what was read.
  public func upload(
    _ request: UploadRequest, cancellation: Cancellation = Cancellation(),
    onProgress: @escaping (Progress) -> Void = { _ in }
  ) throws(UploadError) -> Delivery {
    if cancellation.isCancelled { throw .cancelled(hasSentAll: false) }
    var request = request
    if case .gigHive(let base, let form) = request.destination {
      do throws(EventFormError) { try form.validate() } catch { throw .form(error) }
      // Once, so that a repeated request after midnight is still for the same event.
      request.destination = .gigHive(base, form.completed(today: EventForm.today()))
    }
    let file: SourceFile
    do throws(FileError) { file = try SourceFile(path: request.file, limit: request.sizeLimit) } catch {
      throw .file(request.file, error)
    }
    var job = Job(request: request, file: file, cancellation: cancellation, onProgress: onProgress)
    while true {
      if let delivery = try send(&job) { return delivery }
    }
  }

  // MARK: One attempt

  /// An upload, and what has been learnt about it from earlier attempts.
  private struct Job {
    let request: UploadRequest
    let file: SourceFile
    let cancellation: Cancellation
    let onProgress: (Progress) -> Void
    var mayExpectContinue = true
    var mayReuseConnection = true
  }

  /// - Returns: nil if the request has to be repeated, as `job` then says.
  private func send(_ job: inout Job) throws(UploadError) -> Delivery? {
    let (head, body) = try compose(job)
    let headBytes = try encode(head)
    let isReused = job.mayReuseConnection && keptConnection(for: job.request.target) != nil
    let connection = try connect(job, isReused: isReused)
    let needsDigest = job.request.isForGigHive || job.request.computesDigest
    let digest = needsDigest ? try SHA256() : nil
    let transfer = Transfer(
      of: job.file, path: job.request.file, head: headBytes, body: body,
      exchange: Exchange(method: head.method, expectsContinue: head.fields.first("Expect") != nil), digest: digest,
      over: connection, buffers: buffers, timeouts: configuration.timeouts, onProgress: job.onProgress)
    show(head)
    do throws(UploadError) { try run(transfer, cancellation: job.cancellation) } catch {
      if case .cancelled = error { throw .cancelled(hasSentAll: transfer.hasSentAll) }
      // A kept connection can have been closed by the server just before. The request is repeated where that can do no
      // harm: none of the body went out, or the server knows a duplicate when it sees one.
      guard isReused, !transfer.hasBegunReceiving, case .connectionLost = error,
        !transfer.hasBegunBody || job.request.isForGigHive
      else { throw error }
      job.mayReuseConnection = false
      return nil
    }
    guard let response = transfer.response, let startedAt = transfer.startedAt else {
      preconditionFailure("a transfer that has ended without an answer")
    }
    show(response)
    if transfer.canReuseConnection { kept = (connection, job.request.target.origin) }
    if response.status == 417, head.fields.first("Expect") != nil {
      job.mayExpectContinue = false
      return nil
    }
    let sent = SentFile(size: job.file.size, sha256: transfer.hasSentAll ? digest?.finish() : nil)
    let receipt = try interpret(response, sent: sent, of: job.request, hasSentAll: transfer.hasSentAll)
    job.onProgress(Progress(deliveredBytes: sent.size, totalBytes: sent.size))
    let duration = shim_monotonic_milliseconds() - startedAt
    return Delivery(receipt: receipt, file: sent, durationMilliseconds: duration)
  }

  // MARK: The request

  private func compose(_ job: Job) throws(UploadError) -> (RequestHead, RequestBody) {
    let request = job.request
    let boundary = Boundary(random: try randomBytes(16))
    let body: RequestBody
    do throws(FormDataError) {
      body = try FormData.body(
        fields: request.fields, file: request.filePart, fileLength: job.file.size, boundary: boundary)
    } catch { throw .formData(error) }
    var fields = [
      Field("User-Agent", configuration.userAgent), Field("Accept", "application/json"),
      Field("Accept-Encoding", ContentCoding.accepted),
    ]
    fields += configuration.credentials.fields
    fields.append(Field("Content-Type", FormData.contentType(boundary)))
    fields.append(Field("Content-Length", String(body.length)))
    if job.mayExpectContinue, body.length >= Limits.expectContinueFrom {
      fields.append(Field("Expect", "100-continue"))
    }
    return (RequestHead(method: "POST", target: request.target, fields: fields), body)
  }

  private func encode(_ head: RequestHead) throws(UploadError) -> [UInt8] {
    do throws(RequestHeadError) { return try head.encoded() } catch { throw .requestHead(error) }
  }

  private func randomBytes(_ count: Int) throws(UploadError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard shim_random(&bytes, count) == 0 else { throw .outOfResources("randomness") }
    return bytes
  }

  // MARK: The connection

  /// The connection that the previous upload left, unless it goes elsewhere or the server has said or closed something.
  private func keptConnection(for target: TargetURI) -> Connection? {
    guard let kept, kept.origin == target.origin,
      shim_poll(kept.connection.stream.descriptor, Int32(SHIM_POLL_READABLE), -1, 0) == 0
    else { return nil }
    return kept.connection
  }

  private func connect(_ job: Job, isReused: Bool) throws(UploadError) -> Connection {
    let previous = kept?.connection
    kept = nil
    if isReused, let previous { return previous }
    previous?.stream.closeNotify()
    let target = job.request.target
    let connector = Connector(to: target, configuration: configuration, tls: try tlsContext(for: target))
    try run(connector, cancellation: job.cancellation)
    guard let connection = connector.connection else { preconditionFailure("a connector that has ended without one") }
    return connection
  }

  private func tlsContext(for target: TargetURI) throws(UploadError) -> TLSContext? {
    guard target.scheme == .https else { return nil }
    if let tls { return tls }
    do throws(TLSError) {
      let context = try TLSContext(configuration.tls)
      tls = context
      return context
    } catch { throw .tls(error, host: target.host) }
  }

  // MARK: The answer

  private func interpret(
    _ response: Response, sent: SentFile, of request: UploadRequest, hasSentAll: Bool
  ) throws(UploadError) -> Receipt {
    let status = response.status
    if status >= 300, status < 400 {
      throw .redirected(
        status: status, location: response.head.fields.first("Location") ?? "an address it does not name")
    }
    if status < 300, !hasSentAll { throw .prematureSuccess(status: status) }
    // What cannot be read confirms nothing: GigHive's answer then does not count, another endpoint's status does.
    let content = try response.isTruncated ? [] : ContentCoding.decodedContent(of: response) ?? []
    do throws(ReplyFailure) {
      if request.isForGigHive {
        return try ServerReply.fromGigHive(status: status, content: content, sent: sent)
      }
      return try ServerReply.fromPlainEndpoint(status: status, content: content, sent: sent)
    } catch { throw UploadError(error) }
  }

  // MARK: Diagnostics

  private func show(_ head: RequestHead) {
    guard let diagnostics = configuration.diagnostics else { return }
    // A query can hold a token.
    let path = String(decoding: head.target.requestTarget.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    diagnostics("> " + head.method + " " + head.target.origin + path)
    for field in head.fields { diagnostics("> " + visible(field)) }
  }

  private func show(_ response: Response) {
    guard let diagnostics = configuration.diagnostics else { return }
    diagnostics("< " + String(response.status))
    for field in response.head.fields { diagnostics("< " + visible(field)) }
  }

  private func visible(_ field: Field) -> String {
    field.name + ": " + (Credentials.isSecret(fieldName: field.name) ? "(secret)" : PrintableText.line(field.value))
  }
}
