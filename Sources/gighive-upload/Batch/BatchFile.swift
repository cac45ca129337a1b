import Uploader

/// A file to send, and where it came from.
struct BatchFile {
  let path: LocalPath
  /// Whether it was found in a directory, by this program or by the one that writes the list, rather than named.
  var isFound = false
  /// Whether it is not sent without a record.
  var needsRecord = false
  /// What a watcher has judged to be finished: only this is sent.
  var judged: FileSighting?
  /// What a list says about it.
  var options: [GivenOption] = []
}
