import CShims
import Uploader

/// `FILE.upload` beside a file: lines of `option = value` that describe it.
struct Sidecar {
  private let file: LocalPath
  private let path: LocalPath
  private let foundBelow: LocalPath?

  /// - Parameter foundBelow: the directory that the file was found in; nil if it was named.
  init(of file: LocalPath, below foundBelow: LocalPath? = nil) {
    self.file = file
    self.foundBelow = foundBelow
    path = file.sidecar
  }

  private var name: String { PrintableText.line(path.lastComponent) }

  var exists: Bool {
    guard let descriptor = open() else { return false }
    if descriptor >= 0 { _ = shim_close(descriptor) }
    return true
  }

  /// Its options, and which file it was; nil if there is no sidecar.
  func content() throws(UnsendableFile) -> (options: [GivenOption], seen: FileSighting)? {
    guard let (bytes, seen) = try read() else { return nil }
    do throws(UsageError) { return (try options(in: bytes), seen) } catch { throw UnsendableFile(file, error) }
  }

  private func options(in bytes: [UInt8]) throws(UsageError) -> [GivenOption] {
    let file: ConfigurationFile
    do throws(ConfigurationError) { file = try ConfigurationFile(parsing: bytes) } catch {
      throw UsageError(name + (error.line.map { ":" + String($0) } ?? "") + ": " + ConfigurationSource.text(of: error))
    }
    guard file.sections.isEmpty else { throw UsageError(name + ": a sidecar file cannot have sections.") }
    var options: [GivenOption] = []
    for entry in file.entries {
      let place = name + ":" + String(entry.line) + ": "
      let option = try DescriptiveOptions.option(entry.name, place)
      guard option.has(.repeatable) || !options.contains(where: { $0.option == option }) else {
        throw UsageError(place + option.name + " is given twice.")
      }
      options.append(GivenOption(option: option, argument: LocalPath(bytes: entry.value), place: place))
    }
    return options
  }

  /// A descriptor, or -errno; nil if there is nothing.
  private func open() -> Int32? {
    let descriptor: Int32
    do throws(SystemError) {
      descriptor = try OpenDirectory(path.directory, below: foundBelow).open(path.name)
    } catch {
      // If its directory is behind a link, so is the file, as the upload will say.
      if error.code == SHIM_ELOOP { return nil }
      descriptor = -error.code
    }
    // A name that is too long for the file system cannot exist.
    return [SHIM_ENOENT, SHIM_ENOTDIR, SHIM_ENAMETOOLONG].contains(-descriptor) ? nil : descriptor
  }

  private func read() throws(UnsendableFile) -> ([UInt8], FileSighting)? {
    guard let descriptor = open() else { return nil }
    guard descriptor >= 0 else {
      if -descriptor == SHIM_ELOOP { throw unsendable(name + " is a link, which is not followed.") }
      throw UnsendableFile(file, name, SystemError(result: descriptor))
    }
    defer { _ = shim_close(descriptor) }
    guard let status = shim_file_status(of: descriptor), status.isRegular else {
      throw unsendable(name + " is not a regular file.")
    }
    guard status.size <= Int64(Limits.sidecarLength) else { throw tooLong }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try SmallFile.read(descriptor, limit: Limits.sidecarLength) } catch {
      throw UnsendableFile(file, name, error)
    }
    guard bytes.count <= Limits.sidecarLength else { throw tooLong }
    return (bytes, FileSighting(status, on: FileSystem.kind(type: shim_file_system_type(descriptor))))
  }

  private func unsendable(_ message: String) -> UnsendableFile { UnsendableFile(file, UsageError(message)) }

  private var tooLong: UnsendableFile {
    unsendable(name + ": the file is longer than " + String(Limits.sidecarLength) + " bytes.")
  }
}

/// Saves looking for a file beside each of thousands of recordings. Where recordings of a directory follow each other quickly, as those
/// that were delivered before do, one reading of its names says for some time whether any of them can have one.
final class SidecarSearch {
  private var directory: LocalPath = ""
  /// When it began with the recordings that are counted, in milliseconds.
  private var start: Int64 = 0
  private var count = 0
  /// Whether there were many in the time before.
  private var isQuick = false
  /// Whether the directory had any such file when its names were read; nil if they were not.
  private var hasSidecars: Bool?

  /// Whether to look for a file beside this one.
  func mayFind(beside file: LocalPath) -> Bool {
    let now = shim_monotonic_milliseconds()
    let parent = file.directory
    if parent != directory || now - start > Limits.sidecarSearchMilliseconds {
      isQuick = parent == directory && count > Limits.sidecarLookCount
      (directory, start, count, hasSidecars) = (parent, now, 0, nil)
    }
    count += 1
    guard isQuick || count > Limits.sidecarLookCount else { return true }
    if let hasSidecars { return hasSidecars }
    start = now
    let found = SidecarSearch.hasSidecars(parent)
    hasSidecars = found
    return found
  }

  /// Also if the directory cannot be read.
  private static func hasSidecars(_ directory: LocalPath) -> Bool {
    var isAny = false
    let result = shim_visit_directory(
      directory.cName,
      { name, context in
        guard let name, let context, FileSelection.isSidecar(LocalPath(cString: name).bytes) else { return }
        context.assumingMemoryBound(to: Bool.self).pointee = true
      }, &isAny)
    return isAny || result != 0
  }
}

extension Limits {
  /// A sidecar file, in bytes.
  static let sidecarLength = 16 << 10
  /// For how many recordings of a directory it is looked for before all names are read instead.
  static let sidecarLookCount = 16
  /// For how long those names are believed, in milliseconds.
  static let sidecarSearchMilliseconds: Int64 = 2000
}
