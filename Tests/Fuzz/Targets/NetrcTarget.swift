/// A host and perhaps a user on the first line, followed by a netrc file.
enum NetrcTarget {
  static func run(_ input: [UInt8]) {
    let lines = input.lines(2)
    let words = lines[0].split(separator: 0x20).map { [UInt8]($0).text }
    let (host, user) = (words.first ?? "", words.dropFirst().first)
    let file = lines[1]
    let login = Netrc.login(host: host, user: user, in: file)
    if let login, let user { require(login.user == user, "the login of another user") }
    let isPlain = !file.contains { "\"\\#".utf8.contains($0) } && !file.contains(Array("macdef".utf8))
    guard isPlain, String(validating: file, as: UTF8.self) != nil else { return }
    let tokens = file.split { $0 == 0x20 || (0x09...0x0D).contains($0) }.map { [UInt8]($0).text }
    guard let login else { return }
    require(tokens.contains(login.password.text), "a password that is not in the file")
    require(user != nil || tokens.contains(login.user), "a login that is not in the file")
    let isKnown = tokens.contains("default") || tokens.contains { ASCII.equalsIgnoringCase($0.utf8, host.utf8) }
    require(isKnown, "a login of another machine")
    // The first entry wins, whatever comes behind.
    let longer = file + Array("\nmachine \(host.isEmpty ? "x" : host) login other password other\n".utf8)
    if !endsInAWord(tokens) {
      require(Netrc.login(host: host, user: user, in: longer) == login, "a later entry counts")
    }
  }

  /// Whether appended text would become the value of the last word.
  private static func endsInAWord(_ tokens: [String]) -> Bool {
    tokens.last.map { ["machine", "login", "password", "account"].contains($0) } ?? false
  }
}
