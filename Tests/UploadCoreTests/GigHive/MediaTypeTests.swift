import Testing
import UploadCore

struct MediaTypeTests {
  /// Every extension that GigHive accepts has a type that distinguishes audio from video.
  @Test(arguments: [
    ("audio/", ["mp3", "wav", "flac", "aac", "m4a", "aif", "aiff", "ogg", "oga", "au", "wma"]),
    (
      "video/",
      ["mp4", "mov", "mkv", "webm", "m4v", "avi", "mpg", "mpeg", "ts", "m2t", "m2ts", "ogv", "flv", "wmv", "vob"]
    ),
    ("application/mxf", ["mxf"]),
  ])
  func everyRecordingThatGigHiveTakesHasAType(kind: String, extensions: [String]) {
    for name in extensions { #expect(MediaType.of(fileName: "set." + name).hasPrefix(kind), "\(name)") }
  }

  @Test(arguments: [
    ("set.mp4", "video/mp4"), ("SET.MP4", "video/mp4"), ("a.b.WaV", "audio/wav"), (".mp3", "audio/mpeg"),
    ("set.mp4.mp3", "audio/mpeg"), ("音.mov", "video/quicktime"),
  ])
  func theLastExtensionCountsAndItsCaseDoesNot(name: String, type: String) {
    #expect(MediaType.of(fileName: name) == type)
  }

  @Test(arguments: ["", "mp4", "set.", "set.txt", "set.mp4.part", "set.mp4 ", "set,mp4", "."])
  func anythingElseIsUnknown(name: String) {
    #expect(MediaType.of(fileName: name) == "application/octet-stream")
  }
}
