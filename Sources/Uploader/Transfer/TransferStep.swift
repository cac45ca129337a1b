import UploadCore

/// The result of a step of a transfer.
enum TransferStep {
  /// Nothing more is possible for now.
  case wait(Wait)
  /// The last request was sent completely. Another one can be pipelined (RFC 9112, 9.3.2).
  case sent
  /// The oldest request was answered, this long after its last byte. If another one is pipelined, the transfer continues.
  case answered(Response, sent: ContentSent, afterMilliseconds: Int64)
  /// The requests in flight will get no response. The transfer has ended.
  case interrupted(Interruption)
  /// The last byte of a request that announces it is about to be sent. Nothing is sent before the next step.
  case lastByteNext
  /// The file's status has changed. Nothing is sent before the next step.
  case statusChanged(StatusChange)
}
