import Uploader

/// One option as given on the command line or in a configuration file.
struct GivenOption {
  let option: Option
  /// Empty if the option takes no argument.
  let argument: LocalPath
  /// Where a configuration file gives it, such as "FILE:12: "; nil on the command line.
  var place: String?
  /// Whether it counts: false for an option without an argument that a file sets to "no".
  var isOn = true

  /// Its name for messages.
  var label: String { place.map { $0 + OptionTable.name(of: option) } ?? "--" + OptionTable.name(of: option) }

  /// The error if it is given along with its alternative.
  var excluded: UsageError {
    let names = [option, option.alternative ?? option].sorted { $0.rawValue < $1.rawValue }.map {
      "--" + OptionTable.name(of: $0)
    }
    return UsageError((place ?? "") + names.joined(separator: " and ") + " cannot be used together.")
  }

  /// The argument as text; bytes that are not UTF-8 become "�".
  var text: String { String(decoding: argument.bytes, as: UTF8.self) }
}
