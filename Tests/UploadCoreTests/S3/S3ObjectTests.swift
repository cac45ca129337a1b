import Testing
import UploadCore

struct S3ObjectTests {
  private func url(_ key: String, bucket: String = "rec", region: String = "eu-central-1", endpoint: String? = nil)
    throws
    -> String
  { try S3Bucket(bucket, region: region, endpoint: endpoint).object(Array(key.utf8)).url.text }

  @Test func theBucketIsInTheHostOrThePath() throws {
    #expect(try url("a/b.wav") == "https://rec.s3.eu-central-1.amazonaws.com/a/b.wav")
    // No certificate is for a host with more parts.
    #expect(try url("b.wav", bucket: "my.rec") == "https://s3.eu-central-1.amazonaws.com/my.rec/b.wav")
    #expect(try url("b.wav", endpoint: "http://10.0.0.1:9000") == "http://10.0.0.1:9000/rec/b.wav")
    #expect(try url("b.wav", endpoint: "https://gate/s3/") == "https://gate/s3/rec/b.wav")
    #expect(try url("b.wav", endpoint: "https://{bucket}.{region}.example") == "https://rec.eu-central-1.example/b.wav")
  }

  @Test func everythingElseInAKeyIsPercentEncoded() throws {
    #expect(try url("A b/ü+%?#&=(1)~.wav").hasSuffix("/A%20b/%C3%BC%2B%25%3F%23%26%3D%281%29~.wav"))
    #expect(try url("/a//b").hasSuffix("amazonaws.com//a//b"))
  }

  @Test func anInvalidKeyIsRefused() throws {
    let bucket = try S3Bucket("rec", region: "r", endpoint: nil)
    #expect(throws: S3AddressError.invalidKey) { try bucket.object([]) }
    #expect(throws: S3AddressError.invalidKey) { try bucket.object([0xFF]) }
    for key in ["..", "a/../b", "a/.", "./a"] {
      #expect(throws: S3AddressError.relativeKey) { try bucket.object(Array(key.utf8)) }
    }
    let longest = [UInt8](repeating: 0x61, count: 1024)
    #expect(try bucket.object(longest).url.text.utf8.count > 1024)
    #expect(throws: S3AddressError.keyTooLong(limit: 1024)) { try bucket.object(longest + [0x61]) }
  }

  @Test func aMalformedAddressIsRefused() throws {
    for text in ["", "s3:/rec/a", "s3://", "s3:///a", "s3://../a", "s3://a b/c", "https://rec/a", "s3://{name}/a"] {
      #expect(throws: S3AddressError.notAnAddress) { try S3Bucket.parse(Array(text.utf8)) }
    }
    let parsed = try S3Bucket.parse(Array("s3://rec/a/b".utf8))
    #expect(parsed.bucket == "rec" && parsed.keyStart == 9)
    #expect(try S3Bucket.parse(Array("s3://rec".utf8)).keyStart == 8)
    for endpoint in ["", "rec.example", "ftp://a", "https://a/?b", "https://{name}.example"] {
      #expect(throws: S3AddressError.invalidEndpoint) { try S3Bucket("rec", region: "r", endpoint: endpoint) }
    }
    #expect(throws: S3AddressError.bucketNotInHost) {
      try S3Bucket("my.rec", region: "r", endpoint: "https://{bucket}.a")
    }
  }
}

struct S3ProfileTests {
  private func keys(_ name: String, _ text: String) -> [String?]? {
    S3Profile.keys(name, in: Array(text.utf8)).map { [$0.id, $0.secret, $0.sessionToken] }
  }

  @Test func aProfileIsASection() {
    let text = """
      aws_access_key_id = nobody's
      # The account of the band.
      [default]
      aws_access_key_id=A
      aws_secret_access_key = b/c+d=
      region = eu-central-1
      [ stage ]\r
      ; aws_access_key_id = old
      aws_access_key_id = B\r
      aws_secret_access_key = c\r
      \taws_session_token = t
      [half]
      aws_access_key_id = C
      aws_secret_access_key =
      """
    #expect(keys("default", text) == ["A", "b/c+d=", nil])
    #expect(keys("stage", text) == ["B", "c", "t"])
    for name in ["half", "none", "Default", ""] { #expect(keys(name, text) == nil) }
    #expect(
      S3Profile.keys("default", in: Array("[default]\naws_access_key_id=\u{1}\naws_secret_access_key=".utf8) + [0xFF])
        == nil)
  }
}
