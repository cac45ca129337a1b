/// What GigHive's message of a refusal means beyond its status. A 500 can be a failure that passes, or a refusal that does not.
struct GigHiveFailure: Sendable {
  private let status: Int
  /// What every such message contains, in lower case.
  private let words: String
  /// Why sending the same again cannot help; nil if it can.
  let problem: UploadError.FormProblem?
  /// What to do about it, in sentences.
  let remedy: String

  /// "Upload failed with code N" is PHP's UPLOAD_ERR.
  private static let known = [
    GigHiveFailure(words: "upload failed with code 1", problem: .tooLarge, remedy: tooLargeForPHP),
    GigHiveFailure(words: "upload failed with code 2", problem: .tooLarge, remedy: tooLargeForPHP),
    GigHiveFailure(
      words: "upload failed with code 3", problem: nil,
      remedy: "The form was cut off on its way to PHP. If it happens again, read the log of the server's web server."),
    GigHiveFailure(
      words: "upload failed with code 6", problem: nil,
      remedy: "PHP has no directory for uploads: set upload_tmp_dir in the server's php.ini."),
    GigHiveFailure(
      words: "upload failed with code 7", problem: nil,
      remedy: "PHP cannot write to the disk of its upload_tmp_dir: free space there, on the server."),
    // MariaDB's errors 2002 and 1045.
    GigHiveFailure(
      words: "[2002]", problem: nil, remedy: "GigHive's database does not run; start it on the server."),
    GigHiveFailure(
      words: "[1045]", problem: nil,
      remedy: "GigHive's database refuses the password that GigHive has for it; correct it on the server."),
    // An SQLSTATE of class 22 (data exception) or 01 (warning) is about a value of the form.
    GigHiveFailure(
      words: "1406 data too long", problem: .valueRefused,
      remedy: "A text is too long for GigHive's database; the message names its column."),
    GigHiveFailure(words: "sqlstate[22", problem: .valueRefused, remedy: refusedValue),
    GigHiveFailure(words: "sqlstate[01", problem: .valueRefused, remedy: refusedValue),
    GigHiveFailure(
      words: "[1049]", problem: nil,
      remedy: "The database server has no database of GigHive's: install GigHive's database there, or correct its name."
    ),
    GigHiveFailure(
      words: "sqlstate[", problem: nil,
      remedy: "GigHive's database failed, as the message says. Its log on the server says more."),
    GigHiveFailure(400, words: "unsupported media type", problem: nil, remedy: recordingsOnly),
  ]

  /// What GigHive takes.
  static let recordingsOnly =
    "GigHive takes only audio and video, by the extension of the name: "
    + MediaType.extensions.joined(separator: ", ") + "."

  private static let refusedValue = "GigHive's database refuses a value of the form; the message names its column."

  private static let tooLargeForPHP =
    "The file exceeds PHP's upload_max_filesize: raise it in the server's php.ini (2M unless it is set), or send the file"
    + " over tus."

  private init(_ status: Int = 500, words: String, problem: UploadError.FormProblem?, remedy: String) {
    self.status = status
    self.words = words
    self.problem = problem
    self.remedy = remedy
  }

  /// - Returns: nil for any other response.
  /// - Parameter json: the response's content.
  init?(status: Int, json: JSONValue?) {
    guard let json, LikelySoftware.isGigHives(json, status: status) else { return nil }
    let message = Array(ASCII.lowercased(json["message"]?.string ?? "").utf8)
    let failure = GigHiveFailure.known.first { $0.status == status && ASCII.contains(message, $0.words) }
    guard let failure else { return nil }
    self = failure
  }
}

/// What GigHive's response to a call other than an upload means.
package enum GigHiveVerdict: Equatable, Sendable {
  /// The recording does not exist, or no longer.
  case absent
  /// 403 to a delete call: the token is unknown.
  case deleteTokenUnknown
  /// The upload is unknown, perhaps not noticed yet.
  case uploadUnknown
  /// GigHive has not noticed that the upload is complete, or never will.
  case uploadNotWritten
  /// GigHive has taken the upload's file out of the tus server, and has no recording of it. Only a new upload helps, unless another
  /// finalize call is still making the recording.
  case uploadTaken
  /// The upload token is unknown or has expired.
  case guestTokenUnknown
  /// The upload token is valid; the call named no upload.
  case guestTokenKnown
  /// An existing recording; nil for unknown values. `mediaPath`: that of its file (``GigHiveAPI/mediaPath(fileType:fileName:sha256:)``).
  case recording(checksum: String?, sizeBytes: Int64?, mediaPath: String?)
  case refused(status: Int, message: String)
}
