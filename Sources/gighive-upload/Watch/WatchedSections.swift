import Uploader

/// The `[watch DIR]` sections of the configuration, for a process that no watcher has started: one of them may still have to send what it
/// removes.
final class WatchedSections {
  /// The configuration file that was given; nil for the usual ones.
  private let file: LocalPath?
  private let warn: (String) -> Void
  private var groups: [WatchArguments]?

  init(of file: LocalPath?, warn: @escaping (String) -> Void) {
    self.file = file
    self.warn = warn
  }

  /// All sections that are to send a file make sure that it stays until they have.
  /// - Returns: false if one of them cannot do so now.
  func claim(_ path: LocalPath) -> Bool {
    do throws(UsageError) {
      if groups == nil { groups = try read() }
      guard let real = path.directory.withoutLinks?.appendingName(path.name.bytes) else { return false }
      for group in groups ?? [] {
        for directory in group.directories where try !claim(real, for: group, in: directory) { return false }
      }
      return true
    } catch {
      warn(error.message)
      return false
    }
  }

  private func read() throws(UsageError) -> [WatchArguments] {
    let given = file.map { [GivenOption(option: .config, argument: $0)] } ?? []
    return try ConfiguredOptions.watchedDirectories(with: given).isEmpty ? [] : WatchArguments.groups(given, Operands())
  }

  private func claim(_ file: LocalPath, for group: WatchArguments, in directory: LocalPath) throws(UsageError) -> Bool {
    guard let root = directory.withoutLinks, let rest = file.relative(to: root) else { return true }
    let finder: UploadFinder
    do throws(StateError) { finder = try UploadFinder(group.statePath, warn: warn) } catch {
      throw UsageError(UploadError.state(error).problem)
    }
    var existing: ExistingList?
    if group.existing == .skip {
      existing = try? ExistingList.open(of: directory, in: group.statePath)
      // As long as it is not known what was there, nothing is known to be wanted, or not to be.
      if existing == nil { return false }
    }
    return FileInspector(group, finder).claim(
      directory.appendingName(rest.bytes).bytes, below: directory, existing: existing)
  }
}
