/// A server's response to an upload of `hello`: the status on the first line, then the content.
enum ReplyTarget {
  private static let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  static func run(_ input: [UInt8]) {
    let lines = input.lines(2)
    guard let status = ASCII.decimal(lines[0]), status >= 200, status < 600 else { return }
    for sum in [sha256, nil] {
      let sent = SentFile(size: 5, sha256: sum)
      for isGigHive in [true, false] { check(Int(status), lines[1], sent, isGigHive) }
    }
    checkVerdicts(Answer(status: Int(status), content: lines[1]))
    let message = Secrets().line(ServerMessage.text(of: lines[1]))
    require(message.unicodeScalars.count <= Limits.quotedMessageLength + 1, "a message over the limit")
    let again = PrintableText.line(message, limit: .max)
    require(again.utf8.elementsEqual(message.utf8), "a message that a terminal obeys")
  }

  /// GigHive is who says what only GigHive says.
  private static func checkVerdicts(_ answer: Answer) {
    let proofs: [(Verdict, String)] = [
      (Verdict.ofDeletion(answer), "success"), (Verdict.ofFinalize(answer), "error"), (Verdict.ofRecording(answer), ""),
    ]
    for (verdict, word) in proofs {
      guard case .gigHive = verdict else { continue }
      // Unless it is written in escapes.
      require(answer.content.contains(0x5C) || answer.content.contains(Array(word.utf8)), "GigHive without its words")
    }
  }

  private static func check(_ status: Int, _ content: [UInt8], _ sent: SentFile, _ isGigHive: Bool) {
    let receipt: Receipt
    let answer = Answer(status: status, content: content)
    do throws(UploadError) {
      if isGigHive {
        guard case .receipt(let confirmed) = try UploadConfirmation.ofGigHive(answer, sent: sent) else { return }
        receipt = confirmed
      } else {
        receipt = try UploadConfirmation.ofPlainEndpoint(answer, sent: sent)
      }
    } catch { return }
    require((200..<300).contains(status) || receipt.wasAlreadyThere, "delivered with status \(status)")
    require(!receipt.wasAlreadyThere || (status == 409 && receipt.isChecksumVerified), "there already, by no checksum")
    require(!isGigHive || receipt.isChecksumVerified || sent.sha256 == nil, "GigHive's delivery without a checksum")
    guard receipt.isChecksumVerified else { return }
    require(sent.sha256 != nil, "verified against nothing")
    // Unless it is written in escapes.
    let lowercased = content.map { ASCII.lowercased($0) }
    require(content.contains(0x5C) || lowercased.contains(Array(sha256.utf8)), "verified by another checksum")
  }
}
