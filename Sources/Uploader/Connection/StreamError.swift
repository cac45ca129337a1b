import UploadCore

/// Why a stream failed.
enum StreamError: Error, Equatable {
  case system(SystemError)
  case tls(TLSError)
}
