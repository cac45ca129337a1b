import CShims
import Uploader

/// What failed and what to do about it, for a person at the command line.
extension UploadError {
  /// What failed and what to do about it at the command line.
  var explanation: String { explanation(after: nil) }

  /// The same, with the software that wrote the response that led to it.
  func explanation(after answer: RedactedAnswer?) -> String {
    if let postponement { return cause.explanation(after: answer) + " " + postponement }
    return ([explanationOfCause(after: answer)] + sizeAdvice(after: answer)).joined(separator: " ")
  }

  /// What to do about a recording that is too large for where it was sent.
  private func sizeAdvice(after answer: RedactedAnswer?) -> [String] {
    guard isTooLargeAsForm, let answer else { return [] }
    let isUnknown = answer.remedy == nil
    switch answer.request {
    case .gigHiveForm where answer.software == .apache: return [UploadError.tusForLargeFiles, UploadError.whichLimit]
    case .gigHiveForm: return [UploadError.tusForLargeFiles]
    case .otherForm: return isUnknown ? [LikelySoftware.limitsOfForms] : []
    case .other: return isUnknown ? [LikelySoftware.limitOfTus] : []
    }
  }

  private func explanationOfCause(after answer: RedactedAnswer?) -> String {
    let problem = problem(after: answer)
    if let advice = answer?.commandAdvice { return problem + " " + advice }
    guard let advice = commandRemedy, !isExplained(by: answer) else { return problem }
    return problem + " " + advice
  }

  /// What to do about it at the command line; nil if ``problem`` says so already or nothing helps.
  var commandRemedy: String? {
    switch self {
    case .file(_, .unreadable(SystemError(code: SHIM_EACCES))): StateOwner.explanation
    case .state(.unusable(_, SystemError(code: SHIM_EACCES))): StateOwner.permissionAdvice
    default: advice(for: .commandLine)
    }
  }

  /// Whether the explanation starts with the file's name.
  var namesFile: Bool {
    switch self {
    case .file, .changed: true
    default: false
    }
  }

  private static let whichLimit = "gighive-upload doctor tells Apache's limit from ModSecurity's."

  private static let tusForLargeFiles =
    "A GigHive server with tus takes it in parts: use --protocol tus, or --threshold for all files of that size or more."
}

extension RedactedAnswer {
  /// What to do about it at the command line, beside ``remedy``; nil if that says enough.
  fileprivate var commandAdvice: String? {
    if lacksCredentials {
      return "Give a user name and a password: --user with --password-file, or --netrc; or a token: --bearer-file or"
        + " --upload-token-file."
    }
    return software == .cloudflareAccess ? "Put them into a file for --header-file." : nil
  }

  /// What to do about it; nil if there is no advice.
  var commandRemedy: String? {
    let parts = [remedy, commandAdvice].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}

extension EventFormError {
  /// What is wrong with the form, and which option helps.
  var explanation: String { UploadError.form(self).explanation }
}
