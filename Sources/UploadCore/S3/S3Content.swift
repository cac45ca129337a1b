/// The content of an S3 server's responses.
enum S3Content {
  /// The text of an element below the root; nil if there is none, or the content is not XML.
  static func text(of name: String, in content: [UInt8]) -> String? {
    var found: String?
    try? visit(content) { path, text in if path.count == 2, path[1] == name, found == nil { found = text } }
    return found
  }

  /// The name of its root; nil if it is not XML.
  static func root(of content: [UInt8]) -> String? {
    var root: String?
    do throws(XMLError) { try visit(content) { path, _ in root = path[0] } } catch { return nil }
    return root
  }

  /// - Parameter body: called with the names of the open elements and the text of the innermost one, at its end.
  static func visit(_ content: [UInt8], _ body: ([String], String) -> Void) throws(XMLError) {
    var reader = XMLReader(content)
    var path: [String] = []
    var text: [UInt8] = []
    while let event = try reader.next() {
      switch event {
      case .start(let name):
        path.append(name)
        text = []
      case .text(let more): text += more
      case .end:
        body(path, String(decoding: text, as: UTF8.self))
        path.removeLast()
        text = []
      }
    }
  }
}

/// A page of ListParts.
package struct S3PartList: Equatable, Sendable {
  package private(set) var parts: [ListedPart] = []
  /// The number behind which the next page begins; nil if this is the last one.
  package private(set) var next: Int?

  /// - Returns: nil if it is none.
  package init?(_ content: [UInt8]) {
    var (isList, isTruncated): (Bool, Bool) = (false, false)
    var (number, size, etag): (Int?, Int64?, String?)
    var (marker, isBroken): (Int?, Bool) = (nil, false)
    var parts: [ListedPart] = []
    do throws(XMLError) {
      try S3Content.visit(content) { path, text in
        // moto has another name for it.
        isList = path[0] == "ListPartsResult" || path[0] == "ListPartsResponse"
        switch path.dropFirst().joined(separator: "/") {
        case "IsTruncated": isTruncated = text == "true"
        case "NextPartNumberMarker": marker = Int(text)
        case "Part/PartNumber": number = Int(text)
        case "Part/Size": size = Int64(text)
        case "Part/ETag": etag = text
        case "Part":
          if let number, let size, let etag, (1...Limits.s3PartNumber).contains(number), size >= 0 {
            parts.append(ListedPart(number: number, size: size, tag: S3Parts.tag(etag)))
          } else {
            isBroken = true
          }
          (number, size, etag) = (nil, nil, nil)
        default: break
        }
      }
    } catch { return nil }
    guard isList, !isBroken, !isTruncated || marker != nil else { return nil }
    self.parts = parts
    next = isTruncated ? marker : nil
  }
}
