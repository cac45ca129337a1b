import UploadCore

/// Uploads that write as much as they may and can, in virtual time.
struct SharedLine {
  struct Sender {
    /// How many bytes its connection accepts per millisecond, in addition to 200 ms of queue; nil for no limit.
    var bytesPerMillisecond: Int?
    /// The most that it writes at once.
    var runLength = Int.max
    var joinsAt: Int64 = 0
    var leavesAt: Int64 = .max
    /// Whether it rests when its connection is blocked.
    var rests = true
    var written = 0
    var writes = 0
    var number: Int?
    var wakesAt: Int64 = 0
    var room = 0
    var drainedAt: Int64 = 0
  }

  private(set) var rate: FairShares
  var senders: [Sender]
  private(set) var now: Int64 = 0
  private(set) var sent: [(time: Int64, count: Int)] = []

  init(_ bytesPerSecond: Int64, _ senders: [Sender]) {
    rate = FairShares(bytesPerSecond: bytesPerSecond)
    self.senders = senders
    for index in senders.indices { self.senders[index].wakesAt = senders[index].joinsAt }
  }

  var total: Int { senders.reduce(0) { $0 + $1.written } }

  mutating func run(until end: Int64) {
    while true {
      let next = senders.map { min($0.wakesAt, $0.number == nil ? .max : $0.leavesAt) }.min() ?? end
      now = max(now, next)
      if now >= end { return }
      for index in senders.indices where now >= min(senders[index].wakesAt, senders[index].leavesAt) { step(index) }
    }
  }

  /// As a transfer does it.
  private mutating func step(_ index: Int) {
    var sender = senders[index]
    defer { senders[index] = sender }
    if now >= sender.leavesAt {
      if let number = sender.number { rate.leave(number) }
      (sender.number, sender.wakesAt, sender.leavesAt) = (nil, .max, .max)
      return
    }
    let number = sender.number ?? rate.join()
    sender.number = number
    if let speed = sender.bytesPerMillisecond {
      sender.room = min(200 * speed, sender.room + speed * Int(now - sender.drainedAt))
      sender.drainedAt = now
    }
    let allowance = rate.allowance(of: number, nowMilliseconds: now)
    guard allowance > 0 else {
      sender.wakesAt = rate.nextMilliseconds(of: number, nowMilliseconds: now)
      return
    }
    let run = min(allowance, sender.runLength)
    let count = sender.bytesPerMillisecond == nil ? run : min(run, sender.room)
    sender.room -= count
    sender.written += count
    sender.writes += 1
    rate.consume(count, of: number)
    sent.append((now, count))
    if count < run {
      if sender.rests { rate.rest(number) }
      sender.wakesAt = now + 10
    } else {
      sender.wakesAt = rate.nextMilliseconds(of: number, nowMilliseconds: now)
    }
  }
}
