/// The keys of one profile in a file such as `~/.aws/credentials`.
package enum S3Profile {
  /// - Parameter name: the section, such as "default".
  /// - Returns: nil if there is no such section, or one of the two keys is missing.
  package static func keys(_ name: String, in text: [UInt8]) -> S3Keys? {
    var isInside = false
    var (id, secret, token): (String?, String?, String?)
    for line in text.split(whereSeparator: { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }) {
      let line = Array(ASCII.trimmed(line))
      guard let first = line.first, first != ASCII.numberSign, first != ASCII.semicolon else { continue }
      if first == UInt8(ascii: "[") {
        let section = line.dropFirst().prefix { $0 != UInt8(ascii: "]") }
        isInside = Array(ASCII.trimmed(section)).elementsEqual(name.utf8)
        continue
      }
      guard isInside, let equals = line.firstIndex(of: UInt8(ascii: "=")),
        let value = String(validating: ASCII.trimmed(line[(equals + 1)...]), as: UTF8.self), !value.isEmpty
      else { continue }
      switch String(decoding: ASCII.trimmed(line[..<equals]), as: UTF8.self) {
      case "aws_access_key_id": id = value
      case "aws_secret_access_key": secret = value
      case "aws_session_token": token = value
      default: break
      }
    }
    guard let id, let secret else { return nil }
    return S3Keys(id: id, secret: secret, sessionToken: token)
  }
}
