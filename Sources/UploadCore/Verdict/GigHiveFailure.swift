/// What GigHive's message of a 500 means. Its status is the same for a failure that passes and for a refusal that does not.
struct GigHiveFailure: Sendable {
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
  ]

  private static let tooLargeForPHP =
    "The file exceeds PHP's upload_max_filesize: raise it in the server's php.ini (2M unless it is set), or send the file"
    + " over tus."

  private init(words: String, problem: UploadError.FormProblem?, remedy: String) {
    self.words = words
    self.problem = problem
    self.remedy = remedy
  }

  /// - Returns: nil for any other response.
  /// - Parameter json: the response's content.
  init?(status: Int, json: JSONValue?) {
    guard status == 500, let json, LikelySoftware.isGigHives(json, status: status) else { return nil }
    let message = Array(ASCII.lowercased(json["message"]?.string ?? "").utf8)
    guard let failure = GigHiveFailure.known.first(where: { ASCII.contains(message, $0.words) }) else { return nil }
    self = failure
  }
}
