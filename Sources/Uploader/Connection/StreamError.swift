import UploadCore

/// Why a stream cannot go on.
enum StreamError: Error, Equatable {
  case system(SystemError)
  case tls(TLSError)
}

/// Why a file cannot be passed on directly: either end can fail.
enum SendfileError: Error, Equatable {
  case stream(StreamError)
  case file(FileError)
}
