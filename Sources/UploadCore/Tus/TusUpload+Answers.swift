/// How responses of a tus server change the state of an upload.
extension TusUpload {
  /// Handles the response to the oldest request in flight.
  /// - Parameters:
  ///   - target: the URI that answered, if it differs from the requested one after a redirect.
  ///   - sent: how much of the request's content was sent.
  ///   - milliseconds: the time from the request's last byte.
  package mutating func receive(
    status: Int, fields: [Field], from target: TargetURI? = nil, sent: ContentSent = .whole,
    afterMilliseconds milliseconds: Int64
  ) throws(TusError) {
    // After much content, the response time includes more than the round trip.
    let isLocating = if case .locating = state { true } else { false }
    if inFlight.patches.isEmpty, disagreements.sentEnd == 0 || isLocating {
      sizing.answered(afterMilliseconds: milliseconds)
    }
    noteExpires(fields)
    let verdict = Verdict.ofTus(status: status, fields: fields)
    switch state {
    case .discovering(let resuming): try receiveOffer(status, fields, resuming)
    case .creating: try receiveCreation(status, fields, verdict, from: target ?? plan.endpoint)
    case .locating(let location):
      if let moved = detours.takeMoved(isAnswered: true) {
        if let offset = offset(in: verdict, fields) {
          try accept(offset, fields, of: moved)
        } else if verdict == .tus(.gone), detours.isMisplaced {
          state = .gone(location, replacement: nil)
        }
        // Otherwise, it is where the server says that it is.
        return
      }
      if let text = unusableLocation {
        guard let offset = offset(in: verdict, fields) else {
          (state, unusableLocation) = (.creating, nil)
          throw .unusableLocation(text)
        }
        return try accept(offset, fields, of: location)
      }
      try receiveOffset(verdict, status, fields, of: location)
    case .probing(let probe, let old, let claimed):
      try receive(verdict, status, fields, in: probe, of: old, claimed, from: target ?? plan.endpoint)
    // The response does not matter: a remaining upload expires.
    case .removing(_, let location, let confirmed): advance(location, to: confirmed)
    case .sending(let location, _, let next):
      guard let patch = inFlight.patches.first else { return }
      noteSent(sent)
      try receiveStored(verdict, status, patch, at: location, next, isWhole: sent == .whole)
    case .tryingPost(let location, let confirmed): try receiveTrial(verdict, status, fields, at: location, confirmed)
    case .complete, .gone: break
    }
  }

  private mutating func noteExpires(_ fields: [Field]) {
    if let text = fields.first("Upload-Expires"), text.utf8.count <= Limits.serverTextLength { expires = text }
  }

  // MARK: OPTIONS

  private mutating func receiveOffer(
    _ status: Int, _ fields: [Field], _ resuming: TargetURI?
  ) throws(TusError) {
    if status == 412 { throw versionMismatch(fields) }
    guard status == 200 || status == 204, let offer = try TusCapabilities(fields) else {
      throw .notSupported(status: status)
    }
    if let limit = offer.maximumSize, plan.length > limit { throw .tooLarge(size: plan.length, limit: limit) }
    self.offer = offer
    // A checksum needs the whole range before it is sent.
    if offer.checksum != nil { sizing.forbidPipelining() }
    state = resuming.map { .locating($0) } ?? .creating
  }

  /// The server does not say what it supports. Some do not answer OPTIONS.
  package mutating func assumeOffer() {
    guard case .discovering(let resuming) = state else { return }
    state = resuming.map { .locating($0) } ?? .creating
  }

  // MARK: POST

  private mutating func receiveCreation(
    _ status: Int, _ fields: [Field], _ verdict: Verdict, from target: TargetURI
  ) throws(TusError) {
    guard status == 201 else {
      if status == 412 { throw versionMismatch(fields) }
      // A proxy may accept the creation, but no content with it.
      if status >= 400, status < 500, disagreements.sentEnd > 0, status != 401, status != 403,
        !RetryPolicy.isTransient(status: status)
      {
        inFlight.mayBeSentWithCreation = false
        return
      }
      throw .refused(method: "POST", status: status)
    }
    let (location, isNamed) = try TusUpload.resolve(fields.first("Location"), from: target)
    // It exists from now on, whatever else the response says.
    state = .locating(location)
    if !isNamed {
      unusableLocation = fields.first("Location")
      return
    }
    let stored: Int64 = if case .tus(.offset(let offset)) = verdict { offset } else { 0 }
    guard stored <= disagreements.sentEnd else {
      throw .offsetBeyond(sent: disagreements.sentEnd, acknowledged: stored)
    }
    disagreements.noteOffset(stored)
    advance(location, to: stored)
  }

  /// Behind a TLS proxy a Location can start with http. The upload is then used with https.
  /// - Returns: `isNamed`: whether the server names this host. HEAD shows whether the upload is there nevertheless.
  private static func resolve(
    _ text: String?, from target: TargetURI
  ) throws(TusError) -> (TargetURI, isNamed: Bool) {
    guard let text, !text.isEmpty else { throw .noLocation }
    guard let location = try? target.resolving(text) else {
      throw .unusableLocation(text)
    }
    guard target.scheme == .https, location.scheme == .http else { return (location, isNamed: true) }
    let moved = location.moved(toOriginOf: target)
    guard moved.text.utf8.count <= Limits.uriLength else {
      throw .unusableLocation(text)
    }
    return (moved, isNamed: location.host == target.host)
  }

  // MARK: HEAD

  /// What a HEAD of a URL that the server has not named proves: that it has this upload there, with this much of it.
  private func offset(in verdict: Verdict, _ fields: [Field]) -> Int64? {
    guard case .tus(.offset(let offset)) = verdict, fields.haveTusProof, fields.areFresh,
      offset <= disagreements.sentEnd,
      fields.tusNumber("Upload-Length") == plan.length || fields.first("Upload-Defer-Length") == "1"
    else { return nil }
    return offset
  }

  private mutating func receiveOffset(
    _ verdict: Verdict, _ status: Int, _ fields: [Field], of location: TargetURI
  ) throws(TusError) {
    if case .somebodyElse = verdict, detours.move(location, toOriginOf: plan.endpoint) { return }
    switch verdict {
    case .tus(.offset) where !fields.areFresh: throw .cachedOffset
    case .tus(.offset(let offset)): try accept(offset, fields, of: location)
    case .tus(.gone): state = .gone(location, replacement: nil)
    // Some servers keep an upload locked for a while after its connection was lost.
    case .tus(.locked), .tus(.conflict): throw lock()
    case .tus(.success): throw .noOffset(status: status)
    case .somebodyElse(status: 404), .somebodyElse(status: 410):
      state = .probing(unused.map { .locatingNew($0) } ?? .creating, of: location, claimed: status)
    case .tus(.unsupportedVersion), .tus(.tooLarge), .tus(.checksumMismatch), .tus(.refused), .gigHive, .somebodyElse:
      if status >= 200, status < 300 { throw .noOffset(status: status) }
      throw .refused(method: "HEAD", status: status)
    }
  }

  private mutating func accept(_ offset: Int64, _ fields: [Field], of location: TargetURI) throws(TusError) {
    // If it is in doubt again, another upload is created, because only a new one proves who answers.
    let unused = unused
    self.unused = nil
    unusableLocation = nil
    declaresLength = fields.first("Upload-Defer-Length") == "1"
    // An upload of another length belongs to another file, unless the server counts with fewer bits.
    if !declaresLength, let stated = fields.tusNumber("Upload-Length"), stated != plan.length {
      if stated == plan.length & 0x7FFF_FFFF || stated == plan.length & 0xFFFF_FFFF {
        throw .lengthTruncated(length: plan.length, stated: stated)
      }
      state = .gone(location, replacement: nil)
      return
    }
    guard offset <= disagreements.sentEnd else {
      throw .offsetBeyond(sent: disagreements.sentEnd, acknowledged: offset)
    }
    disagreements.noteOffset(offset, isProgress: inFlight.learn(from: offset, &sizing))
    let isLocked = disagreements.wasLock(at: offset)
    advance(location, to: offset)
    if isLocked { throw lock() }
    if detours.refusal != nil, case .sending = state { state = .tryingPost(location, confirmed: offset) }
    if let unused, offer.terminates, case .sending = state {
      state = .removing(unused, of: location, confirmed: offset)
    }
  }

  /// The server has locked the upload: requests are short until it has stored something.
  private mutating func lock() -> TusError {
    sizing.locked()
    return .locked
  }

  // MARK: Probing

  private mutating func receive(
    _ verdict: Verdict, _ status: Int, _ fields: [Field], in probe: Probe, of old: TargetURI, _ claimed: Int,
    from target: TargetURI
  ) throws(TusError) {
    let isProved = fields.haveTusProof
    switch probe {
    case .creating:
      guard status == 201, isProved else { throw abandonProbe(of: old, claimed) }
      let (new, _) = try TusUpload.resolve(fields.first("Location"), from: target)
      // Some servers give the same file the same URL: that upload must not be removed as an unused one.
      unused = new == old ? nil : new
      state = .probing(.locatingNew(new), of: old, claimed: claimed)
    case .locatingNew(let new):
      guard case .tus(.offset(let offset)) = verdict, isProved else {
        // If that is about this upload, and not about all, the next attempt needs another one.
        if status == 404 || status == 410 { unused = nil }
        throw abandonProbe(of: old, claimed)
      }
      if new != old {
        state = .probing(.locatingOld(new: new), of: old, claimed: claimed)
      } else if offset > 0 {
        try accept(offset, fields, of: old)
      } else {
        // An empty upload took the place of the old one.
        state = .gone(old, replacement: new)
      }
    case .locatingOld(let new):
      switch verdict {
      case .tus(.gone), .somebodyElse(status: 404), .somebodyElse(status: 410): state = .gone(old, replacement: new)
      case .tus(.offset(let offset)): try accept(offset, fields, of: old)
      case .tus, .gigHive, .somebodyElse: throw abandonProbe(of: old, status)
      }
    }
  }

  private mutating func abandonProbe(of old: TargetURI, _ status: Int) -> TusError {
    state = .locating(old)
    return .unproved(status: status)
  }

  // MARK: PATCH

  private mutating func receiveStored(
    _ verdict: Verdict, _ status: Int, _ patch: PatchRange, at location: TargetURI, _ next: Int64, isWhole: Bool
  ) throws(TusError) {
    inFlight.nextChecksum = nil
    switch verdict {
    case .tus(.offset(let offset)): return try confirm(patch, offset, at: location, next, isWhole: isWhole)
    case .tus(.success): return try locateAgain(location, patch.offset)
    case .tus(.gone): return dropPatches(to: .gone(location, replacement: nil))
    // The server is at another offset, which then counts, or has locked the upload.
    case .tus(.conflict):
      disagreements.noteConflict(at: patch.offset)
      return dropPatches(to: .locating(location))
    case .tus(.tooLarge) where sizing.refused(requestLength: patch.length):
      return dropPatches(to: .locating(location))
    case .somebodyElse(let status) where detours.leadAround(status, patch, isPinned: plan.options.chunkLength != nil):
      return dropPatches(to: .locating(location))
    case .somebodyElse(let status) where detours.isAboutContent(status, at: patch.offset):
      inFlight.patches.removeFirst()
      throw .contentRefused(offset: patch.offset, status: status)
    // After a delay, HEAD shows whether it is true.
    case .somebodyElse(status: 404), .somebodyElse(status: 410), .somebodyElse(status: 200..<300):
      throw .unproved(status: status)
    // As after a lost connection, the offset shows how much of the request was kept.
    case .somebodyElse(status: 408), .somebodyElse(status: 500...), .tus(.refused(status: 500...)):
      throw .refused(method: "PATCH", status: status)
    case .tus(.tooLarge), .tus(.locked), .tus(.checksumMismatch), .tus(.unsupportedVersion), .tus(.refused), .gigHive,
      .somebodyElse:
      break
    }
    // A refusal for another reason says nothing about how content is stored.
    inFlight.patches.removeFirst()
    switch verdict {
    case .tus(.locked): throw lock()
    case .tus(.checksumMismatch): throw .checksumMismatch(offset: patch.offset)
    default: throw .refused(method: "PATCH", status: status)
    }
  }

  private mutating func confirm(
    _ patch: PatchRange, _ offset: Int64, at location: TargetURI, _ next: Int64, isWhole: Bool
  ) throws(TusError) {
    guard offset <= disagreements.sentEnd else {
      throw .offsetBeyond(sent: disagreements.sentEnd, acknowledged: offset)
    }
    // The response to a later request: something in between has changed their order.
    guard offset <= patch.end else {
      sizing.forbidPipelining()
      return try locateAgain(location, patch.offset)
    }
    guard offset > patch.offset || patch.length == 0 else { return try locateAgain(location, patch.offset) }
    detours.noteStored()
    let isProgress = !isWhole || patch.isFair(offset - patch.offset)
    disagreements.noteOffset(offset, isProgress: isProgress)
    guard isProgress || disagreements.mayDisagree() else { throw .nothingStored(offset: offset) }
    sizing.stored(offset - patch.offset)
    // A server that has stored a part of the first request has the length, too.
    declaresLength = false
    guard offset == patch.end else {
      // The server stored a part of it: continue there. Later requests are void.
      dropPatches(to: .sending(location, confirmed: offset, next: offset))
      return
    }
    inFlight.patches.removeFirst()
    if inFlight.hasPipelined, inFlight.patches.isEmpty { sizing.pipeliningSucceeded() }
    state = offset == plan.length ? .complete(location) : .sending(location, confirmed: offset, next: next)
  }

  /// The response to a PATCH without content that was sent as a POST. Only a tus server gives it.
  private mutating func receiveTrial(
    _ verdict: Verdict, _ status: Int, _ fields: [Field], at location: TargetURI, _ confirmed: Int64
  ) throws(TusError) {
    switch verdict {
    // By the refused request, which the server may still work on. Then the trial is repeated.
    case .tus(.locked), .tus(.conflict):
      state = .locating(location)
      throw lock()
    default: state = .sending(location, confirmed: confirmed, next: confirmed)
    }
    let refusal = detours.refusal ?? 0
    let isTaken = status == 204 && verdict == .tus(.offset(confirmed)) && fields.haveTusProof
    detours.endTrial(isTaken: isTaken)
    guard isTaken else { throw .refused(method: "PATCH", status: refusal) }
  }

  /// Asks for the offset, unless that has failed to help several times.
  private mutating func locateAgain(_ location: TargetURI, _ offset: Int64) throws(TusError) {
    guard disagreements.mayDisagree() else { throw .nothingStored(offset: offset) }
    dropPatches(to: .locating(location))
  }

  private mutating func advance(_ location: TargetURI, to offset: Int64) {
    // A server that has every byte may still need the length.
    let isComplete = offset == plan.length && !declaresLength
    state = isComplete ? .complete(location) : .sending(location, confirmed: offset, next: offset)
  }

  private func versionMismatch(_ fields: [Field]) -> TusError {
    .versionNotSupported(offered: fields.offeredTusVersions)
  }
}
