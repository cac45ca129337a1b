/// Every capacity of the product in one place. Nothing that a file, a server or a user sends can make the program keep
/// more than these figures say; an error that a limit causes names it.
package enum Limits {
  // MARK: The data's path

  /// The ring buffer through which every byte of a body passes, in bytes. Allocated once for each upload at work.
  package static let ringCapacity = 4 << 20
  /// The most that one `pread` puts into the ring and one write takes from it, in bytes. Measured: runs of 256 KiB cost
  /// a tenth more time over loopback, runs of 128 KiB a fifth (docs/decisions/0001).
  package static let runLength = 512 << 10
  /// What one `sendfile` passes from the page cache to a plain connection, in bytes.
  package static let directLength = 4 << 20
  /// TLS records that are sent with one system call, in bytes. Measured: one call a record costs a third more time.
  package static let recordBatchLength = 256 << 10
  /// `TCP_NOTSENT_LOWAT`: what the kernel may hold of a body beyond what it has sent, in bytes. Measured: 128 KiB cost
  /// 1.4 times the time over loopback, 1 MiB nothing.
  package static let unsentLowWater: Int32 = 1 << 20

  // MARK: Requests

  /// A URL as given on the command line, in bytes (RFC 9110, 4.1 asks for at least 8000).
  package static let uriLength = 8000
  /// A request head with all its fields, in bytes; servers take 8 KiB a line by default.
  package static let requestHeadLength = 16 << 10
  /// The form's text fields together with their framing, in bytes. PHP and ModSecurity take 128 KiB by default.
  package static let formLength = 64 << 10
  /// The content length from which a request asks for `100 (Continue)` first (RFC 9110, 10.1.1), in bytes.
  package static let expectContinueFrom: Int64 = 1 << 20

  // MARK: Responses

  /// One read from the connection, in bytes. A TLS record holds at most as much.
  package static let receiveLength = 16 << 10
  /// A response head: status line and fields, in bytes.
  package static let responseHeadLength = 32 << 10
  /// Fields in a response head.
  package static let fieldCount = 128
  /// Interim (1xx) responses before the final one. tusd sends one every few seconds of a long PATCH.
  package static let interimResponseCount = 1000
  /// A chunk-size line with its extensions, in bytes.
  package static let chunkLineLength = 1024
  /// The trailer section of a chunked body, in bytes.
  package static let trailerLength = 8 << 10
  /// What is kept of a response's content, in bytes, before and after it is decompressed.
  package static let replyLength = 64 << 10
  /// How much more of a response's content is read and dropped before the connection is given up, in bytes.
  package static let replyDrainLength: Int64 = 1 << 20
  /// Arrays and objects inside each other in a JSON text.
  package static let jsonDepth = 64
  /// What is quoted of a server's own words, in characters.
  package static let quotedMessageLength = 300

  // MARK: Time

  /// The longest wait for `100 (Continue)` before the body is sent unasked (RFC 9110, 10.1.1), in milliseconds.
  package static let continueWaitMaximumMilliseconds: Int64 = 1000
  /// The shortest such wait. Between the two it is a multiple of the round trip that the connect took.
  package static let continueWaitMinimumMilliseconds: Int64 = 25
  package static let continueWaitRoundTrips: Int64 = 4

  /// The longest time limit that can be set (a year), in milliseconds.
  package static let timeoutMilliseconds: Int64 = 365 * 24 * 3_600_000
  /// How often progress is looked at and told, in milliseconds.
  package static let progressIntervalMilliseconds: Int64 = 100

  // MARK: Files

  /// The largest file that GigHive itself takes (6 GiB), in bytes.
  package static let gigHiveFileSize: Int64 = 6 << 30
  /// The largest file for other endpoints (1 PB), in bytes: sums of lengths stay far from `Int64.max`.
  package static let fileSize: Int64 = 1_000_000_000_000_000
  /// A file that holds a password or token, in bytes.
  package static let secretFileLength = 4096
  /// A netrc file, in bytes.
  package static let netrcFileLength = 64 << 10
  /// Addresses of one host that are tried.
  package static let addressCount = 16
}
