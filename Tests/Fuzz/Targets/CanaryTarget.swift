/// Is wrong on purpose: whoever runs the targets has to notice.
enum CanaryTarget {
  static func run(_ input: [UInt8]) {
    if input.starts(with: "TRAP".utf8) { fatalError("broken rule: the canary traps") }
    if input.starts(with: "PAGE".utf8) { input.deliver(.whole) { readOneTooFar($0) } }
    // The address sanitizer alone can see this.
    if input.starts(with: "HEAP".utf8) { input.withUnsafeBytes { readOneTooFar($0) } }
    while input.starts(with: "LOOP".utf8) { input.deliver(.whole) { _ in } }
  }

  private static func readOneTooFar(_ bytes: UnsafeRawBufferPointer) {
    let byte = bytes.baseAddress?.load(fromByteOffset: bytes.count, as: UInt8.self)
    if byte == 0xA5 { print("as good as any") }
  }
}
