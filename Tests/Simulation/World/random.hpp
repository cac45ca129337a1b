#pragma once
#include <cstdint>
#include <cstring>
#include <endian.h>
#include <string>

namespace world {

/// splitmix64: the same numbers on every machine.
class Random {
public:
    explicit Random(uint64_t seed) : state(seed) {}

    uint64_t next() {
        uint64_t z = (state += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// 0 ..< count
    int64_t below(int64_t count) { return (int64_t)(next() % (uint64_t)count); }
    /// first ... last
    int64_t between(int64_t first, int64_t last) { return first + below(last - first + 1); }
    bool chance(double probability) { return (double)(next() >> 11) * 0x1p-53 < probability; }

    /// first ... last, each order of magnitude as likely as the others.
    int64_t magnitude(int64_t first, int64_t last) {
        int doublings = 0;
        while ((first << (doublings + 1)) <= last && doublings < 62) doublings++;
        int64_t low = first << below(doublings + 1);
        return between(low, low * 2 - 1 < last ? low * 2 - 1 : last);
    }

    template <typename T> T of(std::initializer_list<T> choices) { return choices.begin()[below((int64_t)choices.size())]; }

    std::string bytes(size_t count) {
        std::string text(count, 0);
        for (size_t at = 0; at < count; at += 8) {
            uint64_t word = htole64(next());
            memcpy(text.data() + at, &word, count - at < 8 ? count - at : 8);
        }
        return text;
    }

    std::string hex(size_t digits) {
        std::string text;
        while (text.size() < digits) text += "0123456789abcdef"[below(16)];
        return text;
    }

private:
    uint64_t state;
};

}
