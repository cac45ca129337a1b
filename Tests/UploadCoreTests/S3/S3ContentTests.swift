import Testing
import UploadCore

struct S3ContentTests {
  private func list(_ text: String) -> S3PartList? { S3PartList(Array(text.utf8)) }

  private let part = "<Part><PartNumber>3</PartNumber><ETag>&quot;e&quot;</ETag><Size>5242880</Size></Part>"

  @Test func aPageOfPartsIsRead() {
    let found = list(
      "<ListPartsResult xmlns='x'><Bucket>b</Bucket><IsTruncated>false</IsTruncated>\(part)</ListPartsResult>")
    #expect(found?.parts == [.init(number: 3, size: 5_242_880, tag: "e")] && found?.next == nil)
    let more = list(
      "<ListPartsResponse><IsTruncated>true</IsTruncated><NextPartNumberMarker>3</NextPartNumberMarker></ListPartsResponse>"
    )
    #expect(more?.parts == [] && more?.next == 3)
  }

  @Test(arguments: [
    "", "<html/>", "<ListPartsResult><IsTruncated>true</IsTruncated></ListPartsResult>",
    "<ListPartsResult><Part><PartNumber>0</PartNumber><ETag>e</ETag><Size>1</Size></Part></ListPartsResult>",
    "<ListPartsResult><Part><PartNumber>1</PartNumber><Size>1</Size></Part></ListPartsResult>",
    "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>e</ETag><Size>-1</Size></Part></ListPartsResult>",
    "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>e</ETag>",
  ])
  func aMalformedListHasNoParts(text: String) { #expect(list(text) == nil) }
}
