import Testing
import UploadCore

/// A snapshot of a ring.
private struct Look: Equatable {
  var count: Int
  var writable: Int
  var readable: [UInt8]
}

/// RingBuffer cannot be copied, so the tests look at it through this.
private func look(_ ring: borrowing RingBuffer) -> Look {
  Look(count: ring.count, writable: ring.writableRun.count, readable: Array(ring.readableRun))
}

private func write(_ text: String, to ring: inout RingBuffer) {
  let source = bytes(text)
  ring.writableRun.copyBytes(from: source)
  ring.commit(source.count)
}

struct RingBufferTests {
  @Test func aNewRingOffersAllItsRoomInOneRun() {
    let ring = RingBuffer(capacity: 10)
    #expect(look(ring) == Look(count: 0, writable: 10, readable: []))
    let (capacity, isEmpty, isFull) = (ring.capacity, ring.isEmpty, ring.isFull)
    #expect(capacity == 10 && isEmpty && !isFull)
  }

  @Test func aFullRingOffersNoRoom() {
    var ring = RingBuffer(capacity: 3)
    write("abc", to: &ring)
    #expect(look(ring) == Look(count: 3, writable: 0, readable: bytes("abc")))
    let (isEmpty, isFull) = (ring.isEmpty, ring.isFull)
    #expect(isFull && !isEmpty)
  }

  @Test func bytesThatWrapComeInTwoRunsInOrder() {
    var ring = RingBuffer(capacity: 4)
    write("abc", to: &ring)
    ring.consume(2)
    #expect(look(ring) == Look(count: 1, writable: 1, readable: bytes("c")))
    write("d", to: &ring)
    #expect(look(ring) == Look(count: 2, writable: 2, readable: bytes("cd")))
    write("ef", to: &ring)
    #expect(look(ring) == Look(count: 4, writable: 0, readable: bytes("cd")))
    ring.consume(2)
    #expect(look(ring) == Look(count: 2, writable: 2, readable: bytes("ef")))
  }

  @Test func anEmptiedRingStartsAgainAtItsFirstByte() {
    var ring = RingBuffer(capacity: 8)
    write("abcde", to: &ring)
    ring.consume(5)
    #expect(look(ring) == Look(count: 0, writable: 8, readable: []))
  }

  @Test func removeAllForgetsWhatItHeld() {
    var ring = RingBuffer(capacity: 4)
    write("abcd", to: &ring)
    ring.consume(3)
    ring.removeAll()
    #expect(look(ring) == Look(count: 0, writable: 4, readable: []))
  }

  @Test(arguments: [1, 2, 7, 64, 1000], [1, 2, 3] as [UInt64])
  func anyOrderOfWritesAndReadsGivesTheBytesInOrder(capacity: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var ring = RingBuffer(capacity: capacity)
    var model: [UInt8] = []
    for _ in 0..<3000 {
      if Bool.random(using: &generator) {
        let space = ring.writableRun
        let length = Int.random(in: 0...space.count, using: &generator)
        for index in 0..<length {
          space[index] = UInt8.random(in: 0...255, using: &generator)
          model.append(space[index])
        }
        ring.commit(length)
      } else {
        let length = Int.random(in: 0...ring.readableRun.count, using: &generator)
        ring.consume(length)
        model.removeFirst(length)
      }
      let seen = look(ring)
      let holds =
        seen.count == model.count && model.starts(with: seen.readable) && seen.readable.isEmpty == model.isEmpty
        && seen.writable <= capacity - model.count && (seen.writable == 0) == (model.count == capacity)
      guard holds else {
        Issue.record("\(seen) is not \(model)")
        return
      }
    }
  }

  // MARK: A second reader

  @Test func whatASecondReaderNeedsIsNotWrittenOver() {
    var ring = RingBuffer(capacity: 6)
    write("abc", to: &ring)
    ring.keep(from: 1)
    ring.consume(3)
    // "bc" is kept, "a" is free.
    #expect(look(ring) == Look(count: 0, writable: 3, readable: []))
    write("def", to: &ring)
    #expect(look(ring) == Look(count: 3, writable: 1, readable: bytes("def")))
    write("g", to: &ring)
    let isFull = ring.isFull
    #expect(isFull && look(ring) == Look(count: 4, writable: 0, readable: bytes("def")))
    ring.keep(from: 3)
    #expect(look(ring) == Look(count: 4, writable: 2, readable: bytes("def")))
    ring.keep(from: nil)
    ring.consume(3)
    #expect(look(ring) == Look(count: 1, writable: 5, readable: bytes("g")))
  }

  @Test func anEmptiedRingStartsAgainOnlyWhenNothingIsKept() {
    var ring = RingBuffer(capacity: 8)
    ring.keep(from: 0)
    write("abcde", to: &ring)
    ring.consume(5)
    #expect(look(ring) == Look(count: 0, writable: 3, readable: []))
    ring.keep(from: nil)
    let end = ring.end
    #expect(end == 0 && look(ring) == Look(count: 0, writable: 8, readable: []))
  }

  @Test func aSecondReaderThatIsAheadKeepsNothing() {
    var ring = RingBuffer(capacity: 4)
    write("abc", to: &ring)
    ring.keep(from: 3)
    ring.consume(2)
    #expect(look(ring) == Look(count: 1, writable: 1, readable: bytes("c")))
  }

  @Test func onlyAWindowOfItCanBeUsed() {
    var ring = RingBuffer(capacity: 8)
    ring.removeAll(window: 4)
    write("abcd", to: &ring)
    #expect(look(ring) == Look(count: 4, writable: 0, readable: bytes("abcd")))
    ring.consume(3)
    write("ef", to: &ring)
    #expect(look(ring) == Look(count: 3, writable: 1, readable: bytes("d")))
    ring.removeAll()
    #expect(look(ring) == Look(count: 0, writable: 8, readable: []))
  }

  @Test(arguments: [1, 2, 7, 64, 1000], [1, 2, 3] as [UInt64])
  func anyOrderOfTwoReadersLeavesEachItsBytes(capacity: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var ring = RingBuffer(capacity: capacity)
    // The second reader's bytes, which must not have been moved or overwritten.
    var kept: [(place: UnsafeMutableRawPointer, byte: UInt8, position: Int64)] = []
    for _ in 0..<3000 {
      switch Int.random(in: 0..<3, using: &generator) {
      case 0:
        let space = ring.writableRun
        let length = Int.random(in: 0...space.count, using: &generator)
        let end = ring.end
        for index in 0..<length {
          space[index] = UInt8.random(in: 0...255, using: &generator)
          kept.append((space.baseAddress! + index, space[index], end + Int64(index)))
        }
        if length > 0, kept.count == length { ring.keep(from: end) }
        ring.commit(length)
      case 1: ring.consume(Int.random(in: 0...ring.readableRun.count, using: &generator))
      default:
        kept.removeFirst(Int.random(in: 0...kept.count, using: &generator))
        ring.keep(from: kept.first?.position)
      }
      let isWhole = kept.allSatisfy { $0.place.load(as: UInt8.self) == $0.byte }
      let used = max(look(ring).count, kept.count)
      guard isWhole, look(ring).writable <= capacity - used, (used == capacity) == (look(ring).writable == 0) else {
        Issue.record("\(look(ring)) with \(kept.count) bytes kept")
        return
      }
    }
  }

  @Test func keepingWhatIsGoneIsABug() async {
    await #expect(processExitsWith: .failure) {
      var ring = RingBuffer(capacity: 4)
      ring.commit(3)
      ring.consume(2)
      ring.keep(from: 1)
    }
  }

  @Test func committingMoreThanThereIsRoomForIsABug() async {
    await #expect(processExitsWith: .failure) {
      var ring = RingBuffer(capacity: 4)
      ring.commit(5)
    }
  }

  @Test func consumingMoreThanThereIsIsABug() async {
    await #expect(processExitsWith: .failure) {
      var ring = RingBuffer(capacity: 4)
      ring.commit(2)
      ring.consume(3)
    }
  }
}
