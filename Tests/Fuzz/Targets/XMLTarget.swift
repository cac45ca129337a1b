/// The content of an S3 server's response.
enum XMLTarget {
  static func run(_ input: [UInt8]) {
    checkList(input)
    checkFiles(input)
    guard let events = events(input) else { return }
    checkBalance(events)
    require(self.events(input + Array("\n<!-- -- x -->".utf8)) == events, "a comment behind the end counts")
    require(self.events(input + Array("x".utf8)) == nil, "accepted text behind the end")
    require(self.events(input + Array("<a/>".utf8)) == nil, "accepted a second root")
    require(self.events(written(events)) == events, "read other events the second time")
    // Nothing but the end of the root closes it; a comment or white space may follow.
    let end = input.lastIndex(of: UInt8(ascii: "<")) ?? 0
    let root = Array(input[..<min(input.chosenPosition, end)])
    if let early = self.events(root) { require(early == events, "accepted the first \(root.count) bytes alone, too") }
  }

  private static func events(_ input: [UInt8]) -> [XMLReader.Event]? {
    var reader = XMLReader(input)
    var events: [XMLReader.Event] = []
    do throws(XMLError) {
      while let event = try reader.next() {
        events.append(event)
        require(events.count <= 2 * input.count, "more events than bytes")
      }
    } catch {
      if case .unexpected(let offset) = error {
        require((0...input.count).contains(offset), "an error at byte \(offset) of \(input.count)")
      }
      return nil
    }
    return events
  }

  private static func checkBalance(_ events: [XMLReader.Event]) {
    var open: [String] = []
    for event in events {
      switch event {
      case .start(let name):
        require(!name.utf8.contains(UInt8(ascii: ":")), "a name with its prefix")
        open.append(name)
      case .text(let text): require(!text.isEmpty && !open.isEmpty, "text outside of the root")
      case .end(let name): require(open.popLast() == name, "the end of another element")
      }
      require(open.count <= Limits.xmlDepth, "too deep")
    }
    require(open.isEmpty && !events.isEmpty, "accepted what does not end")
  }

  private static func written(_ events: [XMLReader.Event]) -> [UInt8] {
    var xml: [UInt8] = []
    for event in events {
      switch event {
      case .start(let name): xml += Array("<\(name)>".utf8)
      case .end(let name): xml += Array("</\(name)>".utf8)
      case .text(let text):
        for byte in text {
          switch byte {
          case UInt8(ascii: "<"): xml += Array("&lt;".utf8)
          case UInt8(ascii: "&"): xml += Array("&amp;".utf8)
          default: xml.append(byte)
          }
        }
      }
    }
    return xml
  }

  private static func checkFiles(_ input: [UInt8]) {
    guard let list = MultiStatus(input) else { return }
    require(events(input) != nil, "files that are not XML")
    for file in list.files { require(!file.name.contains("/"), "a name with a slash: \(file.name)") }
  }

  private static func checkList(_ input: [UInt8]) {
    guard let list = S3PartList(input) else { return }
    require(events(input) != nil, "a list that is not XML")
    for part in list.parts {
      require((1...10_000).contains(part.number) && part.size >= 0, "part \(part.number) of \(part.size) bytes")
    }
  }
}
