/// A copy that lives as long as the process.
func permanentCString(_ text: String) -> UnsafePointer<CChar> {
  let bytes = Array(text.utf8) + [0]
  let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
  for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
  return UnsafePointer(copy)
}
