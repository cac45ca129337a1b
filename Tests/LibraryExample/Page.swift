// The examples of docs/library.md, which are compiled but not run. A test compares them.
import Uploader

func requests() throws -> [UploadRequest] {
  var form = EventForm()
  form.label = "First set"
  form.eventDate = "2026-11-23"
  form.orgName = "The Demo Band"
  let gigHive = UploadRequest(
    file: "/srv/rec/first-set.mp4", destination: .gigHive(try TargetURI("https://gighive"), form))

  var talk = UploadRequest(
    file: "/srv/rec/talk.mkv", destination: .multipart(try TargetURI("https://media.example/upload")))
  talk.fileFieldName = "upload"
  talk.extraFields = [FormField("album", "talks")]

  var backup = UploadRequest(
    file: "/srv/rec/talk.mkv", destination: .tus(try TargetURI("https://media.example/files/")))
  backup.extraMetadata = [FormField("room", "Aula")]
  backup.computesDigest = true
  backup.chunkLength = 8 << 20

  let talks = try TargetURI("https://media.example/talks/talk.mkv")
  var object = UploadRequest(file: "/srv/rec/talk.mkv", destination: .put(talks, isSigned: false))
  object.mediaType = "video/x-matroska"

  let url = try TargetURI("https://talks.s3.eu-central-1.amazonaws.com/talk.mkv")
  let stored = UploadRequest(file: "/srv/rec/talk.mkv", destination: .s3(S3Object(url: url, region: "eu-central-1")))

  return [gigHive, talk, backup, object, stored]
}

func target(_ text: String) -> TargetURI? {
  do {
    return try TargetURI(text)
  } catch .containsUserInformation {
    print("leave the password out of the URL")
  } catch .tooLong(let limit) {
    print("a URL has at most", limit, "bytes")
  } catch {
    print("not a URL:", text)
  }
  return nil
}

func configuration(password: String) -> Configuration {
  var configuration = Configuration()
  configuration.credentials = .basic(user: "uploader", password: password)
  configuration.stateDirectory = "/var/lib/recorder"
  configuration.retryLimit = .time(milliseconds: 12 * 3600 * 1000)
  configuration.rateLimit = RateSchedule(.bytesPerSecond(2_000_000))
  configuration.timeouts.stallMilliseconds = 60_000
  configuration.addressFamily = .ipv4
  configuration.congestionControl = .named("cubic")

  return configuration
}

func addTrust(to configuration: inout Configuration) throws {
  configuration.tls.trustedCertificatesFile = "/etc/gighive-ca.pem"
  configuration.tls.pins = ["sha256//n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="]
  configuration.proxies.https = Proxy(try TargetURI("http://proxy:3128"), user: "board", password: Array("secret".utf8))
  configuration.proxies.exceptions = "localhost,.local"
  configuration.headers = [try CustomField("X-Recorder", "aula-1")]
}

func sendAll(_ requests: [UploadRequest], _ configuration: Configuration) {
  var observer = UploadObserver()
  observer.onBegin = { print(requests[$0].file.text, "starts") }
  observer.onRecord = { print(requests[$0].file.text, "is upload", $1) }
  observer.onProgress = { print(requests[$0].file.text, $1.deliveredBytes, "of", $1.totalBytes) }
  observer.onAnswer = { print(requests[$0].file.text, "status", $1.status, $1.body) }
  observer.onRetry = { print(requests[$0].file.text, $1.error.message, "again in", $1.delayMilliseconds, "ms") }
  observer.onEnd = { index, result in
    switch result {
    case .success(let delivery): report(delivery)
    case .failure(let error): print(requests[index].file.text, error.message)
    }
  }
  let cancellation = Cancellation()
  var waiting = requests[...]
  Uploader(configuration, jobs: 4).uploadAll(
    next: { waiting.popFirst() }, cancellation: cancellation, observer: observer)
}

func report(_ delivery: Delivery) {
  switch delivery {
  case .sent(let sent):
    print("sent", sent.file.size, "bytes, from", sent.resumedFrom)
    print("SHA-256", sent.file.sha256 ?? "not computed", "confirmed:", sent.receipt.isChecksumVerified)
    print("asset", sent.receipt.assetID ?? 0, "was there before:", sent.receipt.wasAlreadyThere)
  case .deliveredBefore(let previous):
    print("delivered before, as upload", previous.upload, "and asset", previous.assetID ?? 0)
  }
}

func runRecorder(
  _ password: String, finished: () -> [LocalPath], isStopped: () -> Bool, cancellation: Cancellation,
  show: @escaping (String, Int?) -> Void, archive: @escaping (LocalPath, Delivery) -> Void, pause: () -> Void
) throws {
  var configuration = Configuration()
  configuration.credentials = .basic(user: "recorder", password: password)
  configuration.stateDirectory = "/data/uploads"
  configuration.retryLimit = .time(milliseconds: 3600 * 1000)
  configuration.warnings = { print("warning:", $0) }
  let gigHive = try TargetURI("https://gighive")
  let uploader = Uploader(configuration)
  while !isStopped() {
    var waiting = finished()[...]
    let files = Array(waiting)
    var observer = UploadObserver()
    observer.onProgress = { show(files[$0].text, Int($1.deliveredBytes * 100 / $1.totalBytes)) }
    observer.onEnd = { index, result in
      switch result {
      case .success(let delivery): archive(files[index], delivery)
      case .failure(.mayBeStored), .failure(.uncertain): show(files[index].text + ": ask the server", nil)
      case .failure(let error): show(error.message, nil)
      }
    }
    let next = {
      waiting.popFirst().map { file in
        var form = EventForm()
        form.label = "Recording"
        return UploadRequest(file: file, destination: .gigHive(gigHive, form))
      }
    }
    uploader.uploadAll(next: next, mayHaveNext: { !waiting.isEmpty }, cancellation: cancellation, observer: observer)
    pause()
  }
}

func tidy(_ uploader: Uploader, before deadline: Int64) throws {
  for upload in try uploader.records() {
    switch upload.state {
    case .pending where upload.context == "wanted", .failed:
      let request = UploadRequest(resuming: upload, to: .tus(try TargetURI(upload.endpoint)))
      print(upload.id, try uploader.upload(request).assetID ?? 0)
    case .pending: print(upload.id, try uploader.cancel(upload.id) == .keptByServer ? "expires" : "is cancelled")
    case .mayBeStored: print("look at the server for", upload.file.text)
    case .delivered where upload.createdAt < deadline: print(upload.id, try uploader.delete(upload.id))
    case .delivered: break
    case .deleted: try uploader.forget(upload.id)
    }
  }
}

func explain(_ error: UploadError) {
  switch error {
  case .mayBeStored: print("look at the server before you send it again")
  case .refused(let status, let message): print("refused with", status, message)
  case .file(let path, .tooLarge(let size, let limit)): print(path.text, "has", size, "bytes, more than", limit)
  case .tls(let reason, let host): print(host, "is not trusted:", reason)
  case .timedOut(let phase, _, let limit): print("no end of", phase, "within", limit, "ms")
  case .cancelled(let hasSentAll): print(hasSentAll ? "may already be stored" : "nothing was delivered")
  default: print(error.message)
  }
}
