import CShims
import Uploader

/// The `[watch DIR]` sections of the configuration, for a process that no watcher has started: one of them may still have to send what it
/// removes.
final class WatchedSections {
  private let file: LocalPath?
  /// That of the command line; nil if it names none.
  private let givenState: LocalPath?
  /// That of this process; nil for none.
  private let ownState: LocalPath?
  private let warn: (String) -> Void
  private var groups: [(arguments: WatchArguments, inspector: FileInspector)]?

  /// - Parameters:
  ///   - file: nil for the usual configuration files.
  ///   - givenState: the state directory that the command line names; nil for none.
  ///   - ownState: the state directory of this process; nil for none.
  init(
    of file: LocalPath?, givenState: LocalPath?, ownState: LocalPath?, warn: @escaping (String) -> Void
  ) {
    self.file = file
    self.givenState = givenState
    self.ownState = ownState
    self.warn = warn
  }

  /// All sections that are to send a file make sure that it stays until they have.
  /// - Returns: false if one of them cannot do so now.
  func claim(_ path: LocalPath) -> Bool {
    do throws(UsageError) {
      if groups == nil { groups = try read() }
      guard path.directory.withoutLinks != nil else { return false }
      for (arguments, inspector) in groups ?? [] {
        inspector.forgetFileSystem()
        for directory in arguments.directories
        where !claim(path, for: arguments, inspector, in: directory) {
          return false
        }
      }
      return true
    } catch {
      warn(error.message)
      return false
    }
  }

  private func read() throws(UsageError) -> [(arguments: WatchArguments, inspector: FileInspector)] {
    var given = file.map { [GivenOption(option: .config, argument: $0)] } ?? []
    // As the watcher has it, whose command line may name it, too. It comes before what a section says.
    if let givenState, StatusFile.hasWatcher(in: givenState) {
      given.append(GivenOption(option: .stateDir, argument: givenState))
    }
    if try ConfiguredOptions.watchedDirectories(with: given).isEmpty { return [] }
    let groups = try WatchArguments.groups(given, Operands())
    let finder: UploadFinder
    // All groups have the same state directory.
    do throws(StateError) { finder = try UploadFinder(groups[0].statePath, warn: warn) } catch {
      throw UsageError(UploadError.state(error).problem)
    }
    return groups.map { ($0, FileInspector($0, finder)) }
  }

  private func claim(
    _ file: LocalPath, for arguments: WatchArguments, _ inspector: FileInspector, in directory: LocalPath
  ) -> Bool {
    guard let status = shim_file_status(at: directory), let rest = file.directory.relative(to: status) else {
      return true
    }
    var existing: ExistingList?
    if arguments.existing == .skip {
      existing = try? ExistingList.open(of: directory, in: arguments.statePath)
      // As long as it is not known what was there, nothing is known to be wanted, or not to be.
      if existing == nil { return false }
    }
    let path = (rest.isEmpty ? directory : directory.appendingName(rest)).appendingName(file.name.bytes)
    // Nobody would finish it elsewhere, and whoever removes the file does not see what a record elsewhere says.
    let begins = arguments.statePath == ownState?.absolute && StatusFile.hasWatcher(in: arguments.statePath)
    return inspector.claim(path.bytes, below: directory, existing: existing, begins: begins)
  }
}
