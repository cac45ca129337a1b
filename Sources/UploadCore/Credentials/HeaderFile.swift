/// A file with header fields: one `Name: value` per line. Empty lines, and lines that begin with `#`, are skipped.
package enum HeaderFile {
  /// - Throws: the number of the first line that is not a field, from 1, and the reason.
  package static func fields(in bytes: [UInt8]) throws(HeaderFileError) -> [CustomField] {
    var fields: [CustomField] = []
    for (index, line) in bytes.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false).enumerated() {
      let line = line.last == ASCII.carriageReturn ? line.dropLast() : line
      if ASCII.trimmed(line).isEmpty || line.first == ASCII.numberSign { continue }
      do throws(CustomFieldError) { fields.append(try CustomField(line: Array(line))) } catch {
        throw HeaderFileError(line: index + 1, reason: error)
      }
    }
    return fields
  }
}

package struct HeaderFileError: Error, Equatable {
  /// From 1.
  package let line: Int
  package let reason: CustomFieldError
}
