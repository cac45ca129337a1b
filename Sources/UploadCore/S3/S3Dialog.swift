/// What an S3 server must be told with each request about an object, and what it has said about that.
struct S3Dialog: Sendable {
  /// Whether it knows the condition that nothing is replaced.
  private(set) var preventsReplacing: Bool
  private var signing: S3Signing
  /// The one that requests are signed for.
  var region: String { signing.region }
  private var hasCorrectedRegion = false

  init(_ object: S3Object) { self.init(region: object.region, mayReplace: object.mayReplace) }

  init(region: String, mayReplace: Bool = false) {
    preventsReplacing = !mayReplace
    signing = S3Signing(region: region)
  }

  /// - Parameter contentSHA256: of a range of the file that is the content, in lower-case hexadecimal digits; nil for other content.
  func sign(_ request: inout HTTPRequest, contentSHA256: String? = nil) {
    request.signing = signing
    request.signing?.contentSHA256 = contentSHA256
    // Nothing else is signed for another origin.
    request.isConfidential = true
  }

  /// What there is under the object's name.
  func question(about object: TargetURI) -> HTTPRequest {
    let fields = [Field("Cache-Control", "no-cache"), Field("x-amz-checksum-mode", "ENABLED")]
    var head = HTTPRequest(method: "HEAD", target: object, fields: fields)
    sign(&head)
    return head
  }

  /// The condition that nothing is replaced, if the server knows it and it is wanted.
  var condition: [Field] { preventsReplacing ? [Field("If-None-Match", "*")] : [] }

  /// The server does not know the condition.
  mutating func forgetCondition() { preventsReplacing = false }

  /// - Returns: whether to sign the same request again, and to repeat it.
  mutating func learn(from answer: Answer) -> Bool {
    if answer.status >= 300, !hasCorrectedRegion {
      let region = answer.fields.first("x-amz-bucket-region") ?? S3Content.text(of: "Region", in: answer.content)
      if let region, !region.isEmpty, region.utf8.count <= Limits.regionLength, region != signing.region,
        region.utf8.allSatisfy({ $0 > ASCII.space && $0 < ASCII.delete })
      {
        hasCorrectedRegion = true
        signing.region = region
        return true
      }
    }
    if answer.status == 403, signing.serverTime == nil,
      S3Content.text(of: "Code", in: answer.content) == "RequestTimeTooSkewed",
      let time = answer.fields.first("Date").flatMap({ HTTPDate.seconds($0) })
    {
      signing.serverTime = time
      return true
    }
    return false
  }
}
