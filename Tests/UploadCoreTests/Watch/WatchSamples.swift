import UploadCore

extension WatchedFile {
  init(key: UInt64, size: Int64, modifiedSeconds: Int64, writers: FileWriters? = nil, isBegun: Bool = false) {
    let identity = FileIdentity(
      device: 1, inode: key, size: size, modifiedSeconds: modifiedSeconds, modifiedNanoseconds: 0, edges: "")
    let seen = FileSighting(identity: identity, changed: StatusTime(seconds: modifiedSeconds, nanoseconds: 0))
    self.init(key: key, seen: seen, writers: writers, isBegun: isBegun)
  }
}

/// A watcher with everything in it.
extension WatchSnapshot {
  static var sample: WatchSnapshot {
    var snapshot = WatchSnapshot(startedAt: 1_795_420_800)
    var venue = WatchSnapshot.Group(destination: "https://gighive/")
    var recordings = WatchSnapshot.Directory(path: Array("/srv/recordings".utf8))
    recordings.state = .watched
    recordings.freeBytes = 12_300_000_000
    venue.directories = [recordings, WatchSnapshot.Directory(path: Array("/media/stick".utf8))]
    var upload = WatchSnapshot.Upload(path: Array("/srv/recordings/gig.mp4".utf8))
    upload.id = "5e1f0a77"
    upload.bytes = 1_900_000_000
    upload.totalBytes = 4_700_000_000
    upload.bytesPerSecond = 11_400_000
    venue.uploads = [upload]
    venue.waitingCount = 12
    venue.waitingBytes = 40_100_000_000
    let refused = "bad.mp4: the server refused (400): Missing required field label."
    let bad = Array("/srv/recordings/bad.mp4".utf8)
    venue.setAside = [.init(id: "0badcafe", path: bad, message: refused, since: 1_795_421_000)]
    venue.setAsideCount = 3
    venue.lastDelivery = .init(id: nil, path: Array("/srv/recordings/first.mp4".utf8), assetID: 17, at: 1_795_421_100)
    venue.totals.deliveredCount = 45
    venue.totals.deliveredBytes = 120_000_000_000
    venue.totals.failedCount = 7
    venue.totals.removedCount = 40
    var archive = WatchSnapshot.Group(destination: "https://archive.example/files")
    let unauthorized = "401 Unauthorized: check the password."
    archive.state = .trouble(.paused, since: 1_795_420_900, nextAttempt: 1_795_424_500, message: unauthorized)
    var card = WatchSnapshot.Directory(path: [0x2F, 0x63, 0xE9, 0x22, 0x5C, 0x0A])
    card.state = .unreadable("Permission denied")
    archive.directories = [card]
    snapshot.groups = [venue, archive]
    return snapshot
  }
}
