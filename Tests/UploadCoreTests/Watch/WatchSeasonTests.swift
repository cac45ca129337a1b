import Testing

@testable import UploadCore

struct WatchSeasonTests {
  /// A month, 4,000 recordings, outages of up to three days, reboots and crashes: each recording exactly once, and nothing
  /// grows. A longer time shows no more: what the machine knows ends with each of the eighteen reboots.
  @Test func aSeasonInFastMotion() {
    let day: Int64 = 86_400_000
    var station = SimulatedStation()
    var written = 0
    var networkAt: Int64 = 0
    var mishaps = 0
    for _ in 0..<(30 * 24) {
      let hour = station.now + day / 24
      // Now and then a whole concert, otherwise a few recordings.
      let count = station.draw(200) == 0 ? 300 : station.draw(9)
      for _ in 0..<count {
        station.write("/rec/\(written).wav", size: 1 + station.draw(1_000_000))
        written += 1
        if station.draw(10) == 0 {
          // It is written to for a while, and its end causes no event.
          station.write("/rec/\(written).wav", for: 1000 * station.draw(1800))
          written += 1
        }
        station.run(until: min(station.now + station.draw(20_000), hour))
      }
      if station.isNetworkUp, station.draw(150) == 0 {
        station.isNetworkUp = false
        networkAt = station.now + 1 + station.draw(3 * day)
      }
      if !station.isNetworkUp, station.now >= networkAt {
        station.isNetworkUp = true
        station.machine.retryNow(now: station.now)
      }
      let mishap = station.draw(40)
      if mishap < 2 { mishaps += 1 }
      if mishap == 0 { station.reboot() }
      if mishap == 1 { station.killWorker() }
      station.run(until: hour)
      station.scan()
      // What was delivered is moved away, all but the last ones.
      if station.files.count > 40 { removeDelivered(&station) }
    }
    station.isNetworkUp = true
    station.run(until: station.now + 3 * day)
    station.scan()
    station.run(until: station.now + day)
    #expect(written >= 3000 && mishaps > 20)
    #expect(station.deliveries.count == written)
    #expect(station.deliveries.values.allSatisfy { $0 == 1 })
    #expect(station.machine.candidates.isEmpty && station.machine.leftAlone.setAside.isEmpty)
    #expect(station.mostCandidates < 3000)
    #expect(station.machine.leftAlone.known.count <= Limits.watchedKnownCount)
  }

  private func removeDelivered(_ station: inout SimulatedStation) {
    for (path, file) in station.files where station.records.contains(file.key) { station.files[path] = nil }
  }
}
