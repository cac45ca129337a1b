import Testing
import UploadCore

struct AddressChecksTests {
  private let two = "192.0.2.2:443"
  private let three = "192.0.2.3:443"
  private let six = "[2001:db8::1]:443"

  private func texts(_ others: [AddressChecks.Attempt]) -> (text: String, remedy: String?)? {
    switch AddressChecks.finding("192.0.2.1:443", others)?.result {
    case .ok(let text): (text, nil)
    case .warning(let text, let remedy): (text, remedy)
    case .failure, .notExamined, nil: nil
    }
  }

  @Test func aSingleAddressSaysNothing() { #expect(texts([]) == nil) }

  @Test func addressesThatRespondAreListed() {
    #expect(texts([(six, nil), (two, nil)])?.text == "its other addresses respond, too: \(six), \(two)")
  }

  @Test func eachThatDoesNotIsNamed() throws {
    let one = try #require(texts([(six, nil), (two, "refused"), (three, nil)]))
    #expect(one.text == "1 of its 4 addresses does not respond: \(two) (refused).")
    #expect(one.remedy?.contains("--ipv") == false)
    let both = try #require(texts([(six, "no route"), (two, "refused")]))
    #expect(both.text == "2 of its 3 addresses do not respond: \(six) (no route), \(two) (refused).")
    #expect(both.remedy?.contains("--ipv") == false)
  }

  @Test func aFamilyThatDoesNotRespondCanBeLeftOut() throws {
    #expect(try #require(texts([(six, "no route"), (two, nil)])).remedy?.hasSuffix("or use --ipv4.") == true)
    let partly: [AddressChecks.Attempt] = [(six, "no route"), ("[2001:db8::2]:443", nil)]
    #expect(texts(partly)?.remedy?.contains("--ipv") == false)
  }
}
