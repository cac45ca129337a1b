/// A parser under test, and the rules that hold for every input. A broken rule ends the process.
struct Target: Sendable {
  let name: String
  let run: @Sendable ([UInt8]) -> Void
  /// The result as a line to compare with another implementation; nil if there is none.
  var show: (@Sendable ([UInt8]) -> String)?
}

/// In the order in which they are listed. `canary` is there to be caught.
let allTargets = [
  Target(name: "response", run: ResponseTarget.run),
  Target(name: "chunked", run: ChunkedTarget.run),
  Target(name: "json", run: JSONTarget.run, show: JSONTarget.show),
  Target(name: "xml", run: XMLTarget.run),
  Target(name: "uri", run: URITarget.run, show: URITarget.show),
  Target(name: "proxy", run: ProxyTarget.run),
  Target(name: "multicast-dns", run: MulticastDNSTarget.run),
  Target(name: "tus", run: TusTarget.run),
  Target(name: "record", run: RecordTarget.run),
  Target(name: "netrc", run: NetrcTarget.run),
  Target(name: "retry-after", run: RetryAfterTarget.run, show: RetryAfterTarget.show),
  Target(name: "form-data", run: FormDataTarget.run),
  Target(name: "reply", run: ReplyTarget.run),
  Target(name: "batch", run: BatchTarget.run),
  Target(name: "configuration", run: ConfigurationTarget.run),
  Target(name: "worker", run: WorkerTarget.run),
  Target(name: "text", run: TextTarget.run, show: TextTarget.show),
  Target(name: "canary", run: CanaryTarget.run),
]

/// Ends the process if a rule does not hold.
func require(
  _ holds: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !holds { fatalError("broken rule: " + rule(), file: file, line: line) }
}
