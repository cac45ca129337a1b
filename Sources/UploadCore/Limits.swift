/// All capacities in one place. No input from a file, a server or a user can make the program hold more than these limits
/// allow. An error that a limit causes names the limit.
package enum Limits {
  // MARK: Data path

  /// The ring buffers that every byte of a body passes through, in bytes. Allocated once, and divided among concurrent
  /// uploads.
  package static let ringCapacity = 4 << 20
  /// The most that one `pread` puts into the ring and one write takes from it, in bytes. Measured over loopback: runs of
  /// 256 KiB take a tenth more time, runs of 128 KiB a fifth (docs/internals/decisions/0001).
  package static let runLength = 512 << 10
  /// The same with a hash thread: one run is sent while the previous one is digested (docs/internals/decisions/0006).
  package static let hashedRunLength = 256 << 10
  /// The least file content, in bytes, for which the hash thread is used: several runs.
  package static let hashThreadFrom: Int64 = 2 << 20
  /// The least run length of each of several concurrent uploads, in bytes.
  package static let runMinimumLength = 64 << 10
  /// The most that one `sendfile` passes from the page cache to a plain connection, in bytes.
  package static let sendfileLength = 4 << 20
  /// TLS records sent with one system call, in bytes. Measured: one call per record takes a third more time.
  package static let recordBatchLength = 256 << 10
  /// The content of a full TLS record, and the most overhead (RFC 8446, 5.2; 85 for AES-CBC of TLS 1.2), in bytes.
  package static let recordContentLength = 16 << 10
  package static let recordOverhead = 96
  /// The least record batch of each of several concurrent uploads: two records, in bytes.
  package static let recordBatchMinimumLength = 40 << 10
  /// `TCP_NOTSENT_LOWAT`: how much unsent content the kernel may hold, in bytes. Measured over loopback: 128 KiB takes 1.4
  /// times as long, 1 MiB costs nothing.
  package static let unsentLowWater: Int32 = 1 << 20

  // MARK: Requests

  /// The longest name of a bucket, and the longest key of an object, in bytes.
  package static let bucketLength = 255
  package static let objectKeyLength = 1024
  /// The longest name of a region, in bytes.
  package static let regionLength = 64
  /// The largest object of an S3 server, in bytes.
  package static let s3ObjectLength = Int64(partCount) * longestPartLength
  /// The size from which a recording is sent in parts to a server that joins them, in bytes: what a kill costs at most without.
  package static let partsFrom: Int64 = 16 << 20
  /// The length of a part, in bytes, if that makes no more parts than ``partCount``. An S3 server wants at least 5 MiB.
  package static let partLength: Int64 = 8 << 20
  /// Longer ones are a multiple of this, in bytes.
  package static let partLengthStep: Int64 = 1 << 20
  /// The highest number of a part on an S3 server.
  package static let s3PartNumber = 10_000
  /// The most parts of a recording: their list is kept in its record, and sent in one request.
  package static let partCount = 1000
  /// The same with the SHA-256 of each, unless a part would be longer than ``longestPartLength``: then the list takes at most 64 KiB.
  package static let digestedPartCount: Int64 = 600
  /// The longest part that an S3 server takes, in bytes.
  package static let longestPartLength: Int64 = 5 << 30
  /// How many parts a recording has that decides how long they are.
  package static let wantedPartCount: Int64 = 32
  /// After so many parts of a recording that grows, they are twice as long: all of them hold 858 GB.
  package static let growingPartsStep = 100
  /// The same for uploads of a tus server: all of them hold 86 GB, and their URLs fit into a header field of 7 KiB.
  package static let growingUploadsStep = 10
  package static let growingPartsSteps = partCount / growingPartsStep
  /// What is nearer to the end of a recording that grows is not sent yet, in bytes: recorders write it again.
  package static let growingLag: Int64 = 4 << 20
  /// How many uploads there are at a time if recordings are sent while they are made.
  package static let growingJobs = 3
  /// How fast any server copies what it joins, in bytes per millisecond (10 MB/s).
  package static let joinedBytesPerMillisecond: Int64 = 10_000
  /// How often the request that ends an upload in parts is repeated.
  package static let abortRetries = 2
  /// How often a recording that grows is looked at, in milliseconds.
  package static let growthMilliseconds: Int64 = 500
  /// The longest list of all parts, in bytes, as Nextcloud sends it in one response: about 300 for each.
  package static let partNamesLength = 512 << 10
  /// How many parts an S3 server lists at a time: a response has at most ``replyLength`` bytes.
  package static let partListCount = 100
  /// The longest name of a part (ETag) that is kept, in bytes, and the longest of an upload in parts.
  package static let partTagLength = 60
  package static let partsIDLength = 1024
  /// The longest path of an upload on a tus server that is joined with others, in bytes.
  package static let partPathLength = 70
  /// The longest URL, in bytes (RFC 9110, 4.1 requires at least 8000).
  package static let uriLength = 8000
  /// A request head with all its fields, in bytes. Servers accept 8 KiB per line by default.
  package static let requestHeadLength = 16 << 10
  /// The caller's header fields with their names, in bytes, and as much again for those with secrets: half a head.
  package static let ownFieldsLength = 4 << 10
  /// A file with the keys of S3 profiles, in bytes.
  package static let profileFileLength = 64 << 10
  /// A file with header fields and comments, in bytes.
  package static let headerFileLength = 16 << 10
  /// The form's text fields with their framing, in bytes. PHP and ModSecurity accept 128 KiB by default.
  package static let formLength = 64 << 10
  /// The content length from which a request asks for `100 (Continue)` first (RFC 9110, 10.1.1), in bytes.
  package static let expectContinueFrom: Int64 = 1 << 20

  // MARK: Responses

  /// One read from the connection, in bytes. A TLS record holds at most as much.
  package static let receiveLength = 16 << 10
  /// Reads from a connection in one step of a transfer, so that a server that never stops sending does not block other
  /// uploads and timeouts.
  package static let receiveCount = 128
  /// TLS messages without content, such as session tickets, that one read from a connection skips.
  package static let tlsMessageCount = 32
  /// A response head: status line and fields, in bytes.
  package static let responseHeadLength = 32 << 10
  /// What most response heads fit into, in bytes.
  package static let responseHeadUsualLength = 512
  /// Fields in a response head.
  package static let fieldCount = 128
  /// Interim (1xx) responses without progress of the content, in bytes. GigHive's and tusd's servers send one every few seconds while they
  /// work, for hours if necessary.
  package static let interimLength = 1 << 20
  /// A chunk-size line with its extensions, in bytes.
  package static let chunkLineLength = 1024
  /// The trailer section of a chunked body, in bytes.
  package static let trailerLength = 8 << 10
  /// The depth of an XML document, the length of a name in it, and that of a reference with & and ;.
  package static let xmlDepth = 16
  package static let xmlNameLength = 256
  package static let xmlReferenceLength = 12
  /// How much of a response's content is kept, in bytes, before and after decompression.
  package static let replyLength = 64 << 10
  /// How much more of a response's content is read and dropped before the connection is closed, in bytes.
  package static let replyDrainLength: Int64 = 1 << 20
  /// The depth of nested arrays and objects in a JSON text.
  package static let jsonDepth = 64
  /// How much of a response's content is shown, in bytes: an error in JSON with its details, but no whole page.
  package static let answerBodyLength = 1024
  /// How much of a server's message is quoted, in characters.
  package static let quotedMessageLength = 300

  /// How much of a page is searched for the software that wrote it, in bytes. Pages name theirs in their first or last lines, and are shorter.
  package static let examinedPageLength = 16 << 10
  /// The longest extension of a recording's file on GigHive, in bytes.
  package static let mediaExtensionLength = 16

  /// The cookies of an upload.
  package static let cookieCount = 4
  /// Their names and values, in bytes.
  package static let cookiesLength = 2048

  /// How long a refused form is remembered, in seconds (a week).
  package static let formLimitSeconds: Int64 = 604_800
  /// The destinations whose refused forms are remembered.
  package static let formLimitCount = 16
  /// The file with them, in bytes.
  package static let formLimitsLength = 64 << 10
  /// Of the file with what servers have not deleted, in bytes.
  package static let undeletedLength = 64 << 10

  /// A name lookup that takes longer, in milliseconds, is repeated for IPv4 alone: some name servers drop questions for IPv6.
  package static let slowLookupMilliseconds: Int64 = 2000
  /// The names whose addresses are kept because their lookup was slow.
  package static let slowNameCount = 8

  // MARK: tus

  /// The first PATCH requests, in bytes: what an interruption can cost until the server is known.
  package static let chunkStartLength: Int64 = 8 << 20
  /// PATCH requests grow after this many bytes without an interruption.
  package static let chunkGrowsAfter: Int64 = 256 << 20
  /// The longest PATCH to a server that has not shown that it keeps partial requests, in bytes (94,371,840). Cloudflare accepts
  /// 100 MB.
  package static let chunkMaximumLength: Int64 = 90 << 20
  /// Lengths of PATCH requests are multiples of this, in bytes: object stores behind tus servers require it of all but the last.
  package static let chunkMultiple: Int64 = 256 << 10
  /// A PATCH of this length or less is not halved, even if it is too large for the server; in bytes. Less than the multiple,
  /// because a server that refuses so little has a limit of its own.
  package static let chunkMinimumLength: Int64 = 64 << 10
  /// If the server acknowledged this much of an interrupted PATCH and kept nothing, the PATCH was spooled; in bytes.
  package static let chunkSpoolEvidence: Int64 = 256 << 10
  /// Requests that a time limit has made shorter grow again after this many.
  package static let chunkRecoveryCount: Int64 = 16
  /// Content is moving if more has arrived at the peer in the last milliseconds.
  package static let flowMilliseconds: Int64 = 5000
  /// Two times are about the same if they differ by at most this part of the longer one.
  package static let sameTimePart: Int64 = 5
  /// The content sent with the creation of an upload, in bytes. It is short, because it is lost if the response is.
  package static let creationUploadLength: Int64 = 1 << 20
  /// PATCH requests are pipelined if a response takes at least this long, in milliseconds.
  package static let pipelineFromMilliseconds: Int64 = 20
  /// Pipelining stops after this many connections that ended with two requests in flight.
  package static let pipeliningFailureCount = 2
  /// The most of the caller's metadata, and with it of GigHive's form, in Upload-Metadata; in bytes before Base64.
  package static let metadataLength = 4 << 10
  /// How many times in a row the server may disagree about the offset.
  package static let disagreementCount = 8
  /// A server that keeps less than one of so many parts of a request makes no progress.
  package static let fairPart: Int64 = 16

  // MARK: State

  /// A state record, in bytes: the longest form, percent-encoded, and some URLs.
  package static let recordLength = 256 << 10
  /// A caller's context in a record, in bytes: a key of its database, or a few words of JSON. Each record is read as a whole.
  package static let contextLength: Int64 = 1 << 10
  /// On FAT, the length of a record is a multiple of this, in bytes: with a URL and a message, most stay in the first block.
  package static let recordBlockLength = 4096
  /// A server's text in a record, such as a delete token, in bytes. Longer ones are not kept.
  package static let serverTextLength = 1024
  /// The space reserved for a record's last write, beyond its size when the upload starts, in bytes: a delete token with every
  /// byte escaped, and a checksum.
  package static let recordReserveLength = 8 << 10
  /// A form without a record on the disk before its last byte, in bytes of its file: at 1 MB/s, a power cut forgets it for some seconds.
  package static let smallFormLength: Int64 = 8 << 20
  /// Spares that are made with one sync.
  package static let spareCount = 32
  /// How many times an index is built for one lookup while other processes change the records.
  package static let indexBuildCount = 3
  /// Records read before the cancellation is checked again: on a slow card, less than a second.
  package static let cancellationCheckRecordCount = 32
  /// The capacity of the index, as powers of two: from 1024 slots of 32 bytes up to 512 MiB.
  package static let indexMinimumBits: UInt64 = 10
  package static let indexMaximumBits: UInt64 = 24
  /// Entries of the index read at a time, for one key and for all.
  package static let indexProbeSlots = 32
  package static let indexReadSlots = 4096
  /// Records to check for one key of the index. Copies of a file in many directories share a key.
  package static let indexCandidateCount = 64
  /// Delivered files that a command compares at its end, because they may have been changed since.
  package static let comparisonCount = 1000
  /// Delivered files skipped before the cancellation is checked again.
  package static let skippedFileCount = 32
  /// Records sorted at a time when all are listed. Twice as many are held.
  package static let orderedRecordCount = 8192
  /// Records that were never written and whose leftovers are removed at a time.
  package static let leftoverCount = 64
  /// How long to wait for a program that has a lease on the file. The kernel ends a lease after 45 s (fs.lease-break-time).
  package static let leaseMilliseconds: Int64 = 60_000
  /// How long to wait for the directory's lock, and the pause between two attempts, in milliseconds.
  package static let stateLockMilliseconds: Int64 = 5000
  package static let stateLockPauseMilliseconds: Int64 = 20
  /// How many times in a row another process may remove a lock file before it is locked.
  package static let removedLockCount = 8
  /// How much of either end of a file its identity includes, in bytes.
  package static let edgeLength = 64 << 10
  /// Concurrent uploads. Each has its part of the ring, which must hold a TLS record.
  package static let jobCount: Int64 = 16
  /// Connections for one recording, and how many of them there are at most if nobody says how many.
  package static let connectionCount: Int64 = 16
  package static let automaticConnectionCount = 4
  /// How long a new connection gets up to speed before it is judged, and then for how long, in milliseconds.
  package static let connectionGrowthMilliseconds: Int64 = 1000
  package static let connectionTrialMilliseconds: Int64 = 3000
  /// It stays if it adds this part of what there was: an eighth.
  package static let connectionGain: Int64 = 8
  /// How long nothing is tried after one was of no use, in milliseconds.
  package static let connectionPauseMilliseconds: Int64 = 60_000
  /// How many further connections fail, one after the other, before that pause.
  package static let helperFailures = 2
  /// What the server has taken over the first further connection before there is another one, in bytes.
  package static let helperEvidence: Int64 = 256 << 10
  /// The ring of each further one, and one read and write, in bytes; and what it needs in all, with TLS.
  package static let connectionRunLength = 128 << 10
  package static let connectionMemory: Int64 = 3 << 19
  /// Uploads that wait for the server's last confirmation without one of the jobs' slots.
  package static let waitingUploadCount = 16
  /// The ring of such an upload, one read from its connection, and the content of a TLS record that it sends, in bytes. It sends heads and
  /// short content.
  package static let waitingRunLength = 4 << 10
  /// How long such an upload may connect before the next one may, too, in milliseconds: nobody may answer. A
  /// name lookup takes 30 s at most, so three of them may have a stack at a time.
  package static let connectingTurnMilliseconds: Int64 = 10_000
  /// How often an upload that found no such place, or may not connect yet, looks again, in milliseconds.
  package static let waitingPlaceMilliseconds: Int64 = 50

  // MARK: Retries

  /// Origins remembered for closing connections without notice.
  package static let avoidedOriginCount = 8

  /// Redirects followed for one request.
  package static let redirectCount = 5
  /// Redirects followed for all requests of one attempt without progress.
  package static let redirectCountInAll = 50
  /// Redirects that are remembered: far more than are followed without progress, because those that are forgotten count again.
  package static let redirectMemoryCount = 1000

  /// The longest first retry delay, in milliseconds. It grows fourfold with each retry, so that the usual five outlast a minute: a server
  /// that restarts.
  package static let retryBaseMilliseconds: Int64 = 1000
  package static let retryGrowthBits: Int64 = 2
  package static let retryGrowthCount: Int64 = 16
  /// After so many retries, the longest delay is no shorter than this, in milliseconds.
  package static let retryBurstCount: Int64 = 10
  package static let retryBurstMilliseconds: Int64 = 100
  /// The most retries that can be set.
  package static let retryCount: Int64 = 1_000_000
  /// The longest Retry-After that is respected, in milliseconds (an hour).
  package static let retryAfterMilliseconds: Int64 = 3_600_000
  /// The shortest time for retries that can be set, in milliseconds.
  package static let retryTimeMilliseconds: Int64 = 1000
  /// Requests with more content than this are full sends, in bytes.
  package static let fullSendLength: Int64 = 1 << 20
  /// Full sends without a result within this time, in seconds (a day), and the most of them.
  package static let fullSendSeconds: Int64 = 86_400
  package static let fullSendCount = 3
  /// How long after the first and the second one the next one may begin, in seconds: a server that restarts must not use up all.
  package static let fullSendPauseSeconds: [Int64] = [10, 60]
  /// One more may be sent before the day is over, at most this often, in seconds (6 hours).
  package static let fullSendExtraSeconds: Int64 = 21_600
  /// How long finalize is repeated after GigHive has said that the upload's file is gone, in milliseconds. Another call may still be making
  /// the recording; longer if there was one without a response.
  package static let lostUploadMilliseconds: Int64 = 60_000
  package static let lostUploadLongMilliseconds: Int64 = 600_000
  /// The pause after a gateway has given up a finalize call on which GigHive may still work, in milliseconds.
  package static let finalizePauseMilliseconds: Int64 = 30_000
  /// The latest time in a record that is believed, in seconds since 1970 (the end of the year 9999).
  package static let unixSeconds: Int64 = 253_402_300_799

  /// Addresses and hosts of which it is known that they kept silent.
  package static let silentAddressCount = 32
  /// The length of TCP segments where longer ones may not pass, in bytes: they fit into the smallest packets of IPv6, 1280 bytes.
  package static let narrowSegmentLength: Int32 = 1220
  /// The length of the packets that they are in over IPv6, in bytes.
  package static let narrowPacketLength: Int32 = 1280
  /// If no more content was acknowledged, in bytes, perhaps only short packets pass.
  package static let narrowEvidence: Int64 = 65_536

  // MARK: Time

  /// The longest wait for `100 (Continue)` before the body is sent anyway (RFC 9110, 10.1.1), in milliseconds.
  package static let continueWaitMaximumMilliseconds: Int64 = 1000
  /// The shortest wait for it. In between, it is a multiple of the round-trip time of the connect.
  package static let continueWaitMinimumMilliseconds: Int64 = 25
  package static let continueWaitRoundTrips: Int64 = 4

  /// How long a diagnosis waits for a server's opinion on content that it announces, in milliseconds. Servers that have one give it
  /// within a round trip and the time to check a password.
  package static let probeContinueMilliseconds: Int64 = 5000
  /// How long it waits for other responses, which cost the server no work.
  package static let probeResponseMilliseconds: Int64 = 30_000

  /// A name in DNS with its lengths (RFC 1035, 2.3.4), and a message of multicast DNS (RFC 6762, 17), in bytes.
  package static let dnsNameLength = 255
  /// A component of a path on most file systems, in bytes.
  package static let componentLength = 255
  package static let dnsMessageLength = 9000
  /// Pointers in a name: as many as a name can have labels.
  package static let dnsPointerCount = 127
  /// Questions and records in a message.
  package static let dnsRecordCount = 256
  /// Addresses of this machine that are considered, and network interfaces on which a name is looked up.
  package static let interfaceAddressCount = 64
  package static let multicastDNSInterfaceCount = 16
  /// How long a name is looked up, and the time between the first two queries (RFC 6762, 5.2), in milliseconds.
  package static let multicastDNSMilliseconds: Int64 = 5000
  package static let multicastDNSIntervalMilliseconds: Int64 = 1000
  /// How long to wait for other addresses after the first one (RFC 8305, 3), in milliseconds.
  package static let multicastDNSSettlingMilliseconds: Int64 = 50
  /// The kernel's list of congestion control algorithms, in bytes (TCP_CA_BUF_MAX in net/tcp.h).
  package static let congestionControlsLength = 2048
  /// The head start of an address over the next one (RFC 8305, 8), in milliseconds.
  package static let connectionAttemptDelayMilliseconds: Int64 = 250
  /// How long after the stall limit the kernel drops a connection, in milliseconds, so that the program's own error comes
  /// first.
  package static let userTimeoutMarginMilliseconds: Int64 = 1000
  /// The highest rate limit, in bytes per second (1 TB/s).
  package static let rate: Int64 = 1_000_000_000_000
  /// The longest burst of a rate limit, in milliseconds of its rate.
  package static let rateBurstMilliseconds: Int64 = 200
  /// How much a rate limit accumulates before the next write, in milliseconds of its rate.
  package static let rateQuantumMilliseconds: Int64 = 50
  /// How long an upload that could write waits before it checks whether it has the turn, in milliseconds.
  package static let rateTurnMilliseconds: Int64 = 100
  /// How late an upload may come before it loses its turn, in milliseconds.
  package static let rateAbsenceMilliseconds: Int64 = 1000
  /// How long recordings that are still made leave their share of the line to finished ones of which nothing is sent, in milliseconds.
  package static let liveShareMilliseconds: Int64 = 5000
  /// How often it is looked at again whether they have earned something, in milliseconds.
  package static let liveSharePauseMilliseconds: Int64 = 20
  /// How much they must have earned for a write, in bytes.
  package static let liveShareQuantum: Int64 = 16 << 10
  /// How much they can have earned, in bytes.
  package static let liveShareMost: Int64 = 4 << 20
  /// Entries of a timetable of rate limits: one an hour, for workdays and weekends, several times over.
  package static let rateScheduleCount = 128
  /// How often the time is compared with a timetable while something is sent, in milliseconds.
  package static let rateScheduleMilliseconds: Int64 = 1000
  /// The same in a pause, when nothing is sent.
  package static let ratePauseMilliseconds: Int64 = 10_000
  /// The release date of this version, in seconds since 1970. A clock that shows an earlier time is wrong: many boards start in 1970.
  package static let builtOn: Int64 = 1_795_392_000  // 2026-11-23
  /// Clocks that were never set start in 1970 or, on FAT, in 1980. A file from before this was made by such a one. Seconds since 1970.
  package static let clocksAreSetSince: Int64 = 347_155_200  // 1981-01-01
  /// A file from so much later than now has a wrong time, if the clock is not wrong, in seconds.
  package static let futureSeconds: Int64 = 366 * 24 * 3600

  /// The longest time limit that can be set (a year), in milliseconds.
  package static let timeoutMilliseconds: Int64 = 365 * 24 * 3_600_000
  /// A step of one upload that takes at least this long does not count towards the time limits of the others, because it has
  /// waited for its disk; in milliseconds.
  package static let longStepMilliseconds: Int64 = 100
  /// How long a request over tus may take when the upload is to end soon.
  package static let finishMilliseconds: Int64 = 60_000
  /// The interval between progress reports, in milliseconds.
  package static let progressIntervalMilliseconds: Int64 = 100

  // MARK: Files

  /// In characters, as in the columns of GigHive's database.
  package static let labelLength = 255
  package static let orgNameLength = 128

  /// The largest file that GigHive accepts (6 GiB), in bytes.
  package static let gigHiveFileSize: Int64 = 6 << 30
  /// The largest file for other endpoints (1 PB), in bytes: sums of lengths stay far from `Int64.max`.
  package static let fileSize: Int64 = 1_000_000_000_000_000
  /// A path, in bytes (PATH_MAX of Linux).
  package static let pathLength = 4096
  /// A file with a password or token, in bytes.
  package static let secretFileLength = 4096
  /// The shortest secrets that are redacted, in bytes. Shorter ones occur in too many words.
  package static let redactedLength = 4
  /// A configuration file, in bytes and in lines, and one of its lines, which can hold the longest URL or a form's text.
  package static let configurationLength = 64 << 10
  package static let configurationLineCount = 1024
  package static let configurationLineLength = 16 << 10
  /// A netrc file, in bytes.
  package static let netrcFileLength = 64 << 10
  /// The name of a network interface, in bytes (IFNAMSIZ of Linux without its NUL).
  package static let zoneLength = 15
  /// Addresses of one host that are tried.
  package static let addressCount = 16

  /// The descriptors needed by the program, and by each upload: its file, its record, a name lookup or connection, and some
  /// of the system's.
  package static let descriptorCount = 6
  package static let jobDescriptorCount = 5

  // MARK: Batches

  /// A pattern for names, in bytes: as long as a name can be. And how many there may be.
  package static let patternLength = 255
  package static let patternCount = 64
  /// The names of one directory that are sorted at a time, in bytes; of a directory in it half as many, and so on down to the least.
  /// Directories with more are read several times. Twice as much is held.
  package static let directoryNamesLength = 256 << 10
  package static let directoryNamesMinimumLength = 8 << 10
  /// The overhead per name, in bytes.
  package static let nameOverhead = 24
  /// The depth of nested directories.
  package static let directoryDepth = 64

  /// A line of a list of files, in bytes: the longest path and form, escaped.
  package static let listLineLength = 64 << 10
  /// A sidecar file, in bytes.
  package static let sidecarLength = 16 << 10
  /// For how many recordings of a directory it is looked for before all names are read instead.
  package static let sidecarLookCount = 16
  /// For how long those names are believed, in milliseconds.
  package static let sidecarSearchMilliseconds: Int64 = 2000
  /// The name of this machine, in bytes (HOST_NAME_MAX of Linux).
  package static let hostNameLength = 64

  // MARK: Removal

  /// How long a removal waits for that of another process, in milliseconds: a few syncs of a slow card.
  package static let removalLockMilliseconds: Int64 = 500
  /// How long GigHive may take to say whether it still has a recording, in milliseconds. Without a response the file stays, which only
  /// costs space.
  package static let examinationMilliseconds: Int64 = 10_000
  /// How long nothing is sent to a server that has refused the credentials, in milliseconds.
  package static let refusedCredentialsMilliseconds: Int64 = 60_000
  /// How long after a removal that failed for now it is tried again, and how long a server that did not answer is not asked, in
  /// milliseconds.
  package static func removalDelayMilliseconds(afterFailures failures: Int) -> Int64 {
    switch failures {
    case ...1: 15_000
    case 2: 60_000
    case 3: 900_000
    default: 3_600_000
    }
  }
  /// The journal of interrupted removals that wait for their media, in bytes: a dozen of the longest paths. More media than that
  /// are not pulled out in the middle of a removal.
  package static let removalJournalLength = 64 << 10
  /// How long the journal always is, in bytes: one block, which its entries overwrite.
  package static let removalJournalReserve = 4096
  /// Ballast for removals on a full file system: 512 KiB, because xfs creates no file with less than 256 KiB free, and enough files for the
  /// inodes of an upload. The length of a file, and of what is written at a time, in bytes.
  package static let ballastFileCount = 8
  package static let ballastFileLength = 64 << 10
  package static let ballastPieceLength = 8 << 10
  /// How much must be free before it is made, in bytes and in files: otherwise it would take from recorders what a removal has just freed.
  package static let ballastFromFreeBytes: Int64 = 10_000_000
  package static let ballastFromFreeFiles: Int64 = 32
  /// Numbers that are tried for the name of a recording if there is another file of that name.
  package static let numberedNameCount = 999
  /// Postponed removals that one `send` retries at its end; more of them wait for the next one.
  package static let dueRemovalCount = 1024

  // MARK: Diagnosis

  /// What uploads need, in bytes: the memory that --max-memory suggests; the space for a record, and for some with their index.
  package static let memoryNeeded: Int64 = 12 << 20
  package static let stateSpaceNeeded: Int64 = 1 << 20
  package static let stateSpaceComfortable: Int64 = 16 << 20
  /// Certificates that expire earlier are reported, in days: renewal usually starts after two thirds of 90 days.
  package static let certificateWarningDays: Int64 = 14
  /// Clocks that differ more are reported, in seconds.
  package static let clockDifferenceSeconds: Int64 = 300
  /// The lengths that a server is asked about, in bytes, besides that of the file: nginx's default, Cloudflare's smallest plan, Apache's
  /// default; and the shortest PATCH that is refused for good, nginx's default, and the longest.
  package static let announcedFormLengths: [Int64] = [1_000_000, 100_000_000, 1 << 30]
  package static let announcedPatchLengths: [Int64] = [chunkMinimumLength, 1_000_000, chunkMaximumLength]
  /// The largest test upload, in bytes: Apache's default limit.
  package static let testLength: Int64 = 1 << 30
  /// How much of an interrupted request is sent, in bytes. No path buffers as much unless it buffers everything.
  package static let cutLength: Int64 = 1 << 20
  /// How long an interrupted request waits before its connection is closed, in milliseconds, so that proxies can forward what they have.
  package static let cutRestMilliseconds: Int64 = 500
  /// How often a diagnosis asks again after an interrupted request, and how long it waits in between, in milliseconds. Servers write
  /// what they have at once; tusd keeps its lock for up to 20 s.
  package static let offsetQuestionCount = 3
  package static let lockQuestionCount = 25
  package static let questionPauseMilliseconds: Int64 = 1000
  /// The zeros of a diagnosis are written in runs of this length, in bytes.
  package static let zerosLength = 64 << 10
  /// How long a link is measured, and how long TCP may take to find its rate before what it sends again counts, in milliseconds.
  package static let linkMilliseconds: Int64 = 10_000
  package static let linkSettlingMilliseconds: Int64 = 2_000
  /// How often a measurement looks whether everything has arrived, in milliseconds.
  package static let linkTickMilliseconds: Int64 = 10
  /// The share of lost segments from which a link loses too much, in thousandths, and how many they must be at least. With one of 200
  /// lost, cubic reaches a few megabits per second over 50 ms, whatever the link.
  package static let linkLossThousandths: Int64 = 5
  package static let linkLossEvidence: Int64 = 5
  /// A queue delays everybody on a link if it multiplies the round trip by this, and adds this much, in microseconds.
  package static let linkDelayFactor: Int64 = 4
  package static let linkDelayMicroseconds: Int64 = 100_000
  /// The percentage of the time without room at the receiver from which the receiver sets the rate, not the link.
  package static let linkWindowPercent: Int64 = 50

  // MARK: Output

  /// The buffer for unread output, per stream, in bytes. Half of it is for the results of uploads in progress: sixteen lines of
  /// 2 KB.
  package static let outputCapacity = 64 << 10
  /// How long the program waits for readers of its output when it ends, in milliseconds.
  package static let outputWaitMilliseconds: Int64 = 5000
}

/// Limits and delays of `watch`.
extension Limits {
  /// The text of a notice, in characters: an error with its advice.
  package static let watchNoticeLength = 1000
  /// Recordings set aside that `status` lists; the others are counted.
  package static let setAsideShown = 16
  /// Recordings whose removal a watcher tries again. Those for which there is no room wait until it is started again.
  package static let watchedRemovals = 1024
  /// Recordings that are found and not delivered; for more of them, the directories are scanned again when there is room.
  package static let watchedCandidates = 4096
  /// Recordings set aside that are remembered with their messages, and in all: 400 KiB at most. More of them are neither counted nor tried
  /// again until the next start.
  package static let watchSetAsideMessages = 256
  package static let watchSetAsideCount = 2048
  /// What a watcher leaves for the next one about them, in bytes. What is beyond is tried again.
  package static let setAsideListLength = 1 << 20
  /// Keys of files that need no action, so that a scan does not look for their records, and a failure is reported once: 1 MiB at most.
  package static let watchedKnownCount = 128 << 10
  /// Directories whose changes are watched, in one process. The kernel needs about 1 KiB for each; others are only scanned.
  package static let watchedDirectoryCount = 2048
  /// Directories that appeared and wait to be scanned; with more of them, everything is scanned.
  package static let watchScanCount = 64
  /// Places that could not be scanned and are remembered, in each watched directory, with 24 bytes for each. Of more, one line says that.
  package static let watchScanFailureCount = 1024
  /// The names of one directory that a scan sorts at a time, in bytes: less than for a batch, because a watcher runs for years.
  package static let watchNamesLength = 64 << 10
  /// Entries that a scan examines before the loop does something else.
  package static let watchScanStep = 64
  /// Groups of directories, each with a worker.
  package static let watchGroupCount = 16
  /// Files passed to the worker that it has not started yet: one more than it uploads at a time, so that it never waits.
  package static let watchedAheadCount = 2
  /// Attempts with one recording that end in a server failure, while others are delivered, before it is set aside.
  package static let watchServerFailureCount = 3
  /// How often the worker may end during one recording before that is set aside.
  package static let watchCrashCount = 3
  /// When a recording that failed for a reason of its own is tried again: if the cause may pass, and if the server has refused the
  /// recording itself. The last delay is repeated. In milliseconds.
  package static let watchReattemptMilliseconds: [Int64] = [0, 3_600_000, 6 * 3_600_000, 24 * 3_600_000]
  /// The most after a start of the watcher, if the cause may pass.
  package static let watchReattemptAtStartMilliseconds: Int64 = 3_600_000
  package static let watchRareReattemptMilliseconds: [Int64] = [7, 30, 90].map { $0 * 24 * 3_600_000 }
  /// The longest line of a worker, in bytes: an event with an answer and the longest path, escaped.
  package static let workerLineLength = 64 << 10
  /// How long a file must not change where its writers cannot be detected, in milliseconds.
  package static let watchBlindSettleMilliseconds: Int64 = 300_000
  /// How often a watcher that sends recordings while they are made looks at one that is too short for that, in milliseconds.
  package static let watchGrowthMilliseconds: Int64 = 2000
  /// How much longer a recording that has grown since its delivery settles, and the longest time for that, in milliseconds.
  package static let watchGrowthFactor: Int64 = 10
  package static let watchGrowthSettleMilliseconds: Int64 = 3_600_000
  /// Recordings whose delivered size a watcher remembers.
  package static let watchedGrowthCount = 1024
  /// How often everything is scanned, and how often a missing directory, the clock and the like are checked, in milliseconds.
  package static let watchScanMilliseconds: Int64 = 300_000
  package static let watchCheckMilliseconds: Int64 = 30_000
  /// The longest delay between two attempts to reach a destination, and between two probes of a paused one, in milliseconds.
  package static let watchRetryMaximumMilliseconds: Int64 = 600_000
  package static let watchProbeMilliseconds: Int64 = 3_600_000
  /// How often free space is checked while it is short, and how often it is tried again to make room although nothing was delivered
  /// meanwhile, in milliseconds: each attempt asks the server about what it would remove.
  package static let spaceCheckMilliseconds: Int64 = 60_000
  package static let spaceRetryMilliseconds: Int64 = 600_000
  /// How often a process asks its watcher whether it may remove a recording, and the pause before it asks again, in milliseconds.
  package static let removalQuestionCount = 3
  package static let removalQuestionPauseMilliseconds: Int64 = 200
  /// When a recording that another process works on is tried again, in milliseconds.
  package static let watchConflictMilliseconds: Int64 = 60_000
  /// The pause after a change of the network, because changes come in groups, in milliseconds.
  package static let watchNetworkMilliseconds: Int64 = 500
  /// How long a worker may take to end after SIGTERM, in milliseconds.
  package static let workerEndMilliseconds: Int64 = 4000
  /// The memory ceiling of a worker, in bytes: what an upload needs, 1 MiB for all those that wait for their recordings, and more for each
  /// of several jobs or connections.
  package static func workerMemory(jobs: Int, connections: Int) -> Int64 {
    memoryNeeded + 1 << 20 + Int64(jobs - 1) * (256 << 10) + Int64(connections - 1) * connectionMemory
  }
  /// Files that `--existing skip` can remember, with 8 bytes for each.
  package static let existingFileCount = 1_000_000
  /// The file with a watcher's status, in bytes, as `status` reads it: hundreds of directories, each with uploads in progress and
  /// recordings set aside.
  package static let watchStatusLength = 4 << 20
  /// The shortest interval between two writes of it, in milliseconds.
  package static let watchStatusMilliseconds: Int64 = 5000
  /// Events that wait for the program of `--on-event`, each a few hundred bytes.
  package static let hookQueueCount = 64
  /// How often to check whether that program has ended, where the kernel does not report it, in milliseconds.
  package static let hookPollMilliseconds: Int64 = 1000
  /// How often unread lines of the log are offered again, in milliseconds.
  package static let watchLogMilliseconds: Int64 = 1000
  /// How long that program may take, how long it then has after SIGTERM, and both at the end of the watcher, in milliseconds.
  package static let hookMilliseconds: Int64 = 60_000
  package static let hookGraceMilliseconds: Int64 = 5000
  package static let hookEndMilliseconds: Int64 = 1000
  package static let hookEndGraceMilliseconds: Int64 = 1000
}
