/// No input from a file, a server or a user can make the program hold more than these limits allow. An error that a limit causes names the
/// limit. Here are those that several files use; the others stand in extensions beside what they limit.
package enum Limits {
  // MARK: Data path

  /// The most that one `pread` puts into the ring and one write takes from it, in bytes. Measured over loopback: runs of
  /// 256 KiB take a tenth more time, runs of 128 KiB a fifth (docs/internals/decisions/0001).
  package static let runLength = 512 << 10
  /// The content of a full TLS record, and the most overhead (RFC 8446, 5.2; 85 for AES-CBC of TLS 1.2), in bytes.
  package static let recordContentLength = 16 << 10
  package static let recordOverhead = 96

  // MARK: Requests

  /// The longest name of a region, in bytes.
  static let regionLength = 64
  /// The largest object of an S3 server, in bytes.
  package static let s3ObjectLength = Int64(partCount) * longestPartLength
  /// The length of a part, in bytes, if that makes no more parts than ``partCount``. An S3 server wants at least 5 MiB.
  package static let partLength: Int64 = 8 << 20
  /// The highest number of a part on an S3 server.
  static let s3PartNumber = 10_000
  /// After so many parts of a recording that grows, they are twice as long on a tus server, where each is an upload: all of them hold 86 GB,
  /// and their URLs fit into a header field of 7 KiB.
  package static let growingUploadsStep = 10
  /// How often they become longer.
  static let growingPartsSteps = partCount / growingPartsStep
  /// How often the request that ends an upload in parts is repeated.
  static let abortRetries = 2
  /// How often a recording that grows is looked at, in milliseconds.
  package static let growthMilliseconds: Int64 = 500
  /// The longest name of a part (ETag) that is kept, in bytes, and the longest of an upload in parts.
  package static let partTagLength = 60
  static let partsIDLength = 1024
  /// The longest URL, in bytes (RFC 9110, 4.1 requires at least 8000).
  package static let uriLength = 8000

  // MARK: Responses

  /// One read from the connection, in bytes. A TLS record holds at most as much.
  package static let receiveLength = 16 << 10
  /// Reads from a connection in one step of a transfer, so that a server that never stops sending does not block other
  /// uploads and timeouts.
  package static let receiveCount = 128
  /// How much of a response's content is kept, in bytes, before and after decompression.
  package static let replyLength = 64 << 10
  /// How much of a response's content is shown, in bytes: an error in JSON with its details, but no whole page.
  package static let answerBodyLength = 1024
  /// How much of a page is searched for the software that wrote it, in bytes. Pages name theirs in their first or last lines, and are shorter.
  package static let examinedPageLength = 16 << 10

  // MARK: tus

  /// The longest PATCH to a server that has not shown that it keeps partial requests, in bytes (94,371,840). Cloudflare accepts
  /// 100 MB.
  package static let chunkMaximumLength: Int64 = 90 << 20
  /// Lengths of PATCH requests are multiples of this, in bytes: object stores behind tus servers require it of all but the last.
  static let chunkMultiple: Int64 = 256 << 10
  /// If the server acknowledged this much of an interrupted PATCH and kept nothing, the PATCH was spooled; in bytes.
  package static let chunkSpoolEvidence: Int64 = 256 << 10
  /// The content sent with the creation of an upload, in bytes. It is short, because it is lost if the response is.
  static let creationUploadLength: Int64 = 1 << 20

  // MARK: State

  /// The file with what servers have not deleted, in bytes.
  package static let undeletedLength = 64 << 10
  /// A state record, in bytes: the longest form, percent-encoded, and some URLs.
  package static let recordLength = 256 << 10
  /// A server's text in a record, such as a delete token, in bytes. Longer ones are not kept.
  package static let serverTextLength = 1024
  /// Records to check for one key of the index. Copies of a file in many directories share a key.
  package static let indexCandidateCount = 64
  /// How long to wait for the directory's lock, and the pause between two attempts, in milliseconds.
  package static let stateLockMilliseconds: Int64 = 5000
  package static let stateLockPauseMilliseconds: Int64 = 20
  /// How much of either end of a file its identity includes, in bytes.
  package static let edgeLength = 64 << 10
  /// Concurrent uploads. Each has its part of the ring, which must hold a TLS record.
  package static let jobCount: Int64 = 16
  /// Connections for one recording, and how many of them there are at most if nobody says how many.
  package static let connectionCount: Int64 = 16
  static let automaticConnectionCount = 4
  /// The ring of each further connection, and one read and write, in bytes; and what it needs in all, with TLS.
  package static let connectionRunLength = 128 << 10
  package static let connectionMemory: Int64 = 3 << 19
  /// Uploads that wait for the server's last confirmation without one of the jobs' slots.
  package static let waitingUploadCount = 16
  /// The ring of an upload that waits, one read from its connection, and the content of a TLS record that it sends, in bytes. It sends heads and
  /// short content.
  package static let waitingRunLength = 4 << 10

  // MARK: Retries

  /// Redirects followed for one request.
  package static let redirectCount = 5
  /// The longest first retry delay, in milliseconds. It grows fourfold with each retry, so that the usual five outlast a minute: a server
  /// that restarts.
  static let retryBaseMilliseconds: Int64 = 1000
  static let retryGrowthBits: Int64 = 2
  static let retryGrowthCount: Int64 = 16
  /// The longest Retry-After that is respected, in milliseconds (an hour).
  package static let retryAfterMilliseconds: Int64 = 3_600_000
  /// Requests with more content than this are full sends, in bytes.
  static let fullSendLength: Int64 = 1 << 20
  /// Full sends without a result within this time, in seconds (a day), and the most of them.
  static let fullSendSeconds: Int64 = 86_400
  static let fullSendCount = 3
  /// How long after the first and the second one the next one may begin, in seconds: a server that restarts must not use up all.
  static let fullSendPauseSeconds: [Int64] = [10, 60]
  /// One more may be sent before the day is over, at most this often, in seconds (6 hours).
  static let fullSendExtraSeconds: Int64 = 21_600
  /// How long finalize is repeated after GigHive has said that the upload's file is gone, in milliseconds. Another call may still be making
  /// the recording; longer if there was one without a response.
  static let lostUploadMilliseconds: Int64 = 60_000
  static let lostUploadLongMilliseconds: Int64 = 600_000
  /// The latest time in a record that is believed, in seconds since 1970 (the end of the year 9999).
  package static let unixSeconds: Int64 = 253_402_300_799

  // MARK: Time

  /// How long a name is looked up by multicast DNS, and the time between the first two queries (RFC 6762, 5.2), in milliseconds.
  package static let multicastDNSMilliseconds: Int64 = 5000
  static let multicastDNSIntervalMilliseconds: Int64 = 1000
  /// The highest rate limit, in bytes per second (1 TB/s).
  package static let rate: Int64 = 1_000_000_000_000
  /// The release date of this version, in seconds since 1970. A clock that shows an earlier time is wrong: many boards start in 1970.
  package static let builtOn: Int64 = 1_795_392_000  // 2026-11-23
  /// Clocks that were never set start in 1970 or, on FAT, in 1980. A file from before this was made by such a one. Seconds since 1970.
  package static let clocksAreSetSince: Int64 = 347_155_200  // 1981-01-01
  /// The longest time limit that can be set (a year), in milliseconds.
  package static let timeoutMilliseconds: Int64 = 365 * 24 * 3_600_000
  /// The interval between progress reports, in milliseconds.
  package static let progressIntervalMilliseconds: Int64 = 100

  // MARK: Files

  /// The largest file that GigHive accepts (6 GiB), in bytes.
  package static let gigHiveFileSize: Int64 = 6 << 30
  /// The largest file for other endpoints (1 PB), in bytes: sums of lengths stay far from `Int64.max`.
  package static let fileSize: Int64 = 1_000_000_000_000_000
  /// A component of a path on most file systems, in bytes.
  static let componentLength = 255
  /// A path, in bytes (PATH_MAX of Linux).
  package static let pathLength = 4096
  /// A configuration file, in bytes and in lines, and one of its lines, which can hold the longest URL or a form's text.
  package static let configurationLength = 64 << 10
  package static let configurationLineCount = 1024
  package static let configurationLineLength = 16 << 10
  /// The name of a network interface, in bytes (IFNAMSIZ of Linux without its NUL).
  package static let zoneLength = 15
  /// Addresses of one host that are tried.
  package static let addressCount = 16
  /// A message of multicast DNS (RFC 6762, 17), in bytes.
  package static let dnsMessageLength = 9000
  /// The descriptors needed by the program, and by each upload: its file, its record, a name lookup or connection, and some
  /// of the system's.
  package static let descriptorCount = 6
  package static let jobDescriptorCount = 5

  // MARK: Batches

  /// A pattern for names, in bytes: as long as a name can be. And how many there may be.
  package static let patternLength = 255
  package static let patternCount = 64
  /// The depth of nested directories.
  package static let directoryDepth = 64
  /// A line of a list of files, in bytes: the longest path and form, escaped.
  package static let listLineLength = 64 << 10

  // MARK: Removal

  /// How long after a removal that failed for now it is tried again, and how long a server that did not answer is not asked, in
  /// milliseconds.
  static func removalDelayMilliseconds(afterFailures failures: Int) -> Int64 {
    switch failures {
    case ...1: 15_000
    case 2: 60_000
    case 3: 900_000
    default: 3_600_000
    }
  }

  // MARK: Diagnosis

  /// The lengths that a server is asked about, in bytes, besides that of the file: nginx's default, Cloudflare's smallest plan, Apache's
  /// default; and the shortest PATCH that is refused for good, nginx's default, and the longest.
  package static let announcedFormLengths: [Int64] = [1_000_000, 100_000_000, 1 << 30]
  package static let announcedPatchLengths: [Int64] = [chunkMinimumLength, 1_000_000, chunkMaximumLength]
  /// How often a diagnosis asks again after an interrupted request, and how long it waits in between, in milliseconds. Servers write
  /// what they have at once; tusd keeps its lock for up to 20 s.
  package static let offsetQuestionCount = 3
  package static let lockQuestionCount = 25
  package static let questionPauseMilliseconds: Int64 = 1000
  /// How long a link is measured, and how long TCP may take to find its rate before what it sends again counts, in milliseconds.
  package static let linkMilliseconds: Int64 = 10_000
  static let linkSettlingMilliseconds: Int64 = 2_000

  // MARK: Watching

  /// Recordings set aside that `status` lists; the others are counted.
  static let setAsideShown = 16
  /// The names of one directory that a scan sorts at a time, in bytes: less than for a batch, because a watcher runs for years.
  package static let watchNamesLength = 64 << 10
  /// Entries that a scan examines before the loop does something else.
  package static let watchScanStep = 64
  /// When a recording that was set aside is tried again at the latest after a start of the watcher, if the cause may pass; and when one is
  /// that the server itself has refused. In milliseconds.
  static let watchReattemptAtStartMilliseconds: Int64 = 3_600_000
  static let watchRareReattemptMilliseconds: [Int64] = [7, 30, 90].map { $0 * 24 * 3_600_000 }
  /// How long a file must not change where its writers cannot be detected, in milliseconds.
  package static let watchBlindSettleMilliseconds: Int64 = 300_000
  /// Files that `--existing skip` can remember, with 8 bytes for each.
  package static let existingFileCount = 1_000_000
  /// How long the program of `--on-event` may take, how long it then has after SIGTERM, and both at the end of the watcher, in milliseconds.
  package static let hookMilliseconds: Int64 = 60_000
  static let hookGraceMilliseconds: Int64 = 5000
  package static let hookEndMilliseconds: Int64 = 1000
  package static let hookEndGraceMilliseconds: Int64 = 1000
}
