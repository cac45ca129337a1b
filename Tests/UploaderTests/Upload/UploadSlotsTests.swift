import Testing

@testable import Uploader

struct UploadSlotsTests {
  private let slots = UploadSlots(count: 2, rateControl: nil)

  @Test func thereAreAsManySlotsAsJobs() {
    #expect(slots.take() != nil && slots.take() != nil && slots.take() == nil)
  }

  @Test func anUploadThatWaitsGivesItsSlotToTheNext() throws {
    let (one, _) = (try #require(slots.take()), slots.take())
    slots.hasNext = true
    let other = try #require(slots.exchange(one))
    #expect(other.isForWaiting && !one.isForWaiting)
    #expect(slots.take() === one && slots.take() == nil)
    // What has been exchanged stays as it is.
    #expect(slots.exchange(other) == nil)
  }

  @Test func theLastUploadKeepsItsSlot() throws {
    let one = try #require(slots.take())
    #expect(slots.exchange(one) == nil)
  }

  @Test func theNumberOfWaitingUploadsIsLimited() throws {
    slots.hasNext = true
    var waiting: [UploadSlot] = []
    for _ in 0..<Limits.waitingUploadCount {
      let one = try #require(slots.take())
      waiting.append(try #require(slots.exchange(one)))
    }
    let one = try #require(slots.take())
    #expect(slots.exchange(one) == nil)
    // Slots for waiting are used again, with their connections.
    let last = waiting.removeLast()
    slots.give(back: last, of: nil)
    #expect(slots.exchange(one) === last)
  }

  /// Sixteen name lookups at a time would take as many stacks.
  @Test func uploadsThatWaitConnectOneByOne() throws {
    slots.hasNext = true
    var waiting: [UploadSlot] = []
    for _ in 0..<2 {
      let one = try #require(slots.take())
      waiting.append(try #require(slots.exchange(one)))
    }
    let sending = try #require(slots.take())
    let mayConnect = { [slots] in slots.mayConnect($0, nowMilliseconds: $1) }
    #expect(mayConnect(waiting[0], 100) && mayConnect(waiting[1], 100))
    sending.connectingSinceMilliseconds = 100
    #expect(mayConnect(waiting[1], 100))
    waiting[0].connectingSinceMilliseconds = 100
    #expect(!mayConnect(waiting[1], 100) && mayConnect(sending, 100))
    // Perhaps nobody answers.
    let later = 100 + Limits.connectingTurnMilliseconds
    #expect(!mayConnect(waiting[1], later - 1) && mayConnect(waiting[1], later))
    // It was cancelled.
    slots.give(back: waiting[0], of: nil)
    #expect(mayConnect(waiting[1], 100))
  }

  @Test func anUploadThatMustBeSentAgainTakesASlotAgain() throws {
    let slots = UploadSlots(count: 1, rateControl: nil)
    slots.hasNext = true
    let first = try #require(slots.take())
    let waiting = try #require(slots.exchange(first))
    let next = try #require(slots.take())
    #expect(slots.exchangeForSending(waiting) == nil)
    slots.give(back: next, of: nil)
    #expect(slots.exchangeForSending(waiting) === next && slots.take() == nil)
    // The place to wait is free again.
    #expect(slots.exchange(next) === waiting)
  }

  /// The line would be idle until the server has made its recording.
  @Test func theLastSlotIsNotKeptByAnUploadThatWaits() throws {
    slots.hasNext = true
    var waiting: [UploadSlot] = []
    for _ in 0..<Limits.waitingUploadCount {
      let one = try #require(slots.take())
      waiting.append(try #require(slots.exchange(one)))
    }
    let one = try #require(slots.take())
    let two = try #require(slots.take())
    #expect(slots.exchange(one) == nil && slots.mayKeep(one) && slots.mayKeep(one))
    #expect(slots.exchange(two) == nil && !slots.mayKeep(two))
    // Its upload has ended.
    slots.give(back: one, of: nil)
    #expect(slots.mayKeep(two))
    slots.give(back: waiting[0], of: nil)
    #expect(slots.exchange(two) === waiting[0])
    // Without another upload, nobody needs the slot.
    let last = try #require(slots.take())
    #expect(slots.exchange(last) == nil && slots.mayKeep(last))
    slots.hasNext = false
    let lastOfAll = try #require(slots.take())
    #expect(slots.mayKeep(lastOfAll))
  }
}
