import CShims
import UploadCore

/// Where a recording goes.
public enum Destination: Equatable, Sendable {
  /// A GigHive server's base address, such as `https://gighive`, and the form that the recording is filed under.
  case gigHive(TargetURI, EventForm)
  /// Any endpoint that takes multipart/form-data.
  case multipart(TargetURI)
}

/// A recording to be delivered.
public struct UploadRequest: Sendable {
  public var file: FilePath
  public var destination: Destination
  /// Form fields beyond those of the destination.
  public var extraFields: [FormField] = []
  /// The name of the form's part that carries the file. GigHive takes no other than `file`.
  public var fileFieldName = "file"
  /// What the file is called on the server; nil for its own name.
  public var fileName: String?
  /// nil for the one that belongs to the file name's extension.
  public var mediaType: String?
  /// Larger files are refused, in bytes; nil for GigHive's own limit there, and none elsewhere.
  public var maximumSize: Int64?
  /// Computes the file's SHA-256 also where the server is not known to confirm it.
  public var computesDigest = false

  public init(file: FilePath, destination: Destination) {
    self.file = file
    self.destination = destination
  }

  /// The URL that is posted to.
  var target: TargetURI {
    switch destination {
    case .gigHive(let base, _): base.appending("api/uploads.php?ui=json")
    case .multipart(let uri): uri
    }
  }

  var isForGigHive: Bool {
    if case .gigHive = destination { true } else { false }
  }

  /// All text fields of the form.
  var fields: [FormField] {
    switch destination {
    case .gigHive(_, let form): form.fields + extraFields
    case .multipart: extraFields
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
