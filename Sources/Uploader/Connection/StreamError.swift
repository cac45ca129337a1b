import UploadCore

/// Why a stream failed.
enum StreamError: Error, Equatable {
  case system(SystemError)
  case tls(TLSError)
}

/// Why sendfile(2) failed: either end can fail.
enum SendfileError: Error, Equatable {
  case stream(StreamError)
  case file(FileError)
}
