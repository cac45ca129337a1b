import Testing
import UploadCore

struct CredentialsTests {
  @Test func withoutCredentialsThereAreNoFields() {
    #expect(Credentials.none.fields == [])
  }

  /// RFC 7617, 2 and 2.1
  @Test func basicCredentialsAreUserAndPasswordInBase64() {
    let classic = Credentials.basic(user: "Aladdin", password: "open sesame").fields
    #expect(classic == [Field("Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")])
    #expect(
      Credentials.basic(user: "test", password: "123£").fields == [Field("Authorization", "Basic dGVzdDoxMjPCow==")])
    #expect(Credentials.basic(user: "", password: "").fields == [Field("Authorization", "Basic Og==")])
  }

  @Test func tokensGoInTheirOwnFields() {
    #expect(Credentials.bearer(token: "mF_9.B5f-4.1JqM").fields == [Field("Authorization", "Bearer mF_9.B5f-4.1JqM")])
    #expect(Credentials.uploadToken("guest-7").fields == [Field("X-Upload-Token", "guest-7")])
  }

  @Test func aTokenWithALineEndCannotBeSent() {
    #expect(Credentials.bearer(token: "a\r\nX: y").fields.allSatisfy { !$0.isSendable })
    #expect(Credentials.basic(user: "a\r\n", password: "\r\n").fields.allSatisfy { $0.isSendable })
  }

  @Test func headersStandBesideOtherCredentials() throws {
    let both = Credentials.headers([try CustomField("apikey", "k")], and: .bearer(token: "t"))
    #expect(both.fields == [Field("Authorization", "Bearer t"), Field("apikey", "k")])
    #expect(!both.areGuests)
  }

  @Test func aGuestIsKnownByTheField() throws {
    #expect(Credentials.uploadToken("t").areGuests)
    #expect(Credentials.headers([try CustomField("x-upload-token", "t")], and: .none).areGuests)
    #expect(Credentials.headers([try CustomField("apikey", "k")], and: .uploadToken("t")).areGuests)
    #expect(!Credentials.none.areGuests)
  }

  @Test func fieldsWithSecretsAreKnownInAnyCase() {
    for name in ["Authorization", "AUTHORIZATION", "proxy-authorization", "X-Upload-Token", "cookie", "Set-Cookie"] {
      #expect(Credentials.isSecret(fieldName: name))
    }
    for name in ["Host", "Content-Type", "Authorization2", "WWW-Authenticate", ""] {
      #expect(!Credentials.isSecret(fieldName: name))
    }
  }
}
