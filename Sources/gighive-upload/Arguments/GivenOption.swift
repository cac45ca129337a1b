import Uploader

/// One option as given on the command line.
struct GivenOption {
  let option: Option
  /// Empty if the option takes no argument.
  let argument: LocalPath

  /// The argument as text; bytes that are not UTF-8 become "�".
  var text: String { String(decoding: argument.bytes, as: UTF8.self) }
}
