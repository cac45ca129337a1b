/// A proxy as an environment variable names it, the hosts that are reached without it, and a target; a line each.
enum ProxyTarget {
  static func run(_ input: [UInt8]) {
    let lines = input.lines(3)
    guard let proxy = try? Proxy(variable: lines[0].text) else { return }
    let isVisible = { (byte: UInt8) in byte > 0x20 && byte < 0x7F }
    require(!proxy.host.isEmpty && proxy.port > 0 && proxy.host.utf8.allSatisfy(isVisible), "an invalid proxy")
    if let authorization = proxy.authorization {
      require(Field("Proxy-Authorization", authorization).isSendable, "credentials that write lines")
      require(lines[0].contains(UInt8(ascii: "@")), "credentials out of nothing")
    }
    guard let target = try? TargetURI(lines[2].text) else { return }
    checkExceptions(lines[1], proxy, target)
  }

  private static func checkExceptions(_ line: [UInt8], _ proxy: Proxy, _ target: TargetURI) {
    var settings = ProxySettings()
    (settings.http, settings.https) = (proxy, proxy)
    func isDirect(_ exceptions: String) -> Bool {
      settings.exceptions = exceptions
      return settings.proxy(for: target) == nil
    }
    require(!isDirect(""), "no proxy although there are no exceptions")
    let isNamed = target.host.utf8.first != UInt8(ascii: ".")
    require(isDirect("*") && (!isNamed || isDirect(target.authorityWithPort)), "a proxy for an exception")
    let elements = line.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || (0x09...0x0D).contains($0) }.map {
      [UInt8]($0).text
    }
    let direct = isDirect(line.text)
    require(isDirect(elements.reversed().joined(separator: ", ")) == direct, "the order counts")
    require(elements.contains { isDirect($0) } == direct, "one by one the exceptions are others")
    require(isDirect(line.text.uppercasedASCII) == direct, "upper case counts")
    if direct { require(isDirect(line.text + ",other"), "another exception takes one away") }
  }
}

extension String {
  fileprivate var uppercasedASCII: String {
    String(decoding: utf8.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
  }
}
