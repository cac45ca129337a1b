/// A change of an upload's record that must be on disk before the upload continues.
package enum RecordChange: Equatable, Sendable {
  /// The server has created an upload at this URL.
  case created(location: String, expires: String?)
  /// The upload is at this URL, not where the server says that it is.
  case moved(location: String)
  /// The upload's last byte is about to be sent: the server may have the whole file from now on.
  case lastByteNext
  /// The last byte of a form is about to be sent: the server may store it from now on, and cannot be asked.
  case mayBeStored
  /// The server has not stored that form, which is sent again.
  case notStored
  /// GigHive has the whole form, and will process the recording under this number.
  case processing(assetID: Int64)
  /// The part on the server is of the file as it is now.
  case continued
  /// The server has every byte.
  case uploaded
  /// The upload on the server is no longer usable.
  case forgotten
  /// Nor is it, because what the server says of it cannot be: the server is not trusted with the only copy.
  case disproved
  /// What gets the content past something that refuses it.
  case detours(TusDetours)
  /// The server's cookies for the upload.
  case cookies(Cookies)
  /// So much was sent without a result. The offset is the last known one on the server, in bytes.
  case failedFullSends(FullSends, offset: Int64)

  /// Whether the upload must not continue before it is saved. A form is delivered without its record, too: what is lost is the
  /// protection against sending it twice.
  package var mustBeSaved: Bool {
    switch self {
    case .mayBeStored, .notStored, .processing, .continued: false
    case .created, .moved, .lastByteNext, .uploaded, .forgotten, .disproved, .detours, .cookies, .failedFullSends: true
    }
  }

  /// The change with secrets that the server repeated redacted. URLs are not changed, because resuming needs them.
  package func redacted(_ secrets: Secrets) -> RecordChange {
    switch self {
    case .created(let location, let expires): .created(location: location, expires: expires.map { secrets.line($0) })
    case .moved, .lastByteNext, .mayBeStored, .notStored, .processing, .continued, .uploaded, .forgotten, .disproved,
      .detours, .cookies, .failedFullSends:
      self
    }
  }
}
