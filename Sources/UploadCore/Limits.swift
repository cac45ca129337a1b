/// Every capacity of the product in one place. Nothing that a file, a server or a user sends can make the program keep
/// more than these figures say; an error that a limit causes names it.
package enum Limits {
  // MARK: The data's path

  /// The ring buffers through which every byte of a body passes, in bytes. Allocated once, and divided among the uploads that
  /// are at work at a time.
  package static let ringCapacity = 4 << 20
  /// The most that one `pread` puts into the ring and one write takes from it, in bytes. Measured: runs of 256 KiB cost
  /// a tenth more time over loopback, runs of 128 KiB a fifth (docs/decisions/0001).
  package static let runLength = 512 << 10
  /// The same where a second thread digests: one run is sent while the one before it is digested (docs/decisions/0006).
  package static let hashedRunLength = 256 << 10
  /// From this many bytes of a file on there is a second thread: some runs.
  package static let hashThreadFrom: Int64 = 2 << 20
  /// The least of it that each of several uploads at a time has, in bytes.
  package static let runMinimumLength = 64 << 10
  /// What one `sendfile` passes from the page cache to a plain connection, in bytes.
  package static let sendfileLength = 4 << 20
  /// TLS records that are sent with one system call, in bytes. Measured: one call a record costs a third more time.
  package static let recordBatchLength = 256 << 10
  /// The content of a full TLS record, and what may be added to it (RFC 8446, 5.2; 85 by AES-CBC of TLS 1.2), in bytes.
  package static let recordContentLength = 16 << 10
  package static let recordOverhead = 96
  /// The least of it that each of several uploads at a time has: two records, in bytes.
  package static let recordBatchMinimumLength = 40 << 10
  /// `TCP_NOTSENT_LOWAT`: what the kernel may hold of a body beyond what it has sent, in bytes. Measured: 128 KiB cost
  /// 1.4 times the time over loopback, 1 MiB nothing.
  package static let unsentLowWater: Int32 = 1 << 20

  // MARK: Requests

  /// The longest URL, in bytes (RFC 9110, 4.1 asks for at least 8000).
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
  /// Reads from a connection in one step of a transfer, so that a server that never stops talking does not keep others, and
  /// the clock, from their turn.
  package static let receiveCount = 128
  /// Messages of TLS itself, such as session tickets, that one read from a connection passes over.
  package static let tlsMessageCount = 32
  /// A response head: status line and fields, in bytes.
  package static let responseHeadLength = 32 << 10
  /// Fields in a response head.
  package static let fieldCount = 128
  /// Interim (1xx) responses while the content does not advance. tusd sends one every few seconds of a long PATCH.
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

  // MARK: tus

  /// What an interruption of a tus upload can cost until the server is known: one PATCH request, in bytes.
  package static let chunkStartLength: Int64 = 8 << 20
  /// After so many bytes without an interruption PATCH requests grow, in bytes.
  package static let chunkGrowsAfter: Int64 = 256 << 20
  /// The longest PATCH to a server that has not shown that it keeps what it got of an interrupted one, in bytes.
  /// Cloudflare takes 100 MB.
  package static let chunkMaximumLength: Int64 = 95_000_000
  /// A PATCH of this length that is still too large for the server is not halved any more, in bytes.
  package static let chunkMinimumLength: Int64 = 64 << 10
  /// An interrupted PATCH of which the server had acknowledged so much, and kept nothing, was spooled; in bytes.
  package static let chunkSpoolEvidence: Int64 = 256 << 10
  /// What goes along with the creation of an upload, in bytes. Little, because it is lost if the answer is.
  package static let creationUploadLength: Int64 = 1 << 20
  /// From this time for an answer on, the next PATCH is sent before the last one is answered, in milliseconds.
  package static let pipelineFromMilliseconds: Int64 = 20
  /// After so many connections that ended meanwhile it no longer is.
  package static let pipeliningFailureCount = 2
  /// What of GigHive's form goes into Upload-Metadata, in bytes before base 64.
  package static let metadataLength = 4 << 10
  /// How often in a row the server may disagree about the offset.
  package static let disagreementCount = 8

  // MARK: State

  /// A state record, in bytes: a form of the longest, percent-encoded, and some addresses.
  package static let recordLength = 256 << 10
  /// A server's text that goes into a record, such as a delete token, in bytes. Longer ones are not kept.
  package static let serverTextLength = 1024
  /// What is kept free for a record's last write beyond what it has when the upload begins, in bytes: a delete token, every byte
  /// of it escaped, and a checksum.
  package static let recordReserveLength = 8 << 10
  /// The capacity of the index, as a power of two: 1024 slots of 16 bytes, up to 256 MiB.
  package static let indexMinimumBits: UInt64 = 10
  package static let indexMaximumBits: UInt64 = 24
  /// Entries of the index that are read at a time, for one key and for all.
  package static let indexProbeSlots = 32
  package static let indexReadSlots = 4096
  /// Records that the index has for one key and that are looked into: copies of one file in many directories have the same.
  package static let indexCandidateCount = 64
  /// Records whose order is known at a time where all are shown; as many again are held.
  package static let orderedRecordCount = 8192
  /// How long the directory's lock is waited for, and how long the pause between two tries is, in milliseconds.
  package static let stateLockMilliseconds: Int64 = 5000
  package static let stateLockPauseMilliseconds: Int64 = 20
  /// What the file's identity takes from either end of it, in bytes.
  package static let edgeLength = 64 << 10
  /// Uploads at the same time. Each has its part of the ring, which must hold a TLS record.
  package static let jobCount: Int64 = 16

  // MARK: Retries

  /// Origins that are remembered for closing connections without saying so.
  package static let avoidedOriginCount = 8

  /// Redirections of one request that are followed.
  package static let redirectCount = 5
  /// Redirects of all requests of an upload that are followed before it gets further.
  package static let redirectCountInAll = 50

  /// The first delay before another try is at most so long, and doubles from try to try; in milliseconds.
  package static let retryBaseMilliseconds: Int64 = 1000
  /// The most tries that can be asked for after a failed one.
  package static let retryCount: Int64 = 1_000_000
  /// The longest delay that a server's Retry-After is obeyed for, in milliseconds (an hour).
  package static let retryAfterMilliseconds: Int64 = 3_600_000

  // MARK: Time

  /// The longest wait for `100 (Continue)` before the body is sent unasked (RFC 9110, 10.1.1), in milliseconds.
  package static let continueWaitMaximumMilliseconds: Int64 = 1000
  /// The shortest such wait. Between the two it is a multiple of the round trip that the connect took.
  package static let continueWaitMinimumMilliseconds: Int64 = 25
  package static let continueWaitRoundTrips: Int64 = 4

  /// The head start of an address over the next one (RFC 8305, 8), in milliseconds.
  package static let connectionAttemptDelayMilliseconds: Int64 = 250
  /// How much later than the stall limit the kernel gives a connection up, so that the one with the words comes first.
  package static let userTimeoutMarginMilliseconds: Int64 = 1000
  /// The highest rate limit (1 TB a second), in bytes a second.
  package static let rate: Int64 = 1_000_000_000_000
  /// What a rate limit lets go at once, in milliseconds of its rate.
  package static let rateBurstMilliseconds: Int64 = 200
  /// What a rate limit waits for, in milliseconds of its rate, before the next write.
  package static let rateQuantumMilliseconds: Int64 = 50
  /// How long an upload waits at most, from when a write is possible, before it looks whether the turn is its own.
  package static let rateTurnMilliseconds: Int64 = 100
  /// How late an upload may come before it loses its turn, in milliseconds.
  package static let rateAbsenceMilliseconds: Int64 = 1000

  /// The longest time limit that can be set (a year), in milliseconds.
  package static let timeoutMilliseconds: Int64 = 365 * 24 * 3_600_000
  /// From this time on, a step of one upload is not counted by the time limits of the others, in milliseconds: it has waited for
  /// its disk.
  package static let longStepMilliseconds: Int64 = 100
  /// How often progress is looked at and told, in milliseconds.
  package static let progressIntervalMilliseconds: Int64 = 100

  // MARK: Files

  /// The largest file that GigHive itself takes (6 GiB), in bytes.
  package static let gigHiveFileSize: Int64 = 6 << 30
  /// The largest file for other endpoints (1 PB), in bytes: sums of lengths stay far from `Int64.max`.
  package static let fileSize: Int64 = 1_000_000_000_000_000
  /// A file that holds a password or token, in bytes.
  package static let secretFileLength = 4096
  /// Secrets from this length on are looked for in what a server says, in bytes: shorter ones are in too many words.
  package static let redactedLength = 4
  /// A netrc file, in bytes.
  package static let netrcFileLength = 64 << 10
  /// The name of a network interface, in bytes (IFNAMSIZ of Linux without its NUL).
  package static let zoneLength = 15
  /// Addresses of one host that are tried.
  package static let addressCount = 16

  /// Descriptors that the program needs, and each upload that is under way besides: its file, its record, a name that is looked
  /// up or a connection, some of the system's.
  package static let descriptorCount = 5
  package static let jobDescriptorCount = 5

  // MARK: Output

  /// What waits to be read of each of the program's two streams, in bytes. Half of it is for the results of what is under
  /// way: sixteen uploads with a line of 2 KB each.
  package static let outputCapacity = 64 << 10
  /// How long the end waits for somebody who takes what was said, in milliseconds.
  package static let outputWaitMilliseconds: Int64 = 5000
}
