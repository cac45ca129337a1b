import Testing

@testable import Uploader

/// The walk through delivered records, for `clean`.
struct DeliveryWalkTests {
  private func ids(_ walk: RecordWalk) throws -> [String] {
    var ids: [String] = []
    while let record = try walk.next() { ids.append(record.id) }
    return ids
  }

  @Test func deliveriesComeOldestFirst() throws {
    let bench = StateBench()
    let directory = try bench.open()
    for (id, createdAt, deliveredAt) in [("00000001", 1, 30), ("00000002", 2, 10), ("00000003", 3, 20)]
      as [(_, Int64, Int64)]
    {
      var record = record(id, phase: .delivered, createdAt: createdAt)
      record.delivery?.deliveredAt = deliveredAt
      try directory.write(record)
    }
    for (id, phase) in [("00000004", .pending), ("00000005", .failed), ("00000006", .uploaded)]
      as [(_, UploadRecord.Phase)]
    {
      try directory.write(record(id, phase: phase))
    }
    #expect(try ids(directory.walkDeliveries { _ in true }) == ["00000002", "00000003", "00000001"])
    #expect(try ids(directory.walkDeliveries { $0.createdAt != 3 }) == ["00000002", "00000001"])
    #expect(try ids(directory.walkDeliveries { _ in false }) == [])
    #expect(bench.warnings == [])
  }

  /// A power cut between writing `.delivered` and removing `.record` leaves both names.
  @Test func aDeliveredUploadIsNotOpen() throws {
    let bench = StateBench()
    let directory = try bench.open()
    try directory.write(record("00000001"))
    let pending = try #require(bench.content(of: "00000001.record"))
    let delivered = record("00000001", phase: .delivered)
    try directory.write(delivered)
    bench.put(pending, at: "00000001.record")
    #expect(try directory.records(.open).isEmpty)
    #expect(try directory.records(.delivered) == [delivered] && directory.records(.all) == [delivered])
    #expect(try directory.current("00000001") == delivered)
  }
}
