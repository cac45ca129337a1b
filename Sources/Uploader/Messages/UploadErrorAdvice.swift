import UploadCore

extension UploadError {
  /// What to do about it, for callers of every kind; nil where ``problem`` says it, or where there is nothing to do. A
  /// program that knows better, such as which of its options helps, says that instead.
  package var advice: String? {
    switch self {
    case .changed: "End that upload, then send the file again."
    case .state(let error): error.advice
    case .tls(let error, _): error.advice
    case .tus(let error): error.advice
    case .proxyRefused(let status, _): status == 407 ? nil : "Check the settings for proxies."
    case .proxyUnusable: "Correct it, or name this host as an exception from it."
    case .refused(let status, _): status == 413 ? "A wrong name for the form's file gives the same answer." : nil
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .conflict, .delivered, .noSuchName, .noResolver,
      .notConnected,
      .timedOut, .connectionLost, .invalidResponse, .redirected, .redirectionRefused, .checksumDiffers, .sizeDiffers,
      .unconfirmed, .stillProcessing, .prematureSuccess, .uploadLost, .mayBeStored,
      .uncertain, .notFromServer, .guestTokenRefused, .termsNotAccepted, .cancelled, .outOfResources:
      nil
    }
  }
}
