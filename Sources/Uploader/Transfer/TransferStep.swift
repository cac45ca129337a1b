import UploadCore

/// What a transfer has come to.
enum TransferStep {
  /// Nothing more is possible for now.
  case wait(Wait)
  /// The last request has gone out as a whole: another one can follow (RFC 9112, 9.3.2).
  case sent
  /// The oldest request was answered, which took so long from its last byte. If another one has followed, the transfer goes on.
  case answered(Response, sent: ContentSent, afterMilliseconds: Int64)
  /// The requests in flight will get no response. The transfer has ended.
  case interrupted(Interruption)
  /// The file's status has changed. Nothing further is sent before the next step.
  case statusChanged(StatusChange)
}
