/// A URL in the first line, a reference that was found there in the second.
enum URITarget {
  static func run(_ input: [UInt8]) {
    let lines = input.lines(2)
    guard let base = try? TargetURI(lines[0].text) else { return }
    check(base)
    require((try? base.resolving(base.text)) == base, "a URI is another one when it refers to itself")
    require((try? base.resolving("")) == base, "an empty reference leads elsewhere")
    let below = base.appending("api/x?y=1")
    require(below.origin == base.origin && below.requestTarget.hasSuffix("/api/x?y=1"), "appended to \(below.text)")
    guard let target = try? base.resolving(lines[1].text) else { return }
    check(target)
    checkResolved(target, base, lines[1])
  }

  private static func check(_ uri: TargetURI) {
    require((try? TargetURI(uri.text)) == uri, "\(uri.text) is another URI when it is read again")
    require(uri.text.utf8.count <= Limits.uriLength, "longer than the limit")
    let isVisible = { (byte: UInt8) in byte > 0x20 && byte < 0x7F }
    require(!uri.host.isEmpty && uri.host.utf8.allSatisfy(isVisible), "an invalid host")
    require(!uri.host.utf8.contains { "/?#@[]\\\"<>%,".utf8.contains($0) }, "a host with \(uri.host)")
    require(uri.host.utf8.allSatisfy { !(0x41...0x5A).contains($0) }, "a host in upper case")
    require(uri.port > 0, "port 0")
    if let zone = uri.zone {
      require(uri.host.utf8.contains(0x3A), "a zone of no IPv6 address")
      let isPlain = zone.utf8.allSatisfy { isVisible($0) && !"/?#@[]\\\"<>%,:".utf8.contains($0) }
      require((1...Limits.zoneLength).contains(zone.utf8.count) && isPlain, "a zone that is \(zone)")
      require(
        !uri.authority.contains("%") && !uri.absoluteForm.prefix { $0 != "]" }.contains("%"), "a zone that is sent")
    }
    require(uri.requestTarget.utf8.first == 0x2F, "a target that does not begin with a slash")
    require(uri.requestTarget.utf8.allSatisfy { isVisible($0) && $0 != 0x23 }, "a target that breaks its line")
    let last = uri.lastPathSegment
    require(!last.utf8.contains { $0 == 0x2F || $0 == 0x3F }, "a segment with \(last)")
    let path = Array(uri.requestTarget.utf8.prefix { $0 != 0x3F })
    require(path.suffix(last.utf8.count + 1) == [0x2F] + Array(last.utf8), "the last segment is not \(last)")
    guard let head = try? HTTPRequest(method: "POST", target: uri, fields: []).encodedHead() else { return }
    let lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
    require(lines.count == 4 && lines.dropLast().allSatisfy { $0.last == 0x0D }, "a URI that writes lines")
    require(lines[0].split(separator: 0x20).count == 3, "a URI that breaks the request line")
  }

  private static func checkResolved(_ target: TargetURI, _ base: TargetURI, _ reference: [UInt8]) {
    let isAbsolute = reference.contains(0x3A) || reference.starts(with: "//".utf8)
    if !isAbsolute { require(target.origin == base.origin, "a path that leads to another server") }
    let first = reference.first ?? 0x23
    guard !isAbsolute, first != 0x23, first != 0x3F else { return }
    let path = target.requestTarget.utf8.prefix { $0 != 0x3F }
    let segments = Array(path).split(separator: 0x2F).map { [UInt8]($0) }
    require(!segments.contains { $0 == [0x2E] || $0 == [0x2E, 0x2E] }, "dots left in \(target.requestTarget)")
  }

  static func show(_ input: [UInt8]) -> String {
    let lines = input.lines(2)
    guard let base = try? TargetURI(lines[0].text) else { return "refuse" }
    guard let target = try? base.resolving(lines[1].text) else { return "refuse " + base.text }
    return "accept " + base.text + " " + target.text
  }
}
