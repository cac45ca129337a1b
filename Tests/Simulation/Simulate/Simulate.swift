import Glibc
import Uploader
import World

/// Runs the uploader in simulated worlds, each made of a seed.
@main
enum Simulate {
  /// Seeds in which a canary must be noticed.
  private static let canarySeeds: UInt64 = 100_000

  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    var (first, count, jobs): (UInt64, UInt64, Int32) = (1, 1000, 2)
    var mostFailures: Int32 = 10
    var replay: UInt64?
    var (proves, isForWatchers) = (false, false)
    func number() -> UInt64 {
      guard let text = arguments.first, let value = UInt64(text) else { usage() }
      arguments.removeFirst()
      return value
    }
    while let option = arguments.first {
      arguments.removeFirst()
      switch option {
      case "--seeds":
        first = number()
        count = number()
      case "--jobs": jobs = Int32(clamping: max(1, number()))
      case "--failures": mostFailures = Int32(clamping: max(1, number()))
      case "--replay": replay = number()
      case "--watchers": isForWatchers = true
      case "--prove": proves = true
      case "--canary":
        guard let name = arguments.first, world_set_canary(name) != 0 else { usage() }
        arguments.removeFirst()
      default: usage()
      }
    }
    if let replay { Simulate.replay(replay) }
    if proves { prove(jobs: jobs) }
    let failures = world_run_seeds(first, count, jobs, mostFailures, CommandLine.arguments[0], isForWatchers ? 1 : 0) {
      Scenario.run($0, traces: false)
    }
    exit(failures == 0 ? 0 : 1)
  }

  /// One seed with everything that happens in it.
  private static func replay(_ seed: UInt64) -> Never {
    Scenario.run(seed, traces: true)
    guard let violation = world_violation() else {
      print("seed \(seed) is fine")
      exit(0)
    }
    print("seed \(seed) FAILED: " + String(cString: violation))
    exit(1)
  }

  /// Breaks one thing after the other, and wants each to be noticed.
  private static func prove(jobs: Int32) -> Never {
    var isProven = true
    for canary in String(cString: world_canaries()).split(separator: " ") {
      _ = world_set_canary(String(canary))
      let failures = world_run_seeds(1, canarySeeds, jobs, 1, nil, 0) { Scenario.run($0, traces: false) }
      print("canary \(canary): " + (failures > 0 ? "noticed" : "NOT NOTICED in \(canarySeeds) seeds"))
      isProven = isProven && failures > 0
    }
    exit(isProven ? 0 : 1)
  }

  private static func usage() -> Never {
    print(
      """
      simulate [--seeds FROM COUNT] [--jobs N] [--failures N] [--watchers] [--canary NAME]
      simulate --replay SEED [--canary NAME]
      simulate --prove [--jobs N]
      canaries: \(String(cString: world_canaries()))
      """)
    exit(2)
  }
}
