/// A recording to be delivered. Numbers out of the range that is named with them end its upload with
/// ``UploadError/invalidConfiguration(field:value:allowed:)`` before anything is sent.
public struct UploadRequest: Sendable {
  /// The recording.
  public var file: LocalPath
  /// Where it goes.
  public var destination: Destination
  /// Form fields beyond those of the destination.
  public var extraFields: [FormField] = []
  /// The name of the form's part that carries the file. GigHive takes no other than `file`.
  public var fileFieldName = "file"
  /// What the file is called on the server; nil for its own name.
  public var fileName: String? {
    get { fileNameBytes.map { String(decoding: $0, as: UTF8.self) } }
    set { fileNameBytes = newValue.map { Array($0.utf8) } }
  }
  /// The same, not necessarily in UTF-8.
  package var fileNameBytes: [UInt8]?
  /// Its media type; nil for the one that belongs to the file name's extension.
  public var mediaType: String?
  /// Larger files are refused, in bytes, 0 to 10^15; nil for GigHive's own limit there, and 10^15 elsewhere.
  public var maximumSize: Int64?
  /// Where both are possible, as on GigHive.
  public var uploadProtocol = UploadProtocol.automatic
  /// The size in bytes from which a recording goes by tus, 0 to 10^15.
  public var tusThreshold: Int64 = 100_000_000
  /// The length of all PATCH requests of tus, in bytes, 1 to 10^15; nil lets it adapt to the server and the network.
  public var chunkLength: Int64?
  /// Sends PATCH as POST with `X-HTTP-Method-Override`.
  public var overridesMethod = false
  /// Tells a tus server the length with the first bytes only, if it offers that.
  public var defersLength = false
  /// The ID of the upload to go on with; nil looks for one of this file to this destination, and begins one if there is
  /// none.
  public var upload: String?
  /// Is kept in the upload's record for the caller, such as the options of a command line. No secrets.
  public var note = ""
  /// Computes the file's SHA-256 also where the server is not known to confirm it.
  public var computesDigest = false

  /// A request with the defaults named above.
  public init(file: LocalPath, destination: Destination) {
    self.file = file
    self.destination = destination
  }

  /// Checks the numbers.
  /// - Returns: what is wrong with the first that is out of its range.
  package var problem: UploadError? {
    var settings = Settings()
    settings.check("maximumSize", maximumSize, in: Settings.fileSize)
    settings.check("tusThreshold", tusThreshold, in: Settings.fileSize)
    settings.check("chunkLength", chunkLength, in: Settings.chunkLength)
    return settings.problem
  }

  /// The URL that was given.
  package var base: TargetURI {
    switch destination {
    case .gigHive(let uri, _), .multipart(let uri), .tus(let uri): uri
    }
  }

  /// Where a multipart form is posted to.
  package var multipartTarget: TargetURI { isForGigHive ? base.appending(GigHiveAPI.uploads) : base }

  /// Where tus uploads are created.
  package var tusTarget: TargetURI { isForGigHive ? base.appending(GigHiveAPI.files) : base }

  package var tusOptions: TusUpload.Options {
    var options = TusUpload.Options()
    options.defersLength = defersLength
    options.overridesMethod = overridesMethod
    options.chunkLength = chunkLength
    return options
  }

  /// Does it go by tus, if the server speaks that?
  package func prefersTus(size: Int64) -> Bool {
    switch destination {
    case .tus: true
    case .multipart: false
    case .gigHive:
      uploadProtocol == .tus || (uploadProtocol == .automatic && size >= tusThreshold)
    }
  }

  /// Is there no other way?
  package var mustSpeakTus: Bool {
    if case .tus = destination { return true }
    return uploadProtocol == .tus
  }

  /// Is there a record of it? What a plain endpoint has received cannot be gone on with.
  package var isRecorded: Bool {
    if case .multipart = destination { false } else { true }
  }

  /// What a tus server is told of the file. GigHive gets the form once more with the finalize call: what would make the
  /// field longer than servers take (8 KiB a line) is left to that.
  package var metadata: [FormField] {
    var pairs = [FormField("filename", bytes: filePart.fileName), FormField("filetype", filePart.mediaType)]
    var length = 0
    for field in fields {
      length += field.name.utf8.count + field.bytes.count
      if isForGigHive, length > Limits.metadataLength { break }
      pairs.append(field)
    }
    return pairs
  }

  /// Is the file's SHA-256 computed?
  package var computesSHA256: Bool { isForGigHive || computesDigest }

  package var isForGigHive: Bool {
    if case .gigHive = destination { true } else { false }
  }

  /// All text fields of the form.
  package var fields: [FormField] {
    switch destination {
    case .gigHive(_, let form): form.fields + extraFields
    case .multipart, .tus: extraFields
    }
  }

  package var filePart: FilePart {
    let name = fileNameBytes ?? Array(file.lastComponentBytes)
    let type = mediaType ?? MediaType.of(fileName: String(decoding: name, as: UTF8.self))
    return FilePart(name: fileFieldName, fileName: name, mediaType: type)
  }

  /// What the caller wants the server to be told of the file, to be compared with that of an earlier try.
  package var uploadedAs: String {
    let name = fileNameBytes ?? []
    return (mediaType ?? "") + " " + (String(validating: name, as: UTF8.self) ?? Percent.encode(name))
  }

  package var sizeLimit: Int64 { maximumSize ?? (isForGigHive ? Limits.gigHiveFileSize : Limits.fileSize) }
}
