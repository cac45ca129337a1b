import Testing
import UploadCore

@testable import Uploader

/// The examples of "Authenticating Requests: Using the Authorization Header" in Amazon's S3 API Reference.
struct S3SignatureTests {
  private let keys = S3Keys(id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
  /// 2013-05-24.
  private let midnight: Int64 = 1_369_353_600

  private func fields(
    _ target: String, host: String = "https://examplebucket.s3.amazonaws.com", with own: [Field] = [],
    region: String = "us-east-1", by keys: S3Keys? = nil
  ) throws -> [Field] {
    let request = HTTPRequest(method: "GET", target: try TargetURI(host + target), fields: own)
    return try S3Signature.fields(
      for: request, S3Signing(region: region), by: keys ?? self.keys,
      unixSeconds: midnight, with: S3Signature.Hashes(sha256: Digest.sha256, hmac: Digest.hmac))
  }

  private func signature(of fields: [Field]) -> String? {
    fields.first("Authorization")?.split(separator: "=").last.map { String($0) }
  }

  @Test(arguments: [
    ("/?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ("/?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ("/?prefix=J&max-keys=2", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ])
  func theSignatureIsThatOfAmazonsExamples(target: String, expected: String) throws {
    let fields = try fields(target)
    #expect(signature(of: fields) == expected)
    #expect(fields.first("x-amz-date") == "20130524T000000Z")
    #expect(
      fields.first("Authorization")?.hasPrefix(
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
          + "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=") == true)
  }

  /// So a proxy may add what it likes, but nothing that the server acts on.
  @Test func ownFieldsOfTheServiceAreSignedAndOthersAreNot() throws {
    let plain = signature(of: try fields("/a"))
    #expect(signature(of: try fields("/a", with: [Field("Via", "1.1 a"), Field("Range", "bytes=0-9")])) == plain)
    let stored = try fields("/a", with: [Field("X-Amz-Storage-Class", " STANDARD_IA ")])
    #expect(signature(of: stored) != plain)
    #expect(stored.first("Authorization")?.contains("x-amz-date;x-amz-storage-class,") == true)
    let temporary = try fields("/a", by: S3Keys(id: keys.id, secret: keys.secret, sessionToken: "t"))
    #expect(temporary.first("x-amz-security-token") == "t" && signature(of: temporary) != plain)
    #expect(temporary.first("Authorization")?.contains("x-amz-date;x-amz-security-token,") == true)
  }

  @Test func thePathIsSignedAsTheServerEncodesIt() throws {
    #expect(signature(of: try fields("/a(1)/%7e%c3%bc")) == signature(of: try fields("/a%281%29/~%C3%BC")))
    #expect(signature(of: try fields("/a%2Fb")) != signature(of: try fields("/a/b")))
    #expect(signature(of: try fields("/a", region: "eu-central-1")) != signature(of: try fields("/a")))
    let port = try fields("/a", host: "http://examplebucket.s3.amazonaws.com:8080")
    #expect(signature(of: port) != signature(of: try fields("/a")))
  }
}
