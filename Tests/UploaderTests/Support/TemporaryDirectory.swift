import Glibc

@testable import Uploader

/// A temporary directory, removed with its content.
final class TemporaryDirectory {
  let path: String

  init() {
    var template = Array("/tmp/uploader-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp failed") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    guard let listing = opendir(path) else { return }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { remove(path + "/" + name) }
    }
    closedir(listing)
    rmdir(path)
  }

  func path(of name: String) -> String { path + "/" + name }

  /// Creates a file with this content.
  func file(_ name: String, _ content: [UInt8]) -> LocalPath {
    write(content, to: name, flags: O_WRONLY | O_CREAT | O_TRUNC, at: 0)
    return LocalPath(path(of: name))
  }

  func append(_ content: [UInt8], to name: String) { write(content, to: name, flags: O_WRONLY | O_APPEND, at: nil) }

  /// Overwrites a part of the file, with a new modification time.
  func overwrite(_ content: [UInt8], in name: String, at offset: Int) {
    write(content, to: name, flags: O_WRONLY, at: offset)
    let times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 7)]
    guard utimensat(AT_FDCWD, path(of: name), times, 0) == 0 else { fatalError("utimensat failed") }
  }

  /// Overwrites a part of the file and restores its modification time, like tag editors.
  func rewrite(_ content: [UInt8], in name: String, at offset: Int) {
    var status = stat()
    stat(path(of: name), &status)
    passTime(behind: status.st_ctim, name)
    write(content, to: name, flags: O_WRONLY, at: offset)
    guard utimensat(AT_FDCWD, path(of: name), [status.st_atim, status.st_mtim], 0) == 0 else {
      fatalError("utimensat failed")
    }
  }

  /// Changes only the status of the file.
  func touch(_ name: String) {
    var status = stat()
    stat(path(of: name), &status)
    passTime(behind: status.st_ctim, name)
  }

  /// The kernel's clock for files is coarse: waits until it shows another time.
  private func passTime(behind time: timespec, _ name: String) {
    var status = stat()
    repeat {
      chmod(path(of: name), 0o600)
      stat(path(of: name), &status)
    } while status.st_ctim.tv_sec == time.tv_sec && status.st_ctim.tv_nsec == time.tv_nsec
  }

  func truncate(_ name: String, to length: Int) {
    guard Glibc.truncate(path(of: name), length) == 0 else { fatalError("truncate failed") }
  }

  private func write(_ content: [UInt8], to name: String, flags: Int32, at offset: Int?) {
    let descriptor = open(path(of: name), flags, 0o600)
    guard descriptor >= 0 else { fatalError("open failed") }
    defer { close(descriptor) }
    var done = 0
    while done < content.count {
      let count = content[done...].withUnsafeBytes { rest in
        offset.map { pwrite(descriptor, rest.baseAddress, rest.count, $0 + done) }
          ?? Glibc.write(descriptor, rest.baseAddress, rest.count)
      }
      guard count > 0 else { fatalError("write failed") }
      done += count
    }
  }
}
