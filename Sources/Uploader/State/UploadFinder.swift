import CShims
import UploadCore

/// Looks up what the records say about files, for a caller that sends nothing itself.
package final class UploadFinder {
  package enum Finding: Equatable {
    /// Delivered, and nothing is left to do.
    case delivered
    /// Interrupted, or in progress.
    case begun
    case unknown
  }

  private let directory: StateDirectory

  /// Creates the state directory if it is missing.
  package init(_ path: LocalPath, warn: @escaping (String) -> Void) throws(StateError) {
    directory = try StateDirectory(path, warn: warn)
  }

  /// - Parameters:
  ///   - status: that of the request's file.
  ///   - hasStableInodes: whether its file system has stable inode numbers. Otherwise a delivery cannot be recognized without reading
  ///     the file.
  package func find(_ request: UploadRequest, _ status: shim_file_status, hasStableInodes: Bool) -> Finding {
    if hasStableInodes, let previous = directory.untouchedDelivery(of: request, FileSighting(status)) {
      let removes = request.afterDelivery.removal != nil
      return removes && directory.isRemovalDue(previous.upload) ? .unknown : .delivered
    }
    return directory.hasBegun(request, status) ? .begun : .unknown
  }
}
