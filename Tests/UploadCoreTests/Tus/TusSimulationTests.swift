import Testing
import UploadCore

/// Whole uploads to simulated servers, in virtual time: nothing is lost, interruptions cost little, and the line is used.
struct TusSimulationTests {
  private static let extensions = [
    "creation", "creation,creation-with-upload", "creation,creation-defer-length", "creation,termination,expiration",
  ]

  // MARK: The line's time

  private static let kinds: [SimulatedTusServer.Kind] = [.streaming, .spooling]

  /// 100 Mbit/s and 100 ms.
  private func distantLink(startsSlowly: Bool) -> SimulatedLink {
    SimulatedLink(megabitsPerSecond: 100, roundTripMilliseconds: 100, startsSlowly: startsSlowly)
  }

  /// From the first packet of the connection to the last answer.
  private func time(
    _ size: Int64, to kind: SimulatedTusServer.Kind, extensions: String, over link: SimulatedLink
  ) throws -> Double {
    var server = SimulatedTusServer(kind, length: size)
    server.extensions = extensions
    var simulation = try SimulatedUpload(server, over: link)
    simulation.run()
    #expect(simulation.isWhole && simulation.error == nil)
    return simulation.milliseconds
  }

  @Test(arguments: kinds, extensions)
  func aHundredMebibytesTakeATenthMoreThanTheLinesTimeAtMost(
    kind: SimulatedTusServer.Kind, extensions: String
  ) throws {
    let link = distantLink(startsSlowly: false)
    let time = try time(100 * mebibyte, to: kind, extensions: extensions, over: link)
    // 8.39 s; connecting, TLS, OPTIONS and creation take four round trips of it, and the last answer a fifth.
    #expect(time <= 1.10 * 8388.608)
  }

  /// What a connection loses by starting slowly nobody gets back: the measure is one long POST over the same line.
  @Test(arguments: kinds, extensions)
  func aConnectionThatStartsSlowlyTakesATenthMoreThanOnePostAtMost(
    kind: SimulatedTusServer.Kind, extensions: String
  ) throws {
    var link = distantLink(startsSlowly: true)
    let time = try time(100 * mebibyte, to: kind, extensions: extensions, over: link)
    link.restart(at: 200)
    let onePost = link.send(100 * mebibyte, at: 200) + 100
    #expect(time <= 1.10 * onePost)
  }

  @Test func requestsOverlapOnlyWhereTheLineWouldBeIdle() throws {
    for (roundTrip, mostUnderWay) in [(0.5, 1), (100.0, 2)] {
      let link = SimulatedLink(megabitsPerSecond: 1000, roundTripMilliseconds: roundTrip)
      var simulation = try SimulatedUpload(SimulatedTusServer(.streaming, length: 200 * mebibyte), over: link)
      simulation.run()
      #expect(simulation.isWhole && simulation.mostUnderWay == mostUnderWay)
    }
  }

  // MARK: Interruptions

  /// A server, a line, a file and breaks that depend on the seed alone.
  private func simulation(seed: UInt64, kind: SimulatedTusServer.Kind) throws -> SimulatedUpload {
    var random = SeededGenerator(seed: seed)
    // 1 B to 3 GiB; the exponent is what is even.
    let size = min(
      3 * gibibyte, Int64.random(in: 1...(Int64(1) << Int64.random(in: 0...32, using: &random)), using: &random))
    var server = SimulatedTusServer(kind, length: size)
    server.extensions = TusSimulationTests.extensions.randomElement(using: &random) ?? ""
    server.spoolBytesPerMillisecond = [10_000, 125_000, 1_000_000].randomElement(using: &random) ?? 1
    var options = TusUpload.Options()
    options.defersLength = Bool.random(using: &random)
    let link = SimulatedLink(
      megabitsPerSecond: [1, 10, 100, 1000].randomElement(using: &random) ?? 1,
      roundTripMilliseconds: [0.2, 5, 30, 100, 600].randomElement(using: &random) ?? 1)
    return try SimulatedUpload(
      server, over: link, breaks: Int.random(in: 0...12, using: &random),
      breakWithin: Int64(1) << Int64.random(in: 8...31, using: &random), seed: seed, options: options)
  }

  /// Says what of an upload was not as it should be.
  private func complaint(about simulation: SimulatedUpload, _ kind: SimulatedTusServer.Kind) -> String? {
    guard simulation.isWhole else { return "incomplete: \(simulation.server), \(String(describing: simulation.error))" }
    // Nobody has shown by then that it takes more.
    guard simulation.longestUnproved <= 95_000_000 else { return "a request of \(simulation.longestUnproved)" }
    for interruption in simulation.interruptions {
      guard interruption.cost <= interruption.underWay else { return "more lost than under way: \(interruption)" }
      // One chunk has eight mebibytes until 256 of them have gone well, also as two requests.
      guard kind == .spooling, interruption.streamed < 256 * mebibyte else { continue }
      guard interruption.cost <= 8 * mebibyte, interruption.underWay <= 8 * mebibyte else { return "\(interruption)" }
    }
    return nil
  }

  @Test(arguments: kinds)
  func everyUploadGetsThereAndNoInterruptionCostsMoreThanOneChunk(kind: SimulatedTusServer.Kind) throws {
    var interruptions = 0
    for seed in 0..<UInt64(2000) {
      var simulation = try simulation(seed: seed, kind: kind)
      simulation.run()
      interruptions += simulation.interruptions.count
      if let complaint = complaint(about: simulation, kind) { Issue.record("seed \(seed): \(complaint)") }
    }
    // The seeds are worth something only if they break something.
    #expect(interruptions > 1000)
  }

  @Test func behindASpoolingProxyAnInterruptionNeverCostsMoreThan95Megabytes() throws {
    var dearest: Int64 = 0
    for seed in 0..<UInt64(150) {
      let link = SimulatedLink(megabitsPerSecond: 100, roundTripMilliseconds: 30)
      var simulation = try SimulatedUpload(
        SimulatedTusServer(.spooling, length: 3 * gibibyte), over: link, breaks: 4, breakWithin: 2 * gibibyte,
        seed: seed)
      simulation.run()
      if let complaint = complaint(about: simulation, .spooling) { Issue.record("seed \(seed): \(complaint)") }
      for interruption in simulation.interruptions { dearest = max(dearest, interruption.cost) }
    }
    // It does come to that, once requests have grown.
    #expect(dearest > 8 * mebibyte && dearest <= 95_000_000)
  }

  @Test func aStreamingServerIsRecognisedByTheFirstInterruption() throws {
    let link = SimulatedLink(megabitsPerSecond: 100, roundTripMilliseconds: 30)
    var recognised = 0
    for seed in 0..<UInt64(200) {
      var simulation = try SimulatedUpload(
        SimulatedTusServer(.streaming, length: 3 * gibibyte), over: link, breaks: 1, breakWithin: 64 * mebibyte,
        seed: seed)
      simulation.run()
      #expect(simulation.isWhole)
      // All that is left goes out in one request.
      if simulation.patches < 40 { recognised += 1 }
    }
    // Unless the interruption came between two requests.
    #expect(recognised > 120)
  }

  // MARK: Limits of proxies

  @Test(arguments: [65_536, 1_000_000, 1 << 20, 5_000_000, 100_000_000] as [Int64], kinds)
  func aProxysLimitIsFoundAndKept(limit: Int64, kind: SimulatedTusServer.Kind) throws {
    for seed in 0..<UInt64(50) {
      var server = SimulatedTusServer(kind, length: min(700 * mebibyte, 60 * limit + 1))
      server.contentLimit = limit
      let link = SimulatedLink(megabitsPerSecond: 100, roundTripMilliseconds: seed % 2 == 0 ? 1 : 100)
      var simulation = try SimulatedUpload(
        server, over: link, breaks: Int(seed % 5), breakWithin: 64 * mebibyte, seed: seed)
      simulation.run()
      #expect(simulation.isWhole, "seed \(seed): \(String(describing: simulation.error))")
    }
  }

  @Test func aChosenLengthBoundsEveryInterruption() throws {
    var options = TusUpload.Options()
    options.chunkLength = 1_000_000
    for seed in 0..<UInt64(200) {
      let link = SimulatedLink(megabitsPerSecond: 10, roundTripMilliseconds: 100)
      var simulation = try SimulatedUpload(
        SimulatedTusServer(.spooling, length: 50_000_000), over: link, breaks: 6, breakWithin: 20_000_000, seed: seed,
        options: options)
      simulation.run()
      #expect(simulation.isWhole && simulation.mostUnderWay == 1)
      #expect(simulation.interruptions.allSatisfy { $0.cost <= 1_000_000 })
    }
  }
}
