import CShims
import Uploader

/// The operands of a command, such as files. They are not copied from the command line, because there can be very many.
struct Operands: RandomAccessCollection {
  let startIndex = 0
  let endIndex: Int
  /// The index of the first operand among the process's arguments; nil if the operands are `paths`.
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
