import Uploader

extension FilePresence {
  /// For a row of `list`; nil if there is nothing to say.
  var remark: String? {
    switch self {
    case .present: nil
    case .gone: "gone"
    case .waitingForMedium: "waiting for its drive"
    case .unknown(let error): "cannot be accessed: " + error.text
    }
  }

  /// For programs.
  var word: String {
    switch self {
    case .present: "present"
    case .gone: "gone"
    case .waitingForMedium: "waiting"
    case .unknown: "unknown"
    }
  }
}
