import Testing
import UploadCore

struct FileSelectionTests {
  private let everything = FileSelection(patterns: [], selectsRecordings: false)

  @Test(arguments: [
    ".a.wav", "a.part", "a.wav.PART", "a.tmp", "a.temp", "a.partial", "a.crdownload", "a.wav~", "a.swp", "~$a.doc",
    "#a.wav#", "#a", "a.filepart", "a.wav.aria2", "a.wav.!qB", "a.wav.!sync", "a.ytdl",
    "a.wav.upload", "a.wav.UPLOAD", ".upload",
  ]) func hiddenAndUnfinishedFilesAndSidecarsAreNotTaken(_ name: String) throws {
    #expect(!everything.takes(file: bytes(name)))
    let all = FileSelection(patterns: [try Glob(parsing: bytes("*"))], selectsRecordings: false)
    #expect(!all.takes(file: bytes(name)))
  }

  @Test(arguments: ["a.wav", "part", "a.parts", "~a", "$a", "a#", "upload", "a", "tmp.wav"])
  func fileNamesOfOtherKindsAreTaken(_ name: String) {
    #expect(everything.takes(file: bytes(name)))
  }

  @Test func downloadersMarkWhatTheyHaveNotFinished() {
    for name in ["a.wav.part", "a.wav.ARIA2"] { #expect(FileSelection.isUnfinishedMark(bytes(name))) }
    for name in ["a.wav", "a.partial", "part"] { #expect(!FileSelection.isUnfinishedMark(bytes(name))) }
  }

  @Test func withoutPatternsGigHiveGetsWhatItTakes() throws {
    let recordings = FileSelection(patterns: [], selectsRecordings: true)
    for name in ["a.wav", "a.MP4", "a.mxf"] { #expect(recordings.takes(file: bytes(name))) }
    for name in ["a.txt", "wav", "a."] { #expect(!recordings.takes(file: bytes(name))) }
    let texts = FileSelection(patterns: [try Glob(parsing: bytes("*.txt"))], selectsRecordings: true)
    #expect(texts.takes(file: bytes("a.txt")))
    #expect(!texts.takes(file: bytes("a.wav")))
  }

  @Test func excludedFilesAreNotTaken() throws {
    let glob = try Glob(parsing: bytes("*raw*"))
    for patterns in [[], [try Glob(parsing: bytes("*.wav"))]] {
      let some = FileSelection(patterns: patterns, exclusions: [glob], selectsRecordings: false)
      #expect(some.takes(file: bytes("a.wav")))
      #expect(!some.takes(file: bytes("a-RAW.wav")))
    }
  }

  @Test func hiddenAndSystemDirectoriesAreNotEntered() {
    for name in [
      ".git", "a.tmp", "lost+found", "$RECYCLE.BIN", "System Volume Information", "@eaDir", "@Recycle", "#recycle",
      ".snapshot", "~snapshot",
    ] {
      #expect(!FileSelection.takes(directory: bytes(name)))
    }
    for name in ["a", "2026-11-20", "a.upload"] { #expect(FileSelection.takes(directory: bytes(name))) }
  }
}
