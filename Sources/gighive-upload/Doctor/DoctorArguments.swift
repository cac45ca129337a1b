import Uploader

/// The command line of `doctor`, parsed and checked.
final class DoctorArguments {
  private(set) var common = CommonArguments()
  /// What would be sent. Without a file, its path is empty.
  private(set) var request: UploadRequest
  /// How many zeros to send, in bytes; nil for none.
  private(set) var testLength: Int64?
  /// Whether the event's date does not come from the clock.
  private(set) var givesEventDate = false
  /// Whether to measure the link.
  private(set) var measuresLink = false

  init(options: [GivenOption], operands: Operands) throws(UsageError) {
    guard operands.count <= 1 else { throw UsageError("doctor takes at most one file.") }
    var destinations: [Destination] = []
    var uploadProtocol = UploadProtocol.automatic
    var threshold: Int64?
    var overridesMethod = false
    for given in options {
      switch given.option {
      case .server: destinations.append(.gigHive(try given.uri(), EventForm()))
      case .multipartURL: destinations.append(.multipart(try given.uri()))
      case .tusURL: destinations.append(.tus(try given.uri()))
      case .protocolChoice: uploadProtocol = try given.uploadProtocol()
      case .threshold: threshold = try given.size(AllowedRanges.fileSize)
      case .methodOverride: overridesMethod = true
      case .eventDate: givesEventDate = EventDay(of: [given])?.isGiven ?? false
      case .sendTest: testLength = try given.size(AllowedRanges.testLength)
      case .link: measuresLink = true
      default: _ = try common.apply(given)
      }
    }
    try common.validate()
    guard destinations.count == 1, let destination = destinations.first else {
      throw UsageError("give one destination: --server URL, --tus-url URL or --multipart-url URL.")
    }
    if testLength != nil || measuresLink, case .multipart = destination {
      let name = OptionTable.name(of: testLength != nil ? .sendTest : .link)
      throw UsageError(
        "--" + name + " needs --server or --tus-url: what a form creates elsewhere cannot be removed again.")
    }
    request = UploadRequest(file: operands.first ?? "", destination: destination)
    request.uploadProtocol = uploadProtocol
    request.overridesMethod = overridesMethod
    if let threshold { request.tusThreshold = threshold }
  }

  var file: LocalPath? { request.file.bytes.isEmpty ? nil : request.file }
}
