import CShims
import Uploader

/// `gighive-upload clean DIR... --keep-free SIZE`: removes the files of the oldest deliveries until enough space is free.
enum Clean {
  static func run(_ options: [GivenOption], _ operands: Operands) throws(UsageError) -> Int32 {
    let common = try CommonArguments(options)
    guard !operands.isEmpty else { throw UsageError("give at least one directory.") }
    guard let wanted = try options.last(where: { $0.option == .keepFree })?.size() else {
      throw UsageError("give the space to keep free: --keep-free SIZE.")
    }
    if let ceiling = try options.last(where: { $0.option == .maxMemory })?.size() {
      guard MemoryCeiling.set(ceiling, isJSON: common.isJSON) else { return ExitCode.memoryCeiling }
    }
    let filter = try DestinationFilter(options, isAll: true)
    let report = Report(common, progress: .none)
    guard DescriptorLimit.allows(jobs: 1, report) else { return ExitCode.memoryCeiling }
    let cancellation = SignalCancellation.begin()
    var exitCode = ExitCode.delivered
    for directory in operands {
      let code = free(wanted, in: directory, filter, options, common, report, cancellation)
      exitCode = ExitCode.combined(exitCode, code)
    }
    return exitCode
  }

  private static func free(
    _ wanted: Int64, in directory: LocalPath, _ filter: DestinationFilter?, _ options: [GivenOption],
    _ common: CommonArguments, _ report: Report, _ cancellation: Cancellation
  ) -> Int32 {
    guard let place = CleanedDirectory(directory) else {
      report.failed(
        directory, PrintableText.line(directory.text) + " is not a directory, or cannot be accessed.",
        exitCode: ExitCode.inputFile)
      return ExitCode.inputFile
    }
    let isDryRun = options.has(.dryRun)
    if !isDryRun {
      common.recoverRemovals(report)
      common.reserveForRemovals(in: place.path)
    }
    // Once there is space again.
    defer { if !isDryRun { common.reserveForRemovals(in: place.path) } }
    let before = place.freeSpace()
    if before.usable >= wanted { return ExitCode.delivered }
    guard let records = Records(common, report) else { return ExitCode.stateDirectory }
    var after = AfterDelivery()
    after.trustsServer = options.has(.trustServer)
    after.trustsSettle = options.has(.trustSettle)
    let remover = Remover(.delete, after, options, records, report, cancellation)
    let walk = records.directory.walkDeliveries { filter?.includes($0) ?? true && place.location(of: $0) != nil }
    // Some file systems free the space of a file only seconds after its removal. No other file is removed because of that. Where it is free at
    // once, a recorder may have taken it since.
    func free() -> FreeSpace {
      let now = place.freeSpace()
      if now.freesAtOnce, !isDryRun { return now }
      return FreeSpace(
        bytes: max(now.bytes, before.bytes + remover.removedBytes),
        files: max(now.files, before.files &+ Int64(remover.count)))
    }
    do throws(StateError) {
      while free().usable < wanted, let record = try walk.next() {
        Console.awaitAdmission(cancellation)
        if cancellation.isCancelled { break }
        guard let path = place.location(of: record) else { continue }
        try remover.remove(record, at: path, below: place.path, askedAs: place.given(path))
      }
    } catch { return Records.fail(error, report) }
    let free = free()
    report.say(summary(remover, free: free.bytes, now: place.freeSpace().bytes, wanted: wanted))
    if free.usable >= wanted { return ExitCode.delivered }
    let name = PrintableText.line(directory.text)
    if cancellation.isCancelled {
      let code = ExitCode.interruptedBase + shim_signal_received()
      report.failed(directory, name + ": interrupted before enough space was free.", exitCode: code)
      return code
    }
    report.failed(
      directory,
      name + ": " + free.shortage(ofWanted: wanted) + ", and no other delivered recording can be removed.",
      exitCode: ExitCode.notEnoughSpace)
    return ExitCode.notEnoughSpace
  }

  /// - Parameters:
  ///   - free: what is free once the file system has freed the removed files, in bytes.
  ///   - now: what is free now.
  private static func summary(_ remover: Remover, free: Int64, now: Int64, wanted: Int64) -> String {
    let files = String(remover.count) + (remover.count == 1 ? " file" : " files")
    if remover.isDryRun { return files + " would be removed; " + SizeText.short(free) + " would be free." }
    let removed = files + " removed; "
    if now >= min(free, wanted) { return removed + SizeText.short(now) + " is free." }
    return removed + SizeText.short(now) + " is free now, and " + SizeText.short(free)
      + " once the file system has released the space. It does not, if a snapshot has the same content."
  }
}

/// A directory on whose file system space is to be kept free.
private final class CleanedDirectory {
  /// Without links.
  let path: LocalPath
  private let givenPath: LocalPath
  private let device: UInt64
  /// The last directory of a record, and its path without links if it is below this one.
  private var last: (directory: LocalPath, real: LocalPath?)?

  /// - Returns: nil if it is not a directory, or cannot be accessed.
  init?(_ directory: LocalPath) {
    guard let path = directory.withoutLinks, let status = shim_file_status(at: path), status.isDirectory,
      FreeSpace(at: path) != nil
    else { return nil }
    self.path = path
    givenPath = directory.withoutFinalSlashes
    device = status.device
  }

  /// A path in it, as whoever named the directory knows it.
  func given(_ file: LocalPath) -> LocalPath {
    LocalPath(bytes: givenPath.bytes + file.bytes.dropFirst(path.bytes.count))
  }

  /// Nothing if the file system no longer says.
  func freeSpace() -> FreeSpace { FreeSpace(at: path) ?? FreeSpace(bytes: 0, files: 0) }

  /// The path of the record's file without links, if it is there, below this directory and on its file system; else nil.
  func location(of record: UploadRecord) -> LocalPath? {
    let directory = record.file.path.directory
    if last?.directory != directory {
      let real = directory.withoutLinks.flatMap { (real) -> LocalPath? in
        path.contains(real.bytes) && shim_file_status(at: real)?.device == device ? real : nil
      }
      last = (directory, real)
    }
    guard let file = last?.real?.appendingName(record.file.path.name.bytes) else { return nil }
    // On overlayfs, it has another device than its directory.
    return shim_file_status(ofLinkAt: file) == nil ? nil : file
  }
}

extension LocalPath {
  /// The absolute path without links; nil if there is nothing.
  var withoutLinks: LocalPath? {
    var buffer = [CChar](repeating: 0, count: 4096)
    guard let name = cString, shim_real_path(name, &buffer, buffer.count) == 0 else { return nil }
    return LocalPath(cString: buffer)
  }

  /// What follows a directory in this path without links, as far as it exists; empty for the directory itself, nil elsewhere. A link or a
  /// bind mount gives a directory another path, so device and inode are compared.
  func relative(to directory: shim_file_status) -> [UInt8]? {
    // The one above "a/.." is not "a".
    let real = withoutLinks ?? self.directory.withoutLinks?.appendingName(name.bytes) ?? self
    var above = real
    while true {
      if shim_file_status(at: above)?.isSameFile(as: directory) ?? false {
        return Array(real.bytes.dropFirst(above.bytes.count).drop { $0 == ASCII.slash })
      }
      guard above.bytes.count > 1 else { return nil }
      above = above.directory
    }
  }
}
