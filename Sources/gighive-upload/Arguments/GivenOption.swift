import Uploader

/// One option as it was given.
struct GivenOption {
  let option: Option
  /// Empty if the option takes no argument.
  let argument: LocalPath

  /// Where text is wanted, what is not UTF-8 becomes "�".
  var text: String { String(decoding: argument.bytes, as: UTF8.self) }
}
