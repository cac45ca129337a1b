extension Array {
  /// The first element for which `precedes` is false, or the end. The elements are sorted: it is true for those before, and for no other one.
  func lowerBound(where precedes: (Element) -> Bool) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = precedes(self[middle]) ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
