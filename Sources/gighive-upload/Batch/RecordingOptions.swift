import Uploader

/// What the options say about one recording: the form, and what a server is told about the file.
struct RecordingOptions {
  var form = EventForm()
  private(set) var fields: [FormField] = []
  private(set) var metadata: [FormField] = []
  private(set) var fileName: [UInt8]?

  /// - Parameter options: templates among them are the same for all files. Options about anything else are ignored.
  init(_ options: [GivenOption]) throws(UsageError) {
    for given in options { try apply(try given.literal()) }
  }

  private mutating func apply(_ given: GivenOption) throws(UsageError) {
    switch given.option {
    case .eventDate: form.eventDate = given.text
    case .orgName: form.orgName = given.text
    case .eventType: form.eventType = given.text
    case .label: form.label = given.text
    case .participants: form.participants = given.text
    case .keywords: form.keywords = given.text
    case .location: form.location = given.text
    case .rating: form.rating = given.text
    case .notes: form.notes = given.text
    case .field: fields.append(try given.field())
    case .metadata: metadata.append(try given.metadata())
    case .fileName: fileName = given.argument.bytes
    default: break
    }
  }
}
