@testable import Uploader

/// At least one sample of every error of an upload, for tests of their texts.
enum EveryError {
  static let system = SystemError(code: 13)

  static let file: [FileError] = [
    .missing, .removed, .gone(upload: "5e1f0a77"), .waitingForMedium(upload: "5e1f0a77"), .unreadable(system),
    .notRegular(kind: "a directory"), .empty, .tooLarge(size: 2, limit: 1),
    .readFailed(offset: 1, system), .shrank(size: 2, to: 1), .grew(from: 1, to: 2), .rewritten, .statusChanged,
    .changedInTransit,
    .unsettled(.changed), .unsettled(.beingWritten), .unsettled(.unknown(system)),
  ]

  static let state: [StateError] = [
    .unusable("/state", system), .unusable("/state", SystemError(code: 5)), .locked("/state/directory.lock"),
    .notRegular("/state/directory.lock"), .unsupportedVersion("/state/a.upload"), .noDirectory, .noSuchRecord("a"),
    .ambiguousID("a"),
  ]

  static let tus: [TusError] = [
    .notSupported(status: 404), .notSupported(status: 200), .notSupported(status: 500),
    .versionNotSupported(offered: "0.2.2"), .versionNotSupported(offered: ""),
    .tooLarge(size: 2, limit: 1), .invalidMetadataKey("a b"), .noLocation, .unusableLocation("http://other/"),
    .offsetBeyond(sent: 1, acknowledged: 2), .startsOver(.offsetBeyond(sent: 1, acknowledged: 2)),
    .startsOver(.noOffset(status: 200)), .lengthTruncated(length: 2, stated: 1), .cachedOffset, .noOffset(status: 204),
    .nothingStored(offset: 1),
    .checksumMismatch(offset: 1), .locked,
    .refused(method: "PATCH", status: 405), .refused(method: "POST", status: 400),
    .refused(method: "HEAD", status: 500),
    .refused(method: "POST", status: 204),
    .interrupted, .contentRefused(offset: 1, status: 403),
    .requestsStopped(afterMilliseconds: 60_000), .unproved(status: 404),
    .lengthDiffers(length: 2, stated: 1), .createdForAnother(offset: 1), .createdUploadGone,
  ]

  static let response: [ResponseError] = [
    .notHTTP, .headTooLong(limit: 1), .tooManyFields(limit: 1), .tooManyInterimResponses(limit: 1), .invalidField,
    .invalidContentLength, .unsupportedTransferEncoding, .invalidChunk, .trailerTooLong(limit: 1), .unexpectedUpgrade,
    .incomplete,
  ]

  /// With all codes of OpenSSL 3 for certificates, and all alerts of TLS.
  static let tls: [TLSError] =
    (1...100).map { .certificate(code: $0, reason: "no") } + (0...130).map { .alert($0, words: "no") } + [
      .chain(.expiredIssuer(name: "R1", place: 2, day: "2026-01-01"), reason: "no"),
      .chain(.expiredAuthority(name: "R1"), reason: "no"),
      .chain(.missingIssuer(name: "R1"), reason: "no"), .chain(.unknownAuthority(name: "R1"), reason: "no"),
      .chain(.foreign(hosts: "other"), reason: "no"),
      .pinMismatch(actual: "sha256//AAAA"), .handshake(reason: "wrong version number"),
      .handshake(reason: "unsupported protocol"), .handshake(reason: "no shared cipher"), .handshake(reason: "other"),
      .closedDuringHandshake, .broken(reason: "bad record mac"), .truncated,
      .unusableFile(path: "/ca.pem", reason: "no start line"), .unusablePin("sha256//A"), .outOfMemory,
    ]

  static let header: [CustomFieldError] = [
    .noColon, .invalidName, .invalidValue(name: "X"), .reserved(name: "Host"), .secret(name: "Cookie"),
    .repeated(name: "X"), .tooLong(limit: 1),
  ]

  static let phases: [UploadPhase] = [
    .resolving, .connecting, .tunnelling, .handshaking, .sending, .awaitingConfirmation, .awaitingAnswer, .delivering,
  ]

  static let redirections: [UploadError.RedirectionProblem] = [
    .leavesTLS, .loginPage, .circle, .tooMany(limit: 5), .noAddress,
  ]

  static let changes: [FileChange] = [.size(from: 1, to: 2), .content, .modificationTime]

  static let statuses = [
    200, 400, 401, 403, 404, 405, 407, 408, 409, 410, 413, 415, 422, 423, 426, 429, 500, 501, 503, 511,
  ]

  static var samples: [UploadError] {
    var errors: [UploadError] = [
      .invalidConfiguration(field: "retryLimit", value: -1, allowed: 0...1_000_000), .form(.missingLabel),
      .form(.invalidEventDate("x")), .form(.unknownToday), .form(.unknownEventType("x")),
      .form(.tooLong(field: "label", count: 256, limit: 255)), .form(.invalidRating("x")),
      .formData(.fieldsTooLong(limit: 1)), .formData(.invalidMediaType("x")),
      .requestHead(.invalidField(name: "X")), .requestHead(.tooLong(limit: 1)),
      .requestHead(.metadataTooLong(limit: 1)), .requestHead(.noKeys),
      .conflict(upload: "a"),
      .noSuchName(host: "hive"), .noSuchName(host: "fe80::1%eth7"),
      .noLocalName(host: "hive.local", interfaces: ["eth0", "wlan0"]), .noLocalName(host: "hive.local", interfaces: []),
      .noResolver(host: "hive"), .notConnected(host: "hive", address: "192.0.2.1:443", system),
      .redirected(status: 302, location: "http://other/"), .redirected(status: 303, location: "/there"),
      .redirected(status: 302, location: ""), .refused(status: 403, message: ""),
      .objectExists, .objectRecorded(upload: "5e1f0a77"), .objectReplaced,
      .serverDirectoryMissing(status: 409),
      .signatureRefused(status: 403, message: "AccessDenied: Request has expired"),
      .checksumDiffers(sent: "a", stored: "b"),
      .sizeDiffers(sent: 1, stored: 2), .unconfirmed(status: 200), .stillProcessing, .prematureSuccess(status: 200),
      .mayBeStored(.timedOut(.awaitingConfirmation, peer: "192.0.2.1:443", limitMilliseconds: 1000)),
      .mayBeStored(.refused(status: 502, message: "No way!")), .mayBeStored(.uploadLost), .uncertain(upload: "a"),
      .guestTokenRefused, .termsNotAccepted,
      .postponed(.refused(status: 502, message: ""), untilSeconds: 1_800_000_000, .sentRepeatedly(count: 3)),
      .postponed(.refused(status: 503, message: "No way!"), untilSeconds: 1_800_000_000, .serverAsked),
      .uploadLost, .cancelled(hasSentAll: false), .cancelled(hasSentAll: true), .outOfResources("memory"),
      .internalError("an upload was told of a digest while waiting"),
    ]
    errors += file.map { .file("a.mp4", $0) }
    errors += changes.map { .changed("a.mp4", $0, upload: "a") }
    errors += state.map { .state($0) }
    errors += phases.map { .timedOut($0, peer: "192.0.2.1:443", limitMilliseconds: 1000) }
    errors += phases.map { .connectionLost($0, peer: "192.0.2.1:443", system) }
    errors.append(.connectionLost(.sending, peer: "192.0.2.1:443", nil))
    errors += tls.map { .tls($0, host: "hive") }
    errors += response.map { .invalidResponse($0, peer: "192.0.2.1:443") }
    errors += UploadError.FormProblem.allCases.map { .formDropped(status: 200, message: "No way!", $0) }
    errors += statuses.map { .refused(status: $0, message: "No way") }
    errors += redirections.map { .redirectionRefused(location: "http://other/", $0) }
    errors += [200, 404, 410, 502].map { .notFromServer(status: $0) }
    errors += [403, 407, 502].map { .proxyRefused(status: $0, proxy: "proxy:3128", hadCredentials: false) }
    errors.append(.proxyRefused(status: 407, proxy: "proxy:3128", hadCredentials: true))
    errors.append(.proxyUnusable(source: "$ALL_PROXY"))
    errors += [false, true].map { .addressExcluded(host: $0 ? "2001:db8::7" : "192.0.2.7", isIPv6: $0) }
    errors += [1, 2, 16].map {
      .congestionControlRefused(name: "bbr", available: "reno cubic", allowed: "reno", SystemError(code: $0))
    }
    errors.append(.congestionControlRefused(name: "bbr", available: "", allowed: "", SystemError(code: 1)))
    errors += tus.map { .tus($0) }
    errors += header.map { .requestHead(.header($0)) }
    return errors
  }

  /// The name of an error's case. The compiler requires new cases here, and ``caseCount`` requires a sample of each.
  static func name(of error: UploadError) -> String {
    switch error {
    case .invalidConfiguration: "invalidConfiguration"
    case .form: "form"
    case .formData: "formData"
    case .requestHead: "requestHead"
    case .file: "file"
    case .changed: "changed"
    case .state: "state"
    case .conflict: "conflict"
    case .noSuchName: "noSuchName"
    case .noLocalName: "noLocalName"
    case .noResolver: "noResolver"
    case .notConnected: "notConnected"
    case .congestionControlRefused: "congestionControlRefused"
    case .timedOut: "timedOut"
    case .connectionLost: "connectionLost"
    case .tls: "tls"
    case .mayBeStored: "mayBeStored"
    case .uncertain: "uncertain"
    case .invalidResponse: "invalidResponse"
    case .refused: "refused"
    case .formDropped: "formDropped"
    case .redirected: "redirected"
    case .redirectionRefused: "redirectionRefused"
    case .proxyUnusable: "proxyUnusable"
    case .addressExcluded: "addressExcluded"
    case .proxyRefused: "proxyRefused"
    case .objectExists: "objectExists"
    case .objectRecorded: "objectRecorded"
    case .objectReplaced: "objectReplaced"
    case .serverDirectoryMissing: "serverDirectoryMissing"
    case .signatureRefused: "signatureRefused"
    case .checksumDiffers: "checksumDiffers"
    case .sizeDiffers: "sizeDiffers"
    case .notFromServer: "notFromServer"
    case .guestTokenRefused: "guestTokenRefused"
    case .termsNotAccepted: "termsNotAccepted"
    case .unconfirmed: "unconfirmed"
    case .stillProcessing: "stillProcessing"
    case .prematureSuccess: "prematureSuccess"
    case .tus: "tus"
    case .uploadLost: "uploadLost"
    case .postponed: "postponed"
    case .cancelled: "cancelled"
    case .outOfResources: "outOfResources"
    case .internalError: "internalError"
    }
  }

  /// How many names there are.
  static let caseCount = 45
}
