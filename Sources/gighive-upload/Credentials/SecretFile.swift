import CShims
import Uploader

struct SecretFile {
  let path: LocalPath
  /// Where a configuration file names it, such as "FILE:12: password-file"; nil on the command line.
  private let place: String?
  /// The option that names it without a directory, so that this may be the secret itself, which belongs into the file; nil otherwise.
  private let secretiveLabel: String?

  init(_ path: LocalPath) {
    self.path = path
    (place, secretiveLabel) = (nil, nil)
  }

  init(_ given: GivenOption) {
    path = given.argument
    place = given.place == nil ? nil : given.label
    secretiveLabel = given.isBareName ? given.label : nil
  }

  func firstLine(allowsShared: Bool, mayWait: Bool = true) throws(UsageError) -> [UInt8] {
    let bytes = try read(limit: Limits.secretFileLength, allowsShared: allowsShared, mayWait: mayWait)
    let line = bytes.prefix { $0 != ASCII.lineFeed && $0 != ASCII.carriageReturn }
    guard !line.isEmpty else { throw UsageError(name + " has an empty first line.") }
    return Array(line)
  }

  /// Reads a whole file, or a pipe such as `<(pass show gighive)`.
  /// - Parameters:
  ///   - allowsShared: whether a file that other users can read is accepted.
  ///   - mayWait: whether to wait until a pipe has a writer.
  func read(limit: Int, allowsShared: Bool, mayWait: Bool = true) throws(UsageError) -> [UInt8] {
    guard let cString = path.cString else { throw UsageError("a file name cannot contain a NUL.") }
    let kept = CredentialStore.descriptor(of: path)
    let descriptor = kept ?? shim_open_for_reading(cString, mayWait ? 1 : 0)
    guard descriptor >= 0 else { throw failure(SystemError(result: descriptor)) }
    defer { if kept == nil { _ = shim_close(descriptor) } }
    if !allowsShared { try refuseShared(descriptor) }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes =
        kept == nil ? try SmallFile.read(descriptor, limit: limit) : try SmallFile.read(descriptor, limit + 1, at: 0)
    } catch { throw failure(error) }
    guard bytes.count <= limit else { throw UsageError(name + " is longer than " + SizeText.exact(Int64(limit)) + ".") }
    return bytes
  }

  /// Refuses a pipe, or anything else that can be read only once. A file that is missing is reported when it is read.
  static func requireRegular(_ path: LocalPath) throws(UsageError) {
    guard let status = shim_file_status(at: path), !status.isRegular else { return }
    throw UsageError(
      PrintableText.line(path.text)
        + " is not a regular file. A watcher reads it again for each upload process, so a pipe cannot be used; write it to a "
        + "file that only you can read.")
  }

  /// For messages.
  var name: String { (place.map { $0 + ": " } ?? "") + PrintableText.line(path.text) }

  private func failure(_ error: SystemError) -> UsageError {
    if error.code == SHIM_ENOENT, let secretiveLabel {
      return UsageError(
        secretiveLabel
          + ": there is no such file. What was given is not shown, because it may be the secret itself: the option takes"
          + " the name of a file that has it.")
    }
    var text = name + ": " + error.text + "."
    if error.code == SHIM_EACCES {
      if let explanation = StateOwner.explanation {
        text += " " + explanation
      } else if place != nil {
        text += " It is another user's, such as a service's: use sudo."
      }
    }
    return UsageError(text)
  }

  /// Refuses a file that other users can read.
  private func refuseShared(_ descriptor: Int32) throws(UsageError) {
    let status: shim_file_status
    do throws(SystemError) { status = try .of(descriptor) } catch { throw failure(error) }
    // The group permissions of systemd's copy are the mask of an access control list.
    let others: UInt32 = CredentialStore.isPassed(path) ? 0o037 : 0o077
    if !status.isRegular || status.mode & others == 0 { return }
    throw UsageError(
      name
        + " can be read by other users; run chmod 600 on it, or set shared-secrets = yes in the configuration to accept it."
    )
  }
}

extension Limits {
  /// A file with a password or token, in bytes.
  static let secretFileLength = 4096
}
