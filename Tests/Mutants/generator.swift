// Lists the mutants of Swift files: one line of JSON each. `make mutants` compiles it with the toolchain's own SwiftSyntax.
//
// A mutant is a piece of the source and its replacement, which has the mutant's number in place of `#`: so many of them are compiled
// together, and at most one is switched on. A replacement has as many lines as the piece, so that the compiler's errors lead back to it.

import SwiftOperators
import SwiftParser
import SwiftSyntax

#if canImport(Glibc)
  import Glibc
#endif

final class Finder: SyntaxVisitor {
  private let source: [UInt8]
  private let file: String
  private let converter: SourceLocationConverter
  private var negated: Set<SyntaxIdentifier> = []

  init(_ file: String, _ source: [UInt8], _ tree: Syntax) {
    self.file = file
    self.source = source
    converter = SourceLocationConverter(fileName: file, tree: tree)
    super.init(viewMode: .sourceAccurate)
  }

  // MARK: Statements

  override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
    guard var expression = node.item.as(ExprSyntax.self) ?? node.item.as(ExpressionStmtSyntax.self)?.expression else {
      return .visitChildren
    }
    if let attempt = expression.as(TryExprSyntax.self) { expression = attempt.expression }
    var kind: String?
    if let call = expression.as(FunctionCallExprSyntax.self) {
      // A check of our own mistakes, or a call that must be there.
      let name = call.calledExpression.trimmedDescription
      kind = name.hasPrefix("precondition") || name.hasSuffix(".init") || isResult(node) ? nil : "call"
    } else if let infix = expression.as(InfixOperatorExprSyntax.self) {
      if infix.operator.is(AssignmentExprSyntax.self) {
        kind = infix.leftOperand.is(DiscardAssignmentExprSyntax.self) ? "call" : "assignment"
      } else if isCompoundAssignment(infix.operator) {
        kind = "assignment"
      }
    }
    // Without which a property has no value.
    if kind == "assignment", node.parent?.parent?.parent?.is(InitializerDeclSyntax.self) ?? false { kind = nil }
    if let kind { add(kind, Syntax(node.item), "removed", { "if !mutantIs(#) { \($0) }" }) }
    return .visitChildren
  }

  /// Whether it is the only expression of a function or property, whose result it is.
  private func isResult(_ node: CodeBlockItemSyntax) -> Bool {
    guard let list = node.parent?.as(CodeBlockItemListSyntax.self), list.count == 1, let owner = list.parent?.parent
    else { return false }
    if let function = owner.as(FunctionDeclSyntax.self) { return function.signature.returnClause != nil }
    return list.parent?.is(AccessorBlockSyntax.self) ?? false
  }

  private func isCompoundAssignment(_ operation: ExprSyntax) -> Bool {
    let text = operation.trimmedDescription
    return text.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!=="].contains(text)
  }

  // MARK: Conditions

  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    if let condition = node.condition.as(ExprSyntax.self) { negate(condition) }
    return .visitChildren
  }

  override func visit(_ node: RepeatStmtSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  private func negate(_ condition: ExprSyntax) {
    guard negated.insert(condition.id).inserted else { return }
    add("condition", Syntax(condition), "negated", { "((\($0)) != mutantIs(#))" })
  }

  // MARK: Operators

  private static let comparisons = ["==", "!=", "<", "<=", ">", ">="]
  private static let exchanged = ["<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&"]

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    let operation = node.operator.trimmedDescription
    let (left, right) = (onOneLine(node.leftOperand), onOneLine(node.rightOperand))
    if operation == "-", let left, let right {
      add("operands", Syntax(node), "operands swapped", { "(mutantIs(#) ? (\(right)) - (\(left)) : \($0))" })
    }
    if let other = Finder.exchanged[operation], let left, let right {
      let change = "\(operation) is \(other)"
      add("operator", Syntax(node), change, { "(mutantIs(#) ? \(left) \(other) \(right) : \($0))" })
    }
    if Finder.comparisons.contains(operation) { negate(ExprSyntax(node)) }
    if operation == "&&" || operation == "||" {
      for operand in [node.leftOperand, node.rightOperand] where !operand.is(InfixOperatorExprSyntax.self) {
        negate(operand)
      }
    }
    return .visitChildren
  }

  /// nil if a comment or a string of several lines is in the way.
  private func onOneLine(_ expression: ExprSyntax) -> String? {
    let text = expression.trimmedDescription
    guard text.contains("\n") else { return text }
    return text.contains("//") || text.contains("\"\"\"") ? nil : String(text.map { $0 == "\n" ? " " : $0 })
  }

  // MARK: Values

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    // What must be known at compile time: raw values, and arguments of types.
    let owner = node.parent?.parent
    guard !(owner?.is(EnumCaseElementSyntax.self) ?? false), !(node.parent?.is(GenericArgumentSyntax.self) ?? false),
      let value = node.representedLiteralValue
    else { return .skipChildren }
    for other in [value + 1, value - 1] where other >= 0 {
      add("constant", Syntax(node), "\(node.trimmedDescription) is \(other)", { "(mutantIs(#) ? \(other) : \($0))" })
    }
    return .skipChildren
  }

  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  /// A sync whose result is used. One of the two values has its type.
  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    let called = node.calledExpression
    let callee = called.as(MemberAccessExprSyntax.self)?.declName ?? called.as(DeclReferenceExprSyntax.self)
    if let name = callee?.baseName.text, name.hasPrefix("sync") || name.hasPrefix("shim_sync") {
      for success in ["0", "true"] {
        add("sync", Syntax(node), "\(node.trimmedDescription) is \(success)", { "(mutantIs(#) ? \(success) : \($0))" })
      }
    }
    return .visitChildren
  }

  // MARK: Output

  private func add(_ kind: String, _ node: Syntax, _ change: String, _ replacement: (String) -> String) {
    let (start, end) = (node.positionAfterSkippingLeadingTrivia, node.endPositionBeforeTrailingTrivia)
    let line = converter.location(for: start).line
    let text = String(decoding: source[start.utf8Offset..<end.utf8Offset], as: UTF8.self)
    let members: [(String, String)] = [
      ("file", file), ("kind", kind), ("piece", text), ("change", change), ("replacement", replacement(text)),
    ]
    let fields = members.map { "\(quoted($0)): \(quoted($1))" }.joined(separator: ", ")
    print("{\(fields), \"line\": \(line), \"start\": \(start.utf8Offset), \"end\": \(end.utf8Offset)}")
  }

  private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

func content(of path: String) -> [UInt8] {
  guard let file = fopen(path, "r") else { fatalError("\(path) cannot be opened") }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
  return bytes
}

for path in CommandLine.arguments.dropFirst() {
  let source = content(of: path)
  let parsed = Parser.parse(source: String(decoding: source, as: UTF8.self))
  let tree = OperatorTable.standardOperators.foldAll(parsed) { _ in }
  Finder(path, source, tree).walk(tree)
}
