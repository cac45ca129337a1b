/// A recording to upload. A number outside the range given with it ends the upload with
/// ``UploadError/invalidConfiguration(field:value:allowed:)`` before anything is sent.
public struct UploadRequest: Sendable {
  /// The recording.
  public var file: LocalPath
  /// The directory that the file was found in, below which no link is followed; nil if the user named the file.
  package var foundBelow: LocalPath?
  /// Whether whoever asks for it finds it again and again: it is not sent without a record, nor if it was delivered to another event.
  package var needsRecord = false
  /// Its status, if whoever asks for it has just looked at it, so that a recording that was delivered need not be looked at twice.
  package var lastSeen: FileSighting?
  /// What was judged to be a finished recording: another file, or one that is being written, is refused with
  /// ``FileError/unsettled(_:)``. nil for a file that a person names.
  package var judged: FileSighting?
  /// The sidecar file that describes it, when it was read; nil if there was none. It goes with the recording.
  package var sidecar: FileSighting?
  /// Where it goes.
  public var destination: Destination
  /// Form fields beyond those of the destination.
  public var extraFields: [FormField] = []
  /// Metadata for a tus server, beside `filename`, `filetype` and the form's fields; a name that is also one of those replaces
  /// it. Names are visible ASCII without commas. At most 4,096 bytes in total. Not sent with a form.
  public var extraMetadata: [FormField] = []
  /// The name of the form field with the file. GigHive accepts only `file`.
  public var fileFieldName = "file"
  /// The name of the file on the server; nil for its own name.
  public var fileName: String? {
    get { fileNameBytes.map { String(decoding: $0, as: UTF8.self) } }
    set { fileNameBytes = newValue.map { Array($0.utf8) } }
  }
  /// The same, not necessarily UTF-8.
  package var fileNameBytes: [UInt8]?
  /// The name of a recording that has got another one while it was made; nil of others.
  package var firstName: [UInt8]?
  /// Sends the recording even if it has been delivered to this destination before.
  public var sendsAgain = false
  /// Whether an upload ends with ``PreviousDelivery/Evidence/comparable`` instead of comparing the content of a delivered file that may have
  /// been changed since: whoever asks for it asks again when nothing is left to send.
  package var defersComparison = false
  /// Whether the date in the event form is a default. A recording that was delivered with another default date, such as yesterday's,
  /// is not sent again.
  public var hasDefaultEventDate = false
  /// The media type; nil to choose it by the file name's extension.
  public var mediaType: String?
  /// The largest file to accept, in bytes, 0 to 10^15; nil for that of GigHive or of an S3 server (5000 GiB), or 10^15 for others.
  public var maximumSize: Int64?
  /// The protocol, if the destination supports several, as GigHive does. Guests' recordings are sent over tus unless it is
  /// ``UploadProtocol/multipart``.
  public var uploadProtocol = UploadProtocol.automatic
  /// The size from which recordings are sent over tus, in bytes, 0 to 10^15.
  public var tusThreshold: Int64 = 100_000_000
  /// The length of tus PATCH requests, in bytes, 1 to 10^15; nil adapts to the server and the network.
  public var chunkLength: Int64?
  /// Sends PATCH as POST with `X-HTTP-Method-Override`.
  public var overridesMethod = false
  /// Sends the length to a tus server only with the first bytes, if it supports that.
  public var defersLength = false
  /// The ID of the upload to resume; nil resumes an upload of this file to this destination, or starts one if there is
  /// none.
  public var upload: String?
  /// Whether a person has chosen the upload named in `upload`, so that it is sent again although it may be stored.
  package var isChosen = true
  /// Data of the caller, kept in the upload's record (``RecordedUpload/context``), at most 1,024 bytes of UTF-8. It must not contain
  /// secrets. When an upload is resumed without a context, its record keeps the earlier one.
  public var context = ""
  /// The command-line options, kept in the upload's record.
  package var note = ""
  /// What to do with the file once it is delivered.
  package var afterDelivery = AfterDelivery()
  /// Sends the recording while it is made: a server that joins parts gets all but the first one while it grows, others get it afterwards. nil
  /// sends the file as it is.
  package var live: LiveSending?
  /// Computes the file's SHA-256 even if the server is not known to confirm it.
  public var computesDigest = false

  /// A request with the defaults named above.
  public init(file: LocalPath, destination: Destination) {
    self.file = file
    self.destination = destination
  }

  /// The error of the first number out of range or metadata that cannot be sent; nil if there is none.
  package var problem: UploadError? {
    var ranges = AllowedRanges()
    ranges.check("maximumSize", maximumSize, in: AllowedRanges.fileSize)
    ranges.check("tusThreshold", tusThreshold, in: AllowedRanges.fileSize)
    ranges.check("chunkLength", chunkLength, in: AllowedRanges.chunkLength)
    ranges.check("context", Int64(context.utf8.count), in: AllowedRanges.contextLength)
    if let problem = ranges.problem { return problem }
    if let field = extraMetadata.first(where: { !TusFields.isKey($0.name) }) {
      return .tus(.invalidMetadataKey(PrintableText.line(field.name)))
    }
    return extraMetadataLength > Limits.metadataLength
      ? .requestHead(.metadataTooLong(limit: Limits.metadataLength)) : nil
  }

  private var extraMetadataLength: Int { extraMetadata.reduce(0) { $0 + $1.name.utf8.count + $1.bytes.count } }

  /// The URL that was given.
  package var base: TargetURI {
    switch destination {
    case .gigHive(let uri, _), .multipart(let uri), .tus(let uri), .put(let uri, _, _), .webDAV(let uri, _): uri
    case .tusUpload(let uri, _): uri
    case .s3(let object): object.url
    }
  }

  /// The URL as records name it.
  package var endpoint: String {
    switch destination {
    case .put(let uri, isSigned: true, _): uri.withoutQuery.text
    case .tusUpload(let uri, isSecret: true): uri.origin + "/" + IndexKey.secret(uri.text)
    default: base.text
    }
  }

  /// Whether somebody else has created the upload on the tus server.
  package var isCreated: Bool { if case .tusUpload = destination { true } else { false } }

  /// Whether it may be sent again when it may be stored: GigHive recognizes it, a PUT replaces it, and WebDAV is asked.
  package var isRepeatable: Bool {
    switch destination {
    case .gigHive, .put, .s3, .webDAV: true
    case .multipart, .tus, .tusUpload: false
    }
  }

  /// The URI to post a multipart form to.
  package var multipartTarget: TargetURI { isForGigHive ? base.appending(GigHiveAPI.uploads) : base }

  /// The URI that creates tus uploads.
  package var tusTarget: TargetURI { isForGigHive ? base.appending(GigHiveAPI.files) : base }

  package var tusOptions: TusUpload.Options {
    var options = TusUpload.Options()
    options.defersLength = defersLength
    options.overridesMethod = overridesMethod
    options.chunkLength = chunkLength
    options.isCreated = isCreated
    return options
  }

  /// Whether it is sent over tus if the server supports that.
  /// - Parameter isGuest: whether the credentials are those of a guest. GigHive takes no forms from guests.
  package func prefersTus(size: Int64, isGuest: Bool) -> Bool {
    switch destination {
    case .tus, .tusUpload: true
    case .multipart, .put, .s3, .webDAV: false
    case .gigHive:
      uploadProtocol == .tus || (uploadProtocol == .automatic && (isGuest || size >= tusThreshold))
    }
  }

  /// Whether it is a form to a plain endpoint that is soon sent: until its last byte, its record need not be on the disk.
  package func isSmallForm(size: Int64) -> Bool {
    guard case .multipart = destination else { return false }
    // The mark of a removal gets to the disk with the record's name.
    return size <= Limits.smallFormLength && afterDelivery.removal == nil
  }

  /// Whether a recording that is too large for a form may be sent over tus.
  package var maySendTus: Bool { isForGigHive && uploadProtocol == .automatic }

  /// Whether only tus is possible.
  package var requiresTus: Bool {
    if case .tus = destination { return true }
    return uploadProtocol == .tus || isCreated
  }

  /// The event that was named for the recording, as a part of its destination; empty if there is none. A form without a date gets a
  /// default later.
  package var event: String {
    guard case .gigHive(_, let form) = destination else { return "" }
    return [hasDefaultEventDate ? "" : form.eventDate, form.orgName].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Whether it ends at once if the recording was delivered before.
  package var endsWithDelivery: Bool { upload == nil && !sendsAgain }

  /// The metadata for a tus server. GigHive gets the form again with the finalize call, so fields that would make the line
  /// longer than servers accept (8 KiB) are left out here.
  package var metadata: [FormField] {
    var pairs = [FormField("filename", bytes: filePart.fileName), FormField("filetype", filePart.mediaType)]
    var length = extraMetadataLength
    for field in fields {
      length += field.name.utf8.count + field.bytes.count
      if isForGigHive, length > Limits.metadataLength { break }
      pairs.append(field)
    }
    return pairs + extraMetadata
  }

  /// Whether the file's SHA-256 is computed: if the server confirms it, if the caller asks for it, or if it decides later whether a file
  /// is the recording that was sent, because a watcher found the file, or because it is to be removed.
  package var computesSHA256: Bool {
    isForGigHive || computesDigest || needsRecord || afterDelivery.removal != nil
  }

  package var isForGigHive: Bool {
    if case .gigHive = destination { true } else { false }
  }

  package var isForS3: Bool { if case .s3 = destination { true } else { false } }

  /// Whether it needs a record, which knows its temporary name on the server.
  package var isForWebDAV: Bool {
    if case .webDAV = destination { true } else { false }
  }

  /// Whether the server may take recordings in parts, which it joins.
  package var joinsParts: Bool { destination.joinsParts && !(isForGigHive && uploadProtocol == .multipart) }

  /// Whether an upload on a tus server is created for it.
  package var isForTus: Bool {
    switch destination {
    case .gigHive, .tus: true
    case .multipart, .tusUpload, .put, .s3, .webDAV: false
    }
  }

  /// Whether it may replace another object.
  package var mayReplace: Bool {
    switch destination {
    case .s3(let object): object.mayReplace
    case .webDAV(_, let mayReplace), .put(_, _, let mayReplace): mayReplace
    default: false
    }
  }

  /// Whether the server does not notice if another recording is replaced, so that only the records tell.
  package var replacesUnasked: Bool { if case .put = destination { !mayReplace } else { false } }

  /// All text fields of the form.
  package var fields: [FormField] {
    switch destination {
    case .gigHive(_, let form): form.fields + extraFields
    case .multipart, .tus: extraFields
    case .put, .s3, .webDAV, .tusUpload: []
    }
  }

  package var filePart: FilePart {
    let name = fileNameBytes ?? firstName ?? Array(file.lastComponentBytes)
    let type = mediaType ?? MediaType.of(fileName: String(decoding: name, as: UTF8.self))
    return FilePart(name: fileFieldName, fileName: name, mediaType: type)
  }

  /// The media type and file name for the server, for comparison with an earlier attempt. Whoever has created an upload has said them.
  package var uploadedAs: String {
    if isCreated { return "" }
    let name = fileNameBytes ?? []
    return (mediaType ?? "") + " " + (String(validating: name, as: UTF8.self) ?? Percent.encode(name))
  }

  package var sizeLimit: Int64 {
    maximumSize ?? (isForGigHive ? Limits.gigHiveFileSize : isForS3 ? Limits.s3ObjectLength : Limits.fileSize)
  }
}

/// Where a recording goes.
public enum Destination: Equatable, Sendable {
  /// A GigHive server's base address, such as `https://gighive`, and the form that describes the recording.
  case gigHive(TargetURI, EventForm)
  /// Any endpoint that accepts multipart/form-data.
  case multipart(TargetURI)
  /// Any tus 1.0 server: the URL that creates uploads.
  case tus(TargetURI)
  /// An upload that somebody else has created on a tus server, for one recording, which continues at the server's offset. No other upload is
  /// created. `isSecret`: whether records and messages leave out its URL.
  case tusUpload(TargetURI, isSecret: Bool)
  /// The URL that the recording gets on a server that takes PUT. `isSigned`: whether its query is a secret, such as a signature, which records
  /// and messages leave out. What the records say that another recording has become or will is not replaced, unless `mayReplace`.
  case put(TargetURI, isSigned: Bool, mayReplace: Bool = false)
  /// An object of an S3 server. ``Credentials/s3(_:)`` sign the requests.
  case s3(S3Object)
  /// The URL that the recording gets on a WebDAV server. It is sent under a temporary name beside it, and directories that are missing are
  /// made. Needs ``Configuration/stateDirectory``. Nothing is replaced, unless `mayReplace`. A Nextcloud gets large recordings in parts.
  case webDAV(TargetURI, mayReplace: Bool = false)
}

extension Destination {
  /// Whether it is the URL that the recording itself gets.
  package var isObject: Bool {
    switch self {
    case .put, .s3, .webDAV: true
    case .gigHive, .multipart, .tus, .tusUpload: false
    }
  }

  /// Whether it may take recordings in parts, which it joins. A tus server says whether it does.
  package var joinsParts: Bool {
    switch self {
    case .s3, .gigHive, .tus: true
    case .webDAV(let target, _): target.inNextcloud != nil
    case .multipart, .tusUpload, .put: false
    }
  }
}

/// The protocol for sending a recording to GigHive.
public enum UploadProtocol: Equatable, Sendable {
  /// tus from ``UploadRequest/tusThreshold`` upward if the server supports it, otherwise multipart.
  case automatic
  /// As one form.
  case multipart
  /// tus only.
  case tus
}

extension Limits {
  /// The most of the caller's metadata, and with it of GigHive's form, in Upload-Metadata; in bytes before Base64.
  static let metadataLength = 4 << 10
  /// A form without a record on the disk before its last byte, in bytes of its file: at 1 MB/s, a power cut forgets it for some seconds.
  package static let smallFormLength: Int64 = 8 << 20
}
