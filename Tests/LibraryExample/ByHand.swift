import UploadCore

/// Drives the machine of an upload without a socket, a clock or a disk.
/// - Parameter server: answers a request; nil if the connection is lost.
func drive(_ request: UploadRequest, size: Int64, server: (HTTPRequest) -> Answer?) throws(UploadError) -> Outcome {
  let plan = UploadPlan(request, size: size, boundary: Boundary(random: Array(1...16)))
  let retries = RetryPolicy(.failures(2), maximumDelayMilliseconds: 8000)
  var machine = try UploadMachine(.upload(plan), UploadPolicy(retries: retries, seed: 7))
  var (now, inFlight): (Int64, [HTTPRequest]) = (0, [])
  while true {
    switch machine.next(nowMilliseconds: now, unixSeconds: 1_795_000_000 + now / 1000) {
    case .send(let request, over: _):
      inFlight.append(request)
      if request.announcesLastByte { machine.handle(.lastByteNext) }
    case .await:
      if let answer = server(inFlight.removeFirst()) {
        machine.handle(.answered(answer))
      } else {
        machine.handle(.interrupted(Interruption(.connectionLost(.sending, peer: "hive", nil), sent: .partial)))
      }
      if machine.inFlightCount == 0 { inFlight = [] }
    case .hash, .awaitGrowth, .awaitLent: machine.handle(.failed(.internalError("there is no file")))
    case .renewCredentials: machine.handle(.credentials(areNew: false))
    case .save, .reportRetry, .reportWay, .warn: break
    case .wait(let until): now = until
    case .finished(let outcome): return outcome
    case .failed(let error): throw machine.end(with: error, LocalFacts()).error
    }
  }
}
