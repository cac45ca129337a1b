import Testing
import UploadCore

/// The text format of Prometheus, and the conventions that `promtool check metrics` checks.
struct WatchMetricsTests {
  private struct Metric {
    var name: String
    var help = ""
    var type = ""
    var samples: [String] = []
  }

  /// Parses the format's subset that is written: each metric with HELP, TYPE and at least one sample.
  private func parsed(_ text: String) throws -> [Metric] {
    var metrics: [Metric] = []
    #expect(text.hasSuffix("\n"))
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      let words = line.split(separator: " ", maxSplits: 3).map { String($0) }
      if line.hasPrefix("# HELP ") {
        metrics.append(Metric(name: words[2], help: words[3]))
      } else if line.hasPrefix("# TYPE ") {
        #expect(words[2] == metrics.last?.name && metrics.last?.samples == [])
        metrics[metrics.count - 1].type = words[3]
      } else {
        let name = try #require(metrics.last?.name)
        #expect(line.hasPrefix(name + "{") || line.hasPrefix(name + " "), "\(line)")
        let value = try #require(line.split(separator: " ").last)
        #expect(Int64(value) != nil, "\(line)")
        metrics[metrics.count - 1].samples.append(String(line))
      }
    }
    return metrics
  }

  @Test func everyMetricFollowsTheConventions() throws {
    let metrics = try parsed(WatchSnapshot.sample.metrics)
    #expect(metrics.count == 19)
    #expect(Set(metrics.map { $0.name }).count == metrics.count)
    for metric in metrics {
      #expect(metric.name.hasPrefix("gighive_upload_"))
      let isPlain = metric.name.allSatisfy { $0.isLowercase && $0.isASCII || $0 == "_" }
      #expect(isPlain, "\(metric.name)")
      #expect(metric.help.hasSuffix("."), "\(metric.name)")
      #expect(metric.type == (metric.name.hasSuffix("_total") ? "counter" : "gauge"), "\(metric.name)")
      // Suffixes of histograms, types in names, and units that are not base units.
      for ending in ["_count", "_sum", "_bucket"] { #expect(!metric.name.hasSuffix(ending), "\(metric.name)") }
      for word in ["gauge", "counter", "milliseconds", "minutes", "hours", "kilobytes", "megabytes", "percent"] {
        #expect(!metric.name.contains(word), "\(metric.name)")
      }
      let series = metric.samples.map { $0.prefix { $0 != " " } }
      #expect(!series.isEmpty && Set(series).count == series.count, "\(metric.name)")
    }
  }

  @Test func theFiguresAreThoseOfTheSnapshot() {
    let lines = WatchSnapshot.sample.metrics.split(separator: "\n").map { String($0) }
    let venue = #"{destination="https://gighive/",directory="/srv/recordings"}"#
    for line in [
      "gighive_upload_start_time_seconds 1795420800",
      #"gighive_upload_directory_watched{directory="/srv/recordings"} 1"#,
      #"gighive_upload_directory_watched{directory="/media/stick"} 0"#,
      #"gighive_upload_directory_free_bytes{directory="/srv/recordings"} 12300000000"#,
      #"gighive_upload_directory_space_short{directory="/srv/recordings"} 0"#,
      "gighive_upload_waiting_recordings" + venue + " 12", "gighive_upload_waiting_bytes" + venue + " 40100000000",
      "gighive_upload_set_aside_recordings" + venue + " 3", "gighive_upload_destination_ready" + venue + " 1",
      "gighive_upload_delivered_recordings_total" + venue + " 45",
      "gighive_upload_delivered_bytes_total" + venue + " 120000000000",
      "gighive_upload_last_delivery_timestamp_seconds" + venue + " 1795421100",
    ] {
      #expect(lines.contains(line), "\(line)")
    }
  }

  @Test func aShortageOfSpaceHasTheValueOne() {
    var snapshot = WatchSnapshot.sample
    snapshot.groups[0].directories[0].isSpaceShort = true
    #expect(snapshot.metrics.contains("gighive_upload_directory_space_short{directory=\"/srv/recordings\"} 1\n"))
  }

  @Test func labelsAreEscaped() {
    let metrics = WatchSnapshot.sample.metrics
    // The directory is /c, the byte E9, a quotation mark, a backslash and a line feed.
    #expect(metrics.contains(#"{directory="/c\\xe9\"\\\n"} 0"#))
  }

  @Test func aWatcherWithoutDirectoriesHasOnlyItsStart() throws {
    let metrics = try parsed(WatchSnapshot(startedAt: 7).metrics)
    #expect(metrics.map { $0.name } == ["gighive_upload_start_time_seconds"])
  }
}
