import CShims
import Uploader

/// `FILE.upload` beside a file: lines of `option = value` that describe it.
struct Sidecar {
  private let file: LocalPath
  private let path: LocalPath

  init(of file: LocalPath) {
    self.file = file
    path = LocalPath(bytes: file.bytes + FileSelection.sidecarEnding.utf8)
  }

  private var name: String { PrintableText.line(path.lastComponent) }

  /// Whether there is something of that name.
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
      guard option.isRepeatable || !options.contains(where: { $0.option == option }) else {
        throw UsageError(place + OptionTable.name(of: option) + " is given twice.")
      }
      options.append(GivenOption(option: option, argument: LocalPath(bytes: entry.value), place: place))
    }
    return options
  }

  /// A descriptor, or -errno; nil if there is nothing.
  private func open() -> Int32? {
    guard let cString = path.cString else { return nil }
    let descriptor = shim_open_nofollow(cString)
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
    var status = shim_file_status()
    guard shim_fstat(descriptor, &status) == 0, Int(status.kind) == SHIM_KIND_REGULAR else {
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
