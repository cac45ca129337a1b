import CShims
import UploadCore

/// Where a recording goes.
public enum Destination: Equatable, Sendable {
  /// A GigHive server's base address, such as `https://gighive`, and the form that the recording is filed under.
  case gigHive(TargetURI, EventForm)
  /// Any endpoint that takes multipart/form-data.
  case multipart(TargetURI)
  /// Any tus 1.0 server: where it creates uploads.
  case tus(TargetURI)
}

/// How a recording goes to GigHive.
public enum DeliveryProtocol: Equatable, Sendable {
  /// By tus from ``UploadRequest/tusThreshold`` upward, if the server speaks it.
  case automatic
  /// As one form.
  case multipart
  /// By tus, or not at all.
  case tus
}

/// A recording to be delivered.
public struct UploadRequest: Sendable {
  /// The recording.
  public var file: FilePath
  /// Where it goes.
  public var destination: Destination
  /// Form fields beyond those of the destination.
  public var extraFields: [FormField] = []
  /// The name of the form's part that carries the file. GigHive takes no other than `file`.
  public var fileFieldName = "file"
  /// What the file is called on the server; nil for its own name.
  public var fileName: String?
  /// Its media type; nil for the one that belongs to the file name's extension.
  public var mediaType: String?
  /// Larger files are refused, in bytes; nil for GigHive's own limit there, and none elsewhere.
  public var maximumSize: Int64?
  /// Where both are possible, as on GigHive.
  public var deliveryProtocol = DeliveryProtocol.automatic
  /// The size in bytes from which a recording goes by tus.
  public var tusThreshold: Int64 = 100_000_000
  /// The length of all PATCH requests of tus, in bytes; nil lets it adapt to the server and the network.
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
  public init(file: FilePath, destination: Destination) {
    self.file = file
    self.destination = destination
  }

  /// The URL that was given.
  var base: TargetURI {
    switch destination {
    case .gigHive(let uri, _), .multipart(let uri), .tus(let uri): uri
    }
  }

  /// Where a multipart form is posted to.
  var multipartTarget: TargetURI { isForGigHive ? base.appending(GigHiveAPI.uploads) : base }

  /// Where tus uploads are created.
  var tusTarget: TargetURI { isForGigHive ? base.appending(GigHiveAPI.files) : base }

  var tusOptions: TusUpload.Options {
    var options = TusUpload.Options()
    options.defersLength = defersLength
    options.overridesMethod = overridesMethod
    options.chunkLength = chunkLength
    return options
  }

  /// Does it go by tus, if the server speaks that?
  func prefersTus(size: Int64) -> Bool {
    switch destination {
    case .tus: true
    case .multipart: false
    case .gigHive:
      deliveryProtocol == .tus || (deliveryProtocol == .automatic && size >= tusThreshold)
    }
  }

  /// Is there no other way?
  var mustSpeakTus: Bool {
    if case .tus = destination { return true }
    return deliveryProtocol == .tus
  }

  /// Is there a record of it? What a plain endpoint has received cannot be gone on with.
  var isRecorded: Bool {
    if case .multipart = destination { false } else { true }
  }

  /// What a tus server is told of the file. GigHive gets the form once more with the finalize call: what would make the
  /// field longer than servers take (8 KiB a line) is left to that.
  var metadata: [FormField] {
    var pairs = [FormField("filename", filePart.fileName), FormField("filetype", filePart.mediaType)]
    var length = 0
    for field in fields {
      length += field.name.utf8.count + field.value.utf8.count
      if isForGigHive, length > Limits.metadataLength { break }
      pairs.append(field)
    }
    return pairs
  }

  var isForGigHive: Bool {
    if case .gigHive = destination { true } else { false }
  }

  /// All text fields of the form.
  var fields: [FormField] {
    switch destination {
    case .gigHive(_, let form): form.fields + extraFields
    case .multipart, .tus: extraFields
    }
  }

  var filePart: FilePart {
    let name = fileName ?? file.lastComponent
    return FilePart(name: fileFieldName, fileName: name, mediaType: mediaType ?? MediaType.of(fileName: name))
  }

  var sizeLimit: Int64 { maximumSize ?? (isForGigHive ? Limits.gigHiveFileSize : Limits.fileSize) }
}

extension EventForm {
  /// Today where this machine stands, YYYY-MM-DD.
  package static func today() -> String {
    var (year, month, day): (Int32, Int32, Int32) = (0, 0, 0)
    shim_local_date(&year, &month, &day)
    return calendarDay(year: Int(year), month: Int(month), day: Int(day))
  }
}
