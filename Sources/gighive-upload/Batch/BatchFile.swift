import Uploader

/// A file to send, and where it came from.
struct BatchFile {
  let path: LocalPath
  /// Whether it was found in a directory, rather than named.
  var isFound = false
  /// What a list says about it.
  var options: [GivenOption] = []
}
