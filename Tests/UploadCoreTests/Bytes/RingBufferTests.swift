import Testing
import UploadCore

/// What a look at a ring shows.
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
