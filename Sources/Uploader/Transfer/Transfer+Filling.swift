import UploadCore

/// Filling: the head, the framing and the file, read by pread(2), into the ring.
extension Transfer {
  /// Puts the next run into the ring: the rest of the head, framing, and one read of the file.
  func fill() throws(UploadError) {
    // If the ring wraps, the head is copied in two parts.
    while !pipeline.current.hasTakenHead, !buffers.ring.isFull {
      buffers.ring.commit(pipeline.current.writeHead(into: buffers.ring.writableRun))
    }
    let exchange = pipeline.current.exchange
    guard exchange.sending == .body || !exchange.expectsContinue else { return }
    while !buffers.ring.isFull {
      switch pipeline.current.body.phase {
      case .header, .footer:
        buffers.ring.commit(pipeline.current.body.writeFraming(into: buffers.ring.writableRun))
      case .file(let sent):
        // The framing is sent first; then the file bypasses the ring.
        if goesDirectly, !buffers.ring.isEmpty { return }
        try fillFromFile(sent)
        if changeDetector.statusChange != nil { return }
        if case .file = pipeline.current.body.phase { return }
      case .complete:
        return
      }
    }
  }

  private func fillFromFile(_ sent: Int64) throws(UploadError) {
    guard let source else { throw .noFile }
    let body = pipeline.current.body
    let run = buffers.fileRun.prefix(Int(clamping: body.fileLength - sent))
    let offset = body.fileOffset + sent
    let count = try source.readToSend(into: UnsafeMutableRawBufferPointer(rebasing: run), at: offset)
    excludeReadingTime()
    buffers.commit(count, at: offset, digest: source.digest)
    pipeline.current.body.advanceFile(by: count)
    try changeDetector.verifyAtEnd(of: pipeline.current.body)
    excludeReadingTime()
  }

  /// While the connection is blocked: digests one run of the bytes that were sent earlier, as after a resume.
  /// - Returns: true if there are more.
  func catchUp() throws(UploadError) -> Bool {
    guard let source, let digest = source.digest, case .file(let sent) = pipeline.current.body.phase else {
      return false
    }
    let lag = pipeline.current.body.fileOffset + sent - digest.position
    // Uses the free part of the ring.
    let space = buffers.ring.writableRun
    guard lag > 0, !space.isEmpty else { return false }
    let run = UnsafeMutableRawBufferPointer(rebasing: space.prefix(min(Int(clamping: lag), buffers.runLength)))
    let count = try source.read(into: run, at: digest.position)
    excludeReadingTime()
    return lag > Int64(count)
  }

  /// Whether the file can bypass the ring. A file that fits into one run is sent in one write with its framing.
  var goesDirectly: Bool {
    guard let source, !source.mustBeRead, source.digest == nil else { return false }
    return pipeline.current.body.fileLength > Int64(buffers.runLength)
  }
}
