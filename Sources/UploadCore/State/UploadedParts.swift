/// The parts of one recording on a server that joins them at the end.
package struct UploadedParts: Equatable, Sendable {
  /// Names the upload in the metadata of what the parts become, which shows so whose it is. Not a secret.
  package let token: String
  /// The length of the first part, in bytes.
  package let length: Int64
  /// What the server calls each part (an ETag, or the path of a tus upload), from the first one; empty for one that it does not have.
  package private(set) var tags: [String] = []
  /// The SHA-256 of each part as it was sent, in lower-case hexadecimal digits; nil if nobody computes them. What is another one in the file
  /// by now is sent again.
  package private(set) var digests: [String]?
  /// Whether they are sent while the recording grows.
  let areGrowing: Bool
  /// After how many parts of a recording that grows they are twice as long.
  package let step: Int
  /// The numbers of the parts of which the server may have only the beginning.
  package private(set) var begun: [Int] = []
  /// Whether they are sent in their order, as one upload on a tus server that joins none.
  package let areInOrder: Bool

  /// How long parts are, in bytes, if that makes no more of them than ``Limits/partCount``.
  package struct Lengths: Sendable {
    let shortest: Int64
    let longest: Int64

    package static let s3 = Lengths(shortest: Limits.partLength, longest: Limits.partLength)
    package static let nextcloud = Lengths(shortest: 2 * Limits.partLength, longest: 8 * Limits.partLength)
  }

  /// The parts of a recording of this size, in bytes.
  /// - Parameter hasDigests: whether the SHA-256 of each is known when it is sent.
  package init(token: String, ofSize size: Int64, _ lengths: Lengths = .s3, hasDigests: Bool = true) {
    (self.token, step, areInOrder, areGrowing) = (token, Limits.growingPartsStep, false, false)
    digests = hasDigests ? [] : nil
    func rounded(_ length: Int64) -> Int64 {
      (length + Limits.partLengthStep - 1) / Limits.partLengthStep * Limits.partLengthStep
    }
    func share(_ count: Int64) -> Int64 { rounded((size + count - 1) / count) }
    let wanted = min(max(rounded(size / Limits.wantedPartCount), lengths.shortest), lengths.longest)
    let short = hasDigests ? min(share(Limits.digestedPartCount), Limits.longestPartLength) : 0
    length = max(wanted, short, share(Int64(Limits.partCount)))
  }

  /// The parts of a recording that grows, and whose size is not known: after each `step` parts, they are twice as long.
  package init(growing token: String, step: Int = Limits.growingPartsStep, areInOrder: Bool = false) {
    (self.token, length, digests, self.step, areGrowing) = (token, Limits.partLength, [], step, true)
    self.areInOrder = areInOrder
  }

  /// - Parameters:
  ///   - digests: nil if they have none.
  ///   - step: nil for a recording that has not been sent while it grew.
  /// - Returns: nil if no recording of this size, in bytes, has such parts.
  package init?(
    token: String, length: Int64, tags: [String], digests: [String]? = nil, step: Int? = nil, begun: [Int] = [],
    areInOrder: Bool = false, ofSize size: Int64
  ) {
    guard !token.isEmpty, token.utf8.count <= Limits.partTagLength, length > 0, length <= Limits.s3ObjectLength,
      tags.allSatisfy({ $0.isEmpty || UploadedParts.isTag($0, isPath: step == Limits.growingUploadsStep) })
    else { return nil }
    (self.token, self.length, self.tags, self.digests) = (token, length, tags, digests)
    (self.step, self.begun, self.areInOrder) = (step ?? Limits.growingPartsStep, begun, areInOrder)
    areGrowing = step != nil
    if let digests {
      guard digests.count == tags.count, zip(tags, digests).allSatisfy({ $0.isEmpty || UploadedParts.isSHA256($1) })
      else { return nil }
    }
    if areGrowing {
      // The recording has grown since the record said how large it is.
      guard digests != nil, (1...Limits.growingPartsStep).contains(self.step), length == Limits.partLength,
        tags.count <= mostCount, begun.count <= tags.count,
        begun.allSatisfy({ (1...tags.count).contains($0) && !tags[$0 - 1].isEmpty })
      else { return nil }
    } else {
      guard begun.isEmpty, !areInOrder, (size - 1) / length < Int64(Limits.partCount), tags.count <= count(in: size)
      else { return nil }
    }
  }

  /// Whether it can be kept, and sent back in XML as it is.
  /// - Parameter isPath: whether it is that of an upload on a tus server.
  package static func isTag(_ text: String, isPath: Bool = false) -> Bool {
    (1...(isPath ? Limits.partPathLength : Limits.partTagLength)).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 > ASCII.space && $0 < ASCII.delete && !"\"&<>".utf8.contains($0) }
  }

  private static func isSHA256(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { ASCII.hexValue($0) != nil }
  }

  /// That of no part: nothing shows what the server has of it.
  static let unprovedSHA256 = String(repeating: "0", count: 64)

  /// More than any recording has, in bytes.
  package static let unknownSize = Int64.max / 2

  /// Whether each is an upload of its own on a tus server.
  var areUploads: Bool { areGrowing && step == Limits.growingUploadsStep }

  /// The URLs of those that are uploads; none of others.
  package func uploads(createdAt endpoint: TargetURI) -> [TargetURI] {
    guard areUploads else { return [] }
    let uploads = tags.compactMap { $0.isEmpty ? nil : try? endpoint.resolving($0) }
    return areInOrder ? Array(uploads.prefix(1)) : uploads
  }

  /// The part with this number, from 1, of a recording of `size` bytes.
  package func range(of number: Int, in size: Int64) -> (offset: Int64, length: Int64) {
    let step = areGrowing ? step : Limits.partCount
    let (doublings, rest) = (number - 1).quotientAndRemainder(dividingBy: step)
    let offset = length * (Int64(step) * (1 << doublings - 1) + Int64(rest) << doublings)
    return (offset, min(length << doublings, size - offset))
  }

  /// The longest parts of a recording that grows are 512 times as long as the first one.
  private var mostCount: Int { areGrowing ? Limits.growingPartsSteps * step : Limits.partCount }

  /// At most ``Limits/partCount``.
  package func count(in size: Int64) -> Int {
    if !areGrowing { return Int((size - 1) / length) + 1 }
    var count = 1
    while count < mostCount, range(of: count + 1, in: size).offset < size { count += 1 }
    return count
  }

  /// Whether they are parts of a recording that has become this large, in bytes. Behind the last one there may only be more of those in order.
  package func fit(_ size: Int64) -> Bool {
    tags.count <= count(in: size) && (areInOrder || range(of: mostCount + 1, in: size).offset >= size)
  }

  /// How large the recording is when the part with this number can be sent, in bytes; nil for a part that is sent when it has ended.
  /// - Parameter lag: ``LiveSending/lag``.
  func grownSize(for number: Int?, lag: Int64) -> Int64 {
    guard let number else { return .max }
    let (offset, length) = range(of: number, in: UploadedParts.unknownSize)
    return offset + length + lag
  }

  /// The number of the first part that is missing; nil if there is none.
  /// - Parameter isElsewhere: whether the part with a number does not count.
  package func firstMissing(in size: Int64, besides isElsewhere: (Int) -> Bool = { _ in false }) -> Int? {
    if let index = tags.indices.first(where: { !has($0 + 1) && !isElsewhere($0 + 1) }) { return index + 1 }
    var next = tags.count + 1
    while isElsewhere(next) { next += 1 }
    return next <= count(in: size) ? next : nil
  }

  /// The same with the first part of a recording that grows last: recorders write the head again when they close a file.
  package func nextMissing(in size: Int64, besides isElsewhere: (Int) -> Bool = { _ in false }) -> Int? {
    guard areGrowing, !areInOrder else { return firstMissing(in: size, besides: isElsewhere) }
    if let index = tags.indices.dropFirst().first(where: { !has($0 + 1) && !isElsewhere($0 + 1) }) {
      return index + 1
    }
    var next = max(tags.count, 1) + 1
    while isElsewhere(next) { next += 1 }
    return next <= count(in: size) ? next : firstMissing(in: size, besides: isElsewhere)
  }

  /// The end of the last part that there is, in bytes.
  package func end(in size: Int64) -> Int64 {
    guard let index = tags.indices.last(where: { has($0 + 1) }) else { return 0 }
    let (offset, length) = range(of: index + 1, in: size)
    return offset + length
  }

  /// How much there is in all, in bytes.
  package func total(in size: Int64) -> Int64 {
    tags.indices.reduce(0) { has($1 + 1) ? $0 + range(of: $1 + 1, in: size).length : $0 }
  }

  package func has(_ number: Int) -> Bool { tag(of: number) != nil && !begun.contains(number) }

  /// What the server calls a part of which it has at least the beginning; nil of others.
  package func tag(of number: Int) -> String? {
    number <= tags.count && !tags[number - 1].isEmpty ? tags[number - 1] : nil
  }

  /// The SHA-256 of a part that was sent, at least its beginning; nil if it is not known.
  package func sha256(of number: Int) -> String? { tag(of: number) == nil ? nil : digests?[number - 1] }

  /// - Parameters:
  ///   - tag: nil if the server does not have the part.
  ///   - sha256: of its content, if it is known.
  ///   - isWhole: whether the server has all of it.
  package mutating func set(_ tag: String?, of number: Int, sha256: String = "", isWhole: Bool = true) {
    begun.removeAll { $0 == number }
    if !isWhole { begun.append(number) }
    while tags.count < number { tags.append("") }
    tags[number - 1] = tag ?? ""
    guard digests != nil else { return }
    while digests!.count < number { digests!.append("") }
    digests![number - 1] = tag == nil ? "" : sha256
  }

  /// The first part, as the beginning of the file that the server has; nil if it is not there, or its SHA-256 is not known.
  /// - Parameter statusTime: ``SentPart/statusTime``.
  func beginning(in size: Int64, statusTime: StatusTime?) -> SentPart? {
    guard let sha256 = sha256(of: 1), !sha256.isEmpty else { return nil }
    return SentPart(length: range(of: 1, in: size).length, sha256: sha256, statusTime: statusTime)
  }
}

extension Limits {
  /// Parts longer than ``partLength`` are a multiple of this, in bytes.
  static let partLengthStep: Int64 = 1 << 20
  /// The most parts of a recording: their list is kept in its record, and sent in one request.
  package static let partCount = 1000
  /// The same with the SHA-256 of each, unless a part would be longer than ``longestPartLength``: then the list takes at most 64 KiB.
  static let digestedPartCount: Int64 = 600
  /// The longest part that an S3 server takes, in bytes.
  static let longestPartLength: Int64 = 5 << 30
  /// How many parts a recording has that decides how long they are.
  static let wantedPartCount: Int64 = 32
  /// After so many parts of a recording that grows, they are twice as long: all of them hold 858 GB.
  package static let growingPartsStep = 100
  /// The longest path of an upload on a tus server that is joined with others, in bytes.
  package static let partPathLength = 70
}
