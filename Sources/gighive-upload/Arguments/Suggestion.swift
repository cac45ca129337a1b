/// Suggestions for mistyped words.
enum Suggestion {
  /// The name that starts with the word, or else the one with the fewest changed letters, if they are few.
  static func nearest(to word: [UInt8], among names: [String]) -> String? {
    if word.count > 1, let name = names.first(where: { $0.utf8.starts(with: word) }) { return name }
    var best: (name: String, distance: Int)?
    for name in names {
      let distance = editDistance(word, Array(name.utf8))
      if distance <= max(word.count < 4 ? 1 : 2, word.count / 3), distance < best?.distance ?? Int.max {
        best = (name, distance)
      }
    }
    return best?.name
  }

  /// The Levenshtein distance.
  private static func editDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var row = Array(0...other.count)
    for (index, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in 0..<other.count {
        let substitution = diagonal + (byte == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(substitution, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}
