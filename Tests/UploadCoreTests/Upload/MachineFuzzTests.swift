import Testing
import UploadCore

/// The machine with any events and responses in any order: it never traps, always ends, and trusts nothing without proof.
struct MachineFuzzTests {
  /// Every event in every state: 10,000 uploads and removals.
  @Test(arguments: [false, true])
  func theMachineKeepsItsPromisesWhateverHappens(hasStrangersOnly: Bool) throws {
    var ends: [String: Int] = [:]
    for seed in 0..<UInt64(5000) {
      var run = try FuzzedRun(seed: seed, hasStrangersOnly: hasStrangersOnly)
      run.run()
      if let complaint = run.complaint {
        var again = try FuzzedRun(seed: seed, hasStrangersOnly: hasStrangersOnly, keepsLog: true)
        again.run()
        Issue.record("seed \(seed): \(complaint)\n\(again.log.suffix(30))")
      }
      ends[run.endName, default: 0] += 1
    }
    // The seeds are useful only if they reach every outcome.
    #expect(ends["failed"] ?? 0 > 200)
    if !hasStrangersOnly {
      for name in ["delivered", "cancelled", "deleted", "mayBeStored"] { #expect(ends[name] ?? 0 > 20, "\(name)") }
    }
  }
}
