import CShims
import Uploader

/// What a command is about, such as files. Those of the command line stay where they are: there can be very many.
struct Operands: RandomAccessCollection {
  let startIndex = 0
  let endIndex: Int
  /// The index of the first of the process's arguments; nil if they are `paths`.
  private let firstArgument: Int?
  private let paths: [LocalPath]

  init(_ paths: [LocalPath] = []) {
    endIndex = paths.count
    firstArgument = nil
    self.paths = paths
  }

  init(firstArgument: Int, count: Int) {
    endIndex = count
    self.firstArgument = firstArgument
    paths = []
  }

  subscript(position: Int) -> LocalPath {
    guard let firstArgument else { return paths[position] }
    precondition(position >= 0 && position < endIndex, "not one of the operands")
    return LocalPath(cString: shim_argument(Int32(firstArgument + position)))
  }
}
