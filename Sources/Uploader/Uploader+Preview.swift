import CShims
import UploadCore

extension Uploader {
  /// Examines a recording and its records, but sends nothing and connects to nothing.
  /// - Throws: what would end its upload at once, such as ``UploadError/delivered(_:)``.
  package func preview(_ request: UploadRequest) throws(UploadError) -> UploadPreview {
    if let problem = problem ?? request.problem { throw problem }
    let file: SourceFile
    do throws(FileError) {
      file = try SourceFile.open(request.file, limit: request.sizeLimit, below: request.foundBelow)
    } catch { throw .file(request.file, error) }
    let directory = try existingStateDirectory()
    let isGuest = shared.configuration.credentials.areGuests
    guard let directory else {
      return UploadPreview(
        size: file.size, usesTus: request.prefersTus(size: file.size, isGuest: isGuest), recordID: nil)
    }
    let record = try record(of: request, for: file, in: directory)
    let usesTus = directory.adapted(request).prefersTus(size: file.size, isGuest: isGuest)
    return UploadPreview(size: file.size, usesTus: usesTus, recordID: record?.id)
  }

  /// The size of a file that could be sent, in bytes.
  package static func size(of file: LocalPath, limit: Int64) throws(UploadError) -> Int64 {
    do throws(FileError) { return try SourceFile.open(file, limit: limit).size } catch {
      throw .file(file, error)
    }
  }

  /// A state directory that does not exist is not created.
  private func existingStateDirectory() throws(UploadError) -> StateDirectory? {
    var status = shim_file_status()
    guard let path = shared.configuration.stateDirectory, let name = path.cString,
      shim_stat(name, &status) == 0
    else { return nil }
    let warnings = shared.configuration.warnings
    do throws(StateError) { return try shared.state.open(path, warn: { warnings?($0) }) } catch { throw .state(error) }
  }

  private func record(
    of request: UploadRequest, for file: SourceFile, in directory: StateDirectory
  ) throws(UploadError) -> UploadRecord? {
    let buffers = slots.spare.buffers
    buffers.clear()
    let identity = try file.identity(using: buffers.ring.writableRun, on: shared.fileSystems.kind(of: file))
    return try RecordSearch.find(for: file, identity, of: request, in: directory)
  }
}
