import UploadCore

extension UploadError {
  /// What to do about it, for any caller; nil if ``problem`` says so already or nothing helps. A program with better
  /// advice, such as which option to use, gives its own instead.
  package var advice: String? {
    switch self {
    case .changed: "Send the file as it is now."
    case .state(let error): error.advice
    case .tls(let error, _): error.advice
    case .tus(let error): error.advice
    case .proxyRefused(status: 407, _, hadCredentials: false): nil
    case .proxyRefused: "Check the proxy settings."
    case .congestionControlRefused: "The automatic choice works without it."
    case .timedOut(.awaitingAnswer, _, _):
      "The server accepts connections, but its program does not answer: restart it, or check the address and the port."
    case .connectionLost(.handshaking, _, _): TLSError.closedDuringHandshake.advice
    case .noLocalName: "Check that the server is switched on and on the same network, or use its address."
    case .addressExcluded: "Use a name, or an address of that version."
    case .proxyUnusable: "Correct it, or exclude this host from the proxy."
    case .refused(let status, _): status == 413 ? "A wrong name for the form's file field has the same effect." : nil
    case .invalidConfiguration, .form, .formData, .requestHead, .file, .conflict, .delivered, .noSuchName, .noResolver,
      .notConnected,
      .timedOut, .connectionLost, .invalidResponse, .redirected, .redirectionRefused, .checksumDiffers, .sizeDiffers,
      .unconfirmed, .stillProcessing, .prematureSuccess, .uploadLost, .mayBeStored,
      .formDropped, .uncertain, .notFromServer, .postponed, .guestTokenRefused, .termsNotAccepted, .cancelled,
      .outOfResources:
      nil
    }
  }
}
