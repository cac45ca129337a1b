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

  // MARK: A second reader

  @Test func bytesThatASecondReaderNeedsAreNotOverwritten() {
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
  func anyOrderOfWritesAndReadsLeavesEachReaderItsBytes(capacity: Int, seed: UInt64) {
    for hasSecondReader in [false, true] {
      var generator = SeededGenerator(seed: seed)
      var ring = RingBuffer(capacity: capacity)
      var unread: [UInt8] = []
      // The second reader's bytes, which must not have been moved or overwritten.
      var kept: [(place: UnsafeMutableRawPointer, byte: UInt8, position: Int64)] = []
      for _ in 0..<3000 {
        switch Int.random(in: hasSecondReader ? 0..<3 : 0..<2, using: &generator) {
        case 0:
          let space = ring.writableRun
          let length = Int.random(in: 0...space.count, using: &generator)
          let end = ring.end
          for index in 0..<length {
            space[index] = UInt8.random(in: 0...255, using: &generator)
            unread.append(space[index])
            if hasSecondReader { kept.append((space.baseAddress! + index, space[index], end + Int64(index))) }
          }
          if length > 0, kept.count == length { ring.keep(from: end) }
          ring.commit(length)
        case 1:
          let length = Int.random(in: 0...ring.readableRun.count, using: &generator)
          ring.consume(length)
          unread.removeFirst(length)
        default:
          kept.removeFirst(Int.random(in: 0...kept.count, using: &generator))
          ring.keep(from: kept.first?.position)
        }
        let seen = look(ring)
        let used = max(unread.count, kept.count)
        guard seen.count == unread.count, unread.starts(with: seen.readable), seen.readable.isEmpty == unread.isEmpty,
          kept.allSatisfy({ $0.place.load(as: UInt8.self) == $0.byte }), seen.writable <= capacity - used,
          (seen.writable == 0) == (used == capacity)
        else {
          Issue.record("\(seen) is not \(unread), with \(kept.count) bytes kept")
          return
        }
      }
    }
  }

  @Test func keepingBytesThatAreGoneIsABug() async {
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
