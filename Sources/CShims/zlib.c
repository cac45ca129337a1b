#include "shim_zlib.h"

#include <zlib.h>

enum { DETECT_GZIP_OR_ZLIB = 15 + 32, RAW = -15 };

static int64_t inflate_as(int window_bits, const void *input, size_t length, void *output, size_t capacity) {
    z_stream stream = {0};
    if (inflateInit2(&stream, window_bits) != Z_OK) return SHIM_INFLATE_NO_MEMORY;
    stream.next_in = (Bytef *)input;
    stream.avail_in = (uInt)length;
    stream.next_out = output;
    stream.avail_out = (uInt)capacity;
    int result = inflate(&stream, Z_FINISH);
    int64_t produced = (int64_t)stream.total_out;
    int full = stream.avail_out == 0;
    inflateEnd(&stream);
    if (result == Z_STREAM_END) return produced;
    if (result == Z_MEM_ERROR) return SHIM_INFLATE_NO_MEMORY;
    return full && result == Z_BUF_ERROR ? SHIM_INFLATE_TOO_LARGE : SHIM_INFLATE_DAMAGED;
}

int64_t shim_inflate(const void *input, size_t length, void *output, size_t capacity) {
    int64_t produced = inflate_as(DETECT_GZIP_OR_ZLIB, input, length, output, capacity);
    return produced == SHIM_INFLATE_DAMAGED ? inflate_as(RAW, input, length, output, capacity) : produced;
}

uint32_t shim_crc32(const void *bytes, size_t length) { return (uint32_t)crc32(0, bytes, (uInt)length); }
