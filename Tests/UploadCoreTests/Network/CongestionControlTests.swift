import Testing
import UploadCore

struct CongestionControlTests {
  private func choice(_ available: String?, mayLoadModules: Bool = false) -> String? {
    CongestionControl.automaticName(available: available.map { Array($0.utf8) }, mayLoadModules: mayLoadModules)
  }

  @Test(arguments: ["bbr", "bbr\n", "reno cubic bbr\n", "reno bbr cubic\n", "bbr reno"])
  func bbrIsUsedIfItIsLoaded(available: String) {
    #expect(choice(available) == "bbr")
    // Nothing has to be loaded for it.
    #expect(choice(available, mayLoadModules: true) == "bbr")
  }

  @Test(arguments: ["", "\n", "reno cubic\n", "reno bbr2 cubic\n", "reno xbbr\n", "BBR\n"])
  func theSystemsDefaultStaysIfBBRIsNotLoaded(available: String) {
    #expect(choice(available) == nil)
    #expect(choice(available, mayLoadModules: true) == nil)
  }

  @Test func withoutProcBBRIsTriedOnlyIfTheKernelWouldLoadNothing() {
    #expect(choice(nil) == "bbr")
    #expect(choice(nil, mayLoadModules: true) == nil)
  }

  @Test func aNameHasUpTo15PrintableCharacters() {
    for name in ["bbr", "x", "dctcp-reno_2.0+", "auto"] { #expect(CongestionControl.isName(name)) }
    for name in ["", "a b", "sixteen-letters-", "a\n", "é", "a\u{0}"] { #expect(!CongestionControl.isName(name)) }
  }
}
