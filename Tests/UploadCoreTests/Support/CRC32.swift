/// CRC-32 (ISO 3309, as in zlib), bit by bit as the standard describes it.
func crc32(_ bytes: [UInt8]) -> UInt32 {
  var remainder = UInt32.max
  for byte in bytes {
    remainder ^= UInt32(byte)
    for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
  }
  return ~remainder
}
