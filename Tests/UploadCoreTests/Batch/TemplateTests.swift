import Testing
import UploadCore

struct TemplateTests {
  private let evening = LocalTime(year: 2026, month: 11, day: 20, hour: 9, minute: 5)

  private func expanded(_ text: String, path: String = "/rec/2026/gig.final.mp4") throws -> String {
    let values = TemplateValues(path: LocalPath(path), modified: evening, host: bytes("pi"))
    return String(decoding: try Template(parsing: bytes(text)).expanded(values), as: UTF8.self)
  }

  private func failure(_ text: String) -> TemplateError? {
    do throws(TemplateError) { _ = try Template(parsing: bytes(text)) } catch { return error }
    return nil
  }

  @Test(arguments: [
    ("", ""), ("First set", "First set"), ("{name}", "gig.final.mp4"), ("{stem}", "gig.final"), ("{dir}", "2026"),
    ("{date} {time}", "2026-11-20 09-05"), ("{host}:{stem}{stem}", "pi:gig.finalgig.final"), ("{{}}", "{}"),
    ("{{name}}", "{name}"),
    ("{{{name}}}", "{gig.final.mp4}"), ("é{dir}ü", "é2026ü"),
  ]) func namesStandForWhatIsKnownOfTheFile(_ sample: (String, String)) throws {
    #expect(try expanded(sample.0) == sample.1)
  }

  @Test func aNameWithoutExtensionIsItsOwnStem() throws {
    for (path, stem) in [("/a/gig", "gig"), ("/a/.gig", ".gig"), ("/a/gig.", "gig"), ("/gig.wav", "gig")] {
      #expect(try expanded("{stem}", path: path) == stem)
    }
    #expect(try expanded("{dir}", path: "/gig.wav") == "")
  }

  @Test(
    arguments: [
      ("/rec/gig.wav", "rec"), ("/gig.wav", ""), ("rec/gig.wav", "rec"), ("a/rec/./gig.wav", "rec"),
      ("a/rec//gig.wav", "rec"),
      ("/a/rec/x/../gig.wav", "rec"), ("/rec/a/b/../../gig.wav", "rec"), ("/../gig.wav", ""), ("/a/..b/gig.wav", "..b"),
      ("gig.wav", nil), ("./gig.wav", nil), ("../gig.wav", nil), ("a/../gig.wav", nil), ("a/../../gig.wav", nil),
    ] as [(String, String?)]) func aPathTellsTheNameOfTheDirectory(_ sample: (String, String?))
  {
    #expect(LocalPath(sample.0).directoryName.map { Array($0) } == sample.1.map { bytes($0) })
  }

  @Test(arguments: ["{", "}", "a{", "a}b", "{}", "{ name}", "{name", "{na{me}}", "{{}", "{name}}", "{näme}"])
  func aBraceThatBelongsToNoNameIsRefused(_ text: String) {
    guard case .strayBrace = failure(text) else {
      Issue.record("\(text) is accepted, or refused as something else")
      return
    }
  }

  @Test func anUnknownNameIsRefused() {
    #expect(failure("a {stme}") == .unknownName(bytes("stme")))
    #expect(failure("{Name}") == .unknownName(bytes("Name")))
  }

  @Test func onlyATemplateWithANameDiffersFromFileToFile() throws {
    for text in ["", "a", "{{name}}"] { #expect(try Template(parsing: bytes(text)).constant != nil) }
    #expect(try Template(parsing: bytes("a{name}")).constant == nil)
    #expect(try Template(parsing: bytes("a{{")).constant == bytes("a{"))
  }

  @Test(arguments: ["", "{", "}}", "a{name}b", "{{x}", "\u{FFFD}"]) func anEscapedBraceStandsForItself(_ text: String)
    throws
  {
    let template = try Template(parsing: Template.escaped(bytes(text)))
    #expect(template.constant == bytes(text))
  }

  @Test func aNameKeepsItsBytes() throws {
    let path = LocalPath(bytes: bytes("/rec/caf") + [0xE9] + bytes(".wav"))
    let values = TemplateValues(path: path, modified: evening, host: [])
    #expect(try Template(parsing: bytes("{stem}")).expanded(values) == bytes("caf") + [0xE9])
  }
}
