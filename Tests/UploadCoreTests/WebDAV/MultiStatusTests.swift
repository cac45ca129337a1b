import Testing
import UploadCore

struct MultiStatusTests {
  private let nextcloud = """
    <?xml version="1.0"?>
    <d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:oc="http://owncloud.org/ns"><d:response>\
    <d:href>/remote.php/dav/uploads/ann/u/</d:href><d:propstat><d:prop><d:getlastmodified>Tue, 14 Nov 2023 22:13:20 GMT\
    </d:getlastmodified></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat><d:propstat><d:prop><d:getcontentlength/></d:prop>\
    <d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response><d:response><d:href>/remote.php/dav/uploads/ann/u/.file</d:href>\
    <d:propstat><d:prop><d:getcontentlength>8</d:getcontentlength></d:prop></d:propstat></d:response><d:response>\
    <d:href>https://cloud.example/remote.php/dav/uploads/ann/u/2</d:href><d:propstat><d:prop><d:getlastmodified>yesterday</d:getlastmodified>\
    <d:getcontentlength>16777216</d:getcontentlength></d:prop></d:propstat></d:response></d:multistatus>
    """

  @Test func filesAreListedWithTheirSizes() {
    let files = MultiStatus(Array(nextcloud.utf8))?.files ?? []
    #expect(files.map(\.name) == ["u", ".file", "2"])
    #expect(files.map(\.size) == [nil, 8, 16_777_216])
    #expect(files.map(\.modified) == [1_700_000_000, nil, nil])
  }

  @Test(arguments: ["", "<html></html>", "<multistatus>", "<error/>", "{}"])
  func othersAreNone(text: String) { #expect(MultiStatus(Array(text.utf8)) == nil) }

  @Test func whatIsCutIsNone() {
    let bytes = Array(nextcloud.utf8)
    for length in bytes.indices { #expect(MultiStatus(Array(bytes[..<length])) == nil) }
  }

  @Test(arguments: ["/", "", "//", "u"])
  func aNameIsNeverMoreThanThereIs(path: String) {
    let text = "<multistatus><response><href>\(path)</href></response></multistatus>"
    #expect(MultiStatus(Array(text.utf8))?.files.map(\.name) == [path == "u" ? "u" : ""])
  }
}
