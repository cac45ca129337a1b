/// A recording as an object of an S3 server: Amazon's, MinIO, Garage, Ceph, R2, B2, Wasabi and others.
public struct S3Object: Equatable, Sendable {
  /// Its URL, with the bucket as the first segment of the path or as a part of the host.
  public let url: TargetURI
  /// The region that requests are signed for, such as "eu-central-1".
  public let region: String
  /// The region that most servers have, and whose name nearly all others accept or correct.
  public static let defaultRegion = "us-east-1"
  /// Whether it may replace another object.
  public var mayReplace = false

  /// The object of this URL, which replaces no other one.
  public init(url: TargetURI, region: String) {
    self.url = url
    self.region = region
  }
}

/// Keys for an S3 server. The secret and the token are secrets.
public struct S3Keys: Equatable, Sendable {
  /// The access key's ID.
  public let id: String
  /// The secret key.
  public let secret: String
  /// The token of temporary keys; nil for others.
  public let sessionToken: String?

  /// Keys as the server has issued them.
  public init(id: String, secret: String, sessionToken: String? = nil) {
    self.id = id
    self.secret = secret
    self.sessionToken = sessionToken
  }
}

/// Why there is no such object.
package enum S3AddressError: Error, Equatable {
  /// It is not `s3://BUCKET/KEY`, or no bucket has this name.
  case notAnAddress
  /// The endpoint is not a URL in which only `{bucket}` and `{region}` are replaced.
  case invalidEndpoint
  /// No bucket of this name can be a part of the host.
  case bucketNotInHost
  case keyTooLong(limit: Int)
  /// The key is not UTF-8.
  case invalidKey
  /// A segment of the key is "." or "..", which proxies and servers resolve.
  case relativeKey
}

/// A bucket of a server.
package struct S3Bucket: Equatable, Sendable {
  /// Without the object's key.
  private let base: TargetURI
  private let region: String

  /// - Parameters:
  ///   - endpoint: the server's URL. `{bucket}` is replaced; if there is none, the bucket is the first segment of the path. `{region}` is
  ///     replaced, too. nil for Amazon's.
  package init(_ name: String, region: String, endpoint: String?) throws(S3AddressError) {
    self.region = region
    let isHost = name.utf8.allSatisfy {
      ASCII.isLetter($0) && $0 > UInt8(ascii: "Z") || ASCII.isDigit($0) || $0 == ASCII.hyphen
    }
    let amazon = isHost ? "https://{bucket}.s3.{region}.amazonaws.com" : "https://s3.{region}.amazonaws.com"
    let given = endpoint ?? amazon
    let host = S3Bucket.replacing("{bucket}", in: S3Bucket.replacing("{region}", in: given, by: region), by: name)
    let isInHost = host != S3Bucket.replacing("{region}", in: given, by: region)
    guard isHost || !isInHost else { throw .bucketNotInHost }
    guard let uri = try? TargetURI(host), uri.withoutQuery == uri else { throw .invalidEndpoint }
    base = isInHost ? uri : uri.appending(Percent.encode(segment: name.utf8))
  }

  /// `s3://BUCKET/KEY` in its parts.
  package static func parse(_ text: [UInt8]) throws(S3AddressError) -> (bucket: String, keyStart: Int) {
    let scheme = Array("s3://".utf8)
    guard text.starts(with: scheme) else { throw .notAnAddress }
    let name = text[scheme.count...].prefix { $0 != ASCII.slash }
    let isName = name.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "._-".utf8.contains($0) }
    guard isName, (1...Limits.bucketLength).contains(name.count), !name.allSatisfy({ $0 == UInt8(ascii: ".") }) else {
      throw .notAnAddress
    }
    return (String(decoding: name, as: UTF8.self), min(name.endIndex + 1, text.count))
  }

  /// The object with this key: UTF-8, at most 1,024 bytes.
  package func object(_ key: [UInt8]) throws(S3AddressError) -> S3Object {
    guard key.count <= Limits.objectKeyLength else { throw .keyTooLong(limit: Limits.objectKeyLength) }
    guard !key.isEmpty, String(validating: key, as: UTF8.self) != nil else { throw .invalidKey }
    let segments = key.split(separator: ASCII.slash, omittingEmptySubsequences: false)
    guard !segments.contains(where: { [[46], [46, 46]].contains(Array($0)) }) else { throw .relativeKey }
    let path = segments.map { Percent.encode(segment: $0) }.joined(separator: "/")
    return S3Object(url: base.appending(path), region: region)
  }

  /// The URL that those of objects begin with whose keys begin with these bytes.
  package func url(beginning key: ArraySlice<UInt8>) -> String {
    let path = key.split(separator: ASCII.slash, omittingEmptySubsequences: false).map { Percent.encode(segment: $0) }
    return base.appending(path.joined(separator: "/")).text
  }

  private static func replacing(_ name: String, in text: String, by value: String) -> String {
    let (name, text) = (Array(name.utf8), Array(text.utf8))
    var result: [UInt8] = []
    var at = 0
    while at < text.count {
      if text[at...].starts(with: name) {
        result += Array(value.utf8)
        at += name.count
      } else {
        result.append(text[at])
        at += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension Limits {
  /// The longest name of a bucket, and the longest key of an object, in bytes.
  static let bucketLength = 255
  static let objectKeyLength = 1024
}
