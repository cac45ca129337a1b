/// Who wrote a response, as far as the response proves it, and what it then means.
///
/// Proxies, firewalls and captive portals sit between client and server, and each can answer in the server's place. What an
/// upload believes, records, forgets or reports as done depends on the origin of the response. The rules are in `Verdict+Tus.swift` and
/// `Verdict+GigHive.swift`, and those for the confirmation of a form in ``UploadConfirmation``.
package enum Verdict: Equatable, Sendable {
  /// A tus server: the response has `Tus-Resumable` or `Upload-Offset`, which nothing else sends.
  case tus(TusVerdict)
  /// GigHive: the content is JSON as written by its programs.
  case gigHive(GigHiveVerdict)
  /// No proof of either.
  case somebodyElse(status: Int)
}
