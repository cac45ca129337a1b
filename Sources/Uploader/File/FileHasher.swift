import CShims
import UploadCore

/// Reads a part of a file in order to hash it, without sending it.
final class FileHasher: Steppable {
  private enum Purpose {
    case wholeFile(FileDigest)
    case beginning(FileDigest)
    case range(Digest)
    case rangeAsSent(Digest, Digest, SentRun)
    /// A second digest of the file as it is now, to compare with that of what was sent.
    case wholeFileAgain(Digest, of: FileDigest)
  }

  private let source: TransferSource
  private var purpose: Purpose
  /// What another thread has begun.
  private var ahead: HashAhead?
  private let buffers: TransferBuffers
  private var offset: Int64
  private let end: Int64
  /// Whether the file did not change while it was read.
  private var isStable = true
  private var changed: StatusTime?
  private var hasRead = false

  /// - Parameter ahead: what has been begun of it.
  init(
    _ source: TransferSource, _ range: HashRange, ahead: HashAhead? = nil, buffers: TransferBuffers
  ) throws(UploadError) {
    self.source = source
    self.buffers = buffers
    self.ahead = ahead
    switch range {
    case .wholeFile:
      let digest = try FileHasher.digest(of: source)
      purpose = .wholeFile(digest)
      // Bytes that were hashed while they were sent are not read again.
      offset = digest.position
      end = source.file.size
    case .beginning(let length):
      let digest = try FileHasher.digest(of: source)
      purpose = .beginning(digest)
      offset = digest.position
      end = length
    case .range(let algorithm, let start, let length):
      let digest = if let ahead { ahead.digest } else { try Digest(algorithm) }
      purpose = .range(digest)
      offset = start
      end = start + length
    case .rangeAsSent(let start, let length, let run):
      purpose = .rangeAsSent(try Digest(.sha256), try Digest(.sha256), run)
      offset = start
      end = start + length
    case .wholeFileAgain:
      // Without a digest of what was sent, this is the digest of nothing, and the comparison fails.
      purpose = .wholeFileAgain(try Digest(.sha256), of: try FileHasher.digest(of: source))
      offset = 0
      end = source.file.size
      // The ring holds the end of the file back.
      try source.restartReading()
      return
    }
    buffers.clear()
  }

  private static func digest(of source: TransferSource) throws(UploadError) -> FileDigest {
    if let digest = source.digest { return digest }
    return try FileDigest()
  }

  func step(_ ready: Readiness, nowMilliseconds now: Int64) throws(UploadError) -> Wait? {
    switch ahead?.state {
    case .reading(let descriptor): return Wait(descriptor: descriptor, readiness: .readable, untilMilliseconds: .max)
    case .done: offset = end
    // Whatever it was, it is found here.
    case .failed: purpose = .range(try Digest(.sha256))
    case nil: break
    }
    ahead = nil
    guard offset < end else {
      try verify()
      return nil
    }
    let length = Int(min(end - offset, Int64(buffers.runLength)))
    let run = UnsafeMutableRawBufferPointer(rebasing: buffers.ring.spareRun.prefix(length))
    let count = try source.read(into: run, at: offset)
    let bytes = UnsafeRawBufferPointer(rebasing: run[..<count])
    switch purpose {
    // The source's own digest has these bytes already, and ignores them.
    case .wholeFile(let digest), .beginning(let digest): digest.update(bytes, at: offset)
    case .range(let digest), .wholeFileAgain(let digest, _): digest.update(bytes)
    case .rangeAsSent(let digest, let sent, let run):
      digest.update(bytes)
      let overlap = max(run.offset, offset)..<max(run.offset, offset, min(run.end, offset + Int64(count)))
      let skipped = Int(overlap.lowerBound - offset)
      sent.update(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skipped).prefix(overlap.count)))
    }
    hasRead = true
    offset += Int64(count)
    return Wait(untilMilliseconds: now)
  }

  private func verify() throws(UploadError) {
    switch purpose {
    case .wholeFileAgain: if hasRead { isStable = try source.isStable() }
    case .wholeFile, .beginning: if hasRead { isStable = try source.isUnchanged() }
    case .rangeAsSent: break
    case .range: if try source.hasStatusChanged() { changed = try source.statusTimeNow() }
    }
  }

  /// The result, once ``step(_:nowMilliseconds:)`` has returned nil.
  func hashed() throws(UploadError) -> HashResult {
    switch purpose {
    case .wholeFile(let digest):
      .wholeFile(sha256: try digest.finish(), isStable: isStable, md5: try digest.finishMD5())
    case .beginning(let digest): .beginning(sha256: try digest.soFar(), isStable: isStable)
    case .range(let digest): .range(digest: try digest.finish(), changed: changed)
    case .rangeAsSent(let digest, let sent, let run):
      .rangeAsSent(digest: try digest.finish(), isAsSent: try sent.finishInHex() == run.sha256)
    case .wholeFileAgain(let digest, let own):
      .wholeFileAgain(sent: try own.finish(), now: try digest.finishInHex(), isStable: isStable)
    }
  }
}

/// The SHA-256 of a range that is sent next, computed on another thread while this one sends what comes before it. The range is then in
/// the page cache, too.
final class HashAhead {
  enum State {
    /// The descriptor becomes readable when there is news.
    case reading(descriptor: Int32)
    case done
    case failed
  }

  let range: HashRange
  fileprivate let digest: Digest
  private let thread: HashThread
  private let file: SourceFile

  /// nil if the range is none, or there is no memory.
  init?(_ range: HashRange, of file: SourceFile, on thread: HashThread) {
    guard case .range(.sha256, let offset, let length) = range, let digest = try? Digest(.sha256) else { return nil }
    (self.range, self.digest, self.thread, self.file) = (range, digest, thread, file)
    thread.read(file.descriptor, offset: offset, length: length, into: digest.context)
  }

  deinit { thread.stopReading() }

  var state: State {
    switch thread.reading {
    case SHIM_HASHER_READ: .done
    case SHIM_HASHER_READING: .reading(descriptor: thread.descriptors[0])
    default: .failed
    }
  }
}

/// A second thread that digests runs of the ring while the first one sends them. What runs on it is `CShims/File/hashing.c`.
///
/// Bytes are digested in place. Until that is done, they must not be overwritten.
final class HashThread {
  private let pointer: OpaquePointer
  /// For poll(2), after a call of ``notify(doneWith:)``. Created once, because a wait must not allocate.
  let descriptors: [Int32]

  /// nil if no thread can be created.
  init?() {
    guard let pointer = shim_hasher_start() else { return nil }
    self.pointer = pointer
    descriptors = [shim_hasher_descriptor(pointer)]
  }

  deinit { shim_hasher_end(pointer) }

  /// Submits bytes.
  /// - Parameter mark: identifies the bytes; 0 or more, and growing.
  /// - Returns: false if too many are pending.
  func digest(_ bytes: UnsafeRawBufferPointer, into context: OpaquePointer, mark: Int64) -> Bool {
    shim_hasher_take(pointer, context, bytes.baseAddress, bytes.count, mark) != 0
  }

  /// The mark of the oldest pending bytes; nil if there are none.
  var oldestMark: Int64? {
    let mark = shim_hasher_oldest(pointer)
    return mark == Int64(SHIM_HASHER_IDLE) ? nil : mark
  }

  /// Requests an event when the oldest bytes, those with this mark, are done.
  /// - Returns: false if they are done already.
  func notify(doneWith mark: Int64) -> Bool { shim_hasher_notify(pointer, mark) != 0 }

  /// Reads a range of a file and digests it, while no bytes are pending.
  fileprivate func read(_ descriptor: Int32, offset: Int64, length: Int64, into context: OpaquePointer) {
    shim_hasher_read(pointer, context, descriptor, offset, length)
  }

  fileprivate var reading: Int { Int(shim_hasher_reading(pointer)) }
  fileprivate func stopReading() { shim_hasher_stop_reading(pointer) }

  /// Waits until nothing is pending, which takes as long as digesting a few runs.
  /// - Returns: false if a digest failed.
  @discardableResult
  func wait() -> Bool { shim_hasher_wait(pointer) != 0 }
}

/// A digest of a stream of bytes, with OpenSSL's EVP, which uses processor instructions if available.
final class Digest {
  /// OpenSSL's EVP_MD_CTX.
  let context: OpaquePointer
  private let length: Int
  private var hasFailed = false

  convenience init(_ algorithm: TusCapabilities.ChecksumAlgorithm) throws(UploadError) {
    switch algorithm {
    case .sha256: try self.init(EVP_sha256(), length: 32)
    case .sha1: try self.init(EVP_sha1(), length: 20)
    }
  }

  private init(_ algorithm: OpaquePointer?, length: Int) throws(UploadError) {
    shim_openssl_initialize()
    guard let context = EVP_MD_CTX_new() else { throw .outOfResources("memory") }
    (self.context, self.length) = (context, length)
    guard EVP_DigestInit_ex(context, algorithm, nil) == 1 else { throw .outOfResources("memory") }
  }

  /// For what servers say of objects, not for security.
  static func md5() throws(UploadError) -> Digest { try Digest(EVP_md5(), length: 16) }

  deinit { EVP_MD_CTX_free(context) }

  /// The SHA-256 of a short text.
  static func sha256(_ text: [UInt8]) throws(UploadError) -> [UInt8] {
    let digest = try Digest(.sha256)
    text.withUnsafeBytes { digest.update($0) }
    return try digest.finish()
  }

  /// The same with a key (RFC 2104).
  static func hmac(_ key: [UInt8], _ text: [UInt8]) throws(UploadError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    guard shim_hmac_sha256(key, key.count, text, text.count, &digest) == 1 else { throw .outOfResources("memory") }
    return digest
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    if EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1 { hasFailed = true }
  }

  /// The digest. Ends the computation.
  func finish() throws(UploadError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: length)
    guard EVP_DigestFinal_ex(context, &digest, nil) == 1, !hasFailed else { throw .outOfResources("memory") }
    return digest
  }

  /// The digest of the bytes so far, in lower-case hexadecimal digits. The computation goes on.
  func soFarInHex() throws(UploadError) -> String {
    guard let copy = EVP_MD_CTX_new() else { throw .outOfResources("memory") }
    defer { EVP_MD_CTX_free(copy) }
    var digest = [UInt8](repeating: 0, count: length)
    guard EVP_MD_CTX_copy_ex(copy, context) == 1, EVP_DigestFinal_ex(copy, &digest, nil) == 1, !hasFailed else {
      throw .outOfResources("memory")
    }
    return ASCII.hex(digest)
  }

  /// The digest in lower-case hexadecimal digits. Ends the computation.
  func finishInHex() throws(UploadError) -> String { ASCII.hex(try finish()) }
}

/// The SHA-256 of a file from an offset, and perhaps its MD5. Parts of the file may be sent more than once, or by another process. The digest
/// takes each byte once and in order, and ignores bytes that do not come next.
final class FileDigest {
  private let digest: Digest
  private let md5: Digest?
  /// The end of the bytes submitted so far, digested or not, as an offset in the file.
  private(set) var position: Int64
  private var result: String?
  private var resultMD5: String?
  /// The thread that may still be digesting its bytes.
  private var thread: HashThread?

  /// - Parameter withMD5: whether the MD5 is of use, too. Where OpenSSL may not compute it (FIPS), there is none.
  init(from offset: Int64 = 0, withMD5: Bool = false) throws(UploadError) {
    digest = try Digest(.sha256)
    md5 = withMD5 ? try? Digest.md5() : nil
    position = offset
  }

  deinit { thread?.wait() }

  /// Takes those of the bytes that come next.
  /// - Parameters:
  ///   - offset: their offset in the file.
  ///   - thread: digests them in place, so they must not change until it is done; nil digests them at once.
  ///   - mark: identifies them to the thread.
  func update(_ bytes: UnsafeRawBufferPointer, at offset: Int64, on thread: HashThread? = nil, mark: Int64 = 0) {
    let skipped = position - offset
    guard skipped >= 0, skipped < Int64(bytes.count) else { return }
    position += Int64(bytes.count) - skipped
    let next = UnsafeRawBufferPointer(rebasing: bytes[Int(skipped)...])
    if let thread { self.thread = thread }
    update(digest, next, on: thread, mark)
    if let md5 { update(md5, next, on: thread, mark) }
  }

  private func update(_ digest: Digest, _ bytes: UnsafeRawBufferPointer, on thread: HashThread?, _ mark: Int64) {
    if let thread, thread.digest(bytes, into: digest.context, mark: mark) { return }
    self.thread?.wait()
    digest.update(bytes)
  }

  /// The digest of the bytes up to ``position``, in hexadecimal digits.
  func soFar() throws(UploadError) -> String {
    if let result { return result }
    if let thread, !thread.wait() { throw .outOfResources("memory") }
    return try digest.soFarInHex()
  }

  /// The digest in hexadecimal digits. It takes no more bytes afterwards.
  func finish() throws(UploadError) -> String {
    if let result { return result }
    if let thread, !thread.wait() { throw .outOfResources("memory") }
    let text = try digest.finishInHex()
    result = text
    return text
  }

  /// The same of the MD5; nil if there is none.
  func finishMD5() throws(UploadError) -> String? {
    if let resultMD5 { return resultMD5 }
    if let thread, !thread.wait() { throw .outOfResources("memory") }
    resultMD5 = try md5?.finishInHex()
    return resultMD5
  }
}
