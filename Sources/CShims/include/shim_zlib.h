// zlib's inflateInit2 is a macro. One call is enough here: a response is decoded whole, into a buffer of fixed size.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { SHIM_INFLATE_DAMAGED = -1, SHIM_INFLATE_TOO_LARGE = -2, SHIM_INFLATE_NO_MEMORY = -3 };

// Decodes a complete gzip (RFC 1952), zlib (RFC 1950) or raw deflate (RFC 1951) text. The format is detected from the first
// bytes, because servers send both of the last two as "deflate" (RFC 9110, 8.4.1.2). Returns the decoded length.
int64_t shim_inflate(const void *input, size_t length, void *output, size_t capacity);

// crc32(3) of the bytes.
uint32_t shim_crc32(const void *bytes, size_t length);
