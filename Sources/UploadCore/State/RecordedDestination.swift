/// Where an upload goes.
package struct RecordedDestination: Equatable, Sendable {
  /// A GigHive base address, a tus endpoint or the address of a form.
  package var endpoint: String
  /// The event that was named for it, which is a part of the destination; empty for none, and for other servers than GigHive.
  package let event: String
  /// The media type and file name for the server, separated by a space.
  package var uploadedAs: String

  package init(endpoint: String, event: String = "", uploadedAs: String = "") {
    self.endpoint = endpoint
    self.event = event
    self.uploadedAs = uploadedAs
  }
}
