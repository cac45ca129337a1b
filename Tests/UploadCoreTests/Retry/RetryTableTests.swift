import Glibc
import Testing
import UploadCore

/// The documented table is the one that the program follows.
struct RetryTableTests {
  /// The rows about statuses in docs/networks.md: the numbers, and whether they are retried.
  private func rows() throws -> [(numbers: [Int], isRetried: Bool)] {
    let path = #filePath.replacing("Tests/UploadCoreTests/Retry/RetryTableTests.swift", with: "docs/networks.md")
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var text: [UInt8] = []
    while case let byte = getc(file), byte != EOF { text.append(UInt8(byte)) }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
      guard line.hasPrefix("| "), cells.count == 2, cells[0].first?.isNumber ?? false else { return nil }
      return (cells[0].split { !$0.isNumber }.compactMap { Int($0) }, cells[1].hasPrefix("yes"))
    }
  }

  @Test func theDocumentedStatusesAreRetried() throws {
    let rows = try rows()
    try #require(rows.count == 2 && rows.allSatisfy { $0.isRetried })
    let named = Set(rows[0].numbers)
    try #require(rows[1].numbers.count == 5)
    let (range, exceptions) = (rows[1].numbers[0]...rows[1].numbers[1], rows[1].numbers[2...])
    for status in 100...599 {
      let isDocumented = named.contains(status) || (range.contains(status) && !exceptions.contains(status))
      #expect(RetryPolicy.isTransient(status: status) == isDocumented, "\(status)")
    }
  }
}
