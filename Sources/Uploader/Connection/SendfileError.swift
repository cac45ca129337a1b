import UploadCore

/// Why sendfile(2) failed: either end can fail.
enum SendfileError: Error, Equatable {
  case stream(StreamError)
  case file(FileError)
}
