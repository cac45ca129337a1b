import Uploader

/// A file to send, and where it came from.
struct BatchFile {
  let path: LocalPath
  /// The directory in which it was found, by this program or by the one that writes the list; nil if it was named.
  var foundBelow: LocalPath?
  /// Whether it is not sent without a record.
  var needsRecord = false
  /// What a watcher has judged to be finished: only this is sent.
  var judged: FileSighting?
  /// Whether its content is compared if it was delivered and may have been changed since, now that nothing else is to be sent.
  var isCompared = false
  /// What a list says about it.
  var options: [GivenOption] = []

  var isFound: Bool { foundBelow != nil }
}
