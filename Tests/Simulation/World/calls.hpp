// What the simulated system calls share.
#pragma once
#include "kernel.hpp"
#include "libc.h"
#include "world.hpp"

namespace world {

inline Kernel &kernel() { return the->kernel; }
inline Random &chances() { return the->kernelRandom; }

/// Sets errno.
inline int failed(int error) {
    errno = error;
    return -1;
}

inline bool isInterrupted() {
    if (kernel().isDead || !chances().chance(the->faults().interrupted)) return false;
    the->figures.count("EINTR");
    errno = EINTR;
    return true;
}

/// Part of a transfer, as the seed wants it.
inline size_t part(size_t length) {
    if (length <= 1 || !chances().chance(the->faults().partial)) return length;
    the->figures.count("short reads and writes");
    return (size_t)chances().between(1, (int64_t)length);
}

inline bool hasNoDescriptor() {
    if (kernel().isDead || !chances().chance(the->faults().noDescriptor)) return false;
    the->figures.count("descriptors refused");
    return true;
}

inline bool hasStateError() {
    if (!chances().chance(the->faults().stateError)) return false;
    the->figures.count("errors of the state's disk");
    return true;
}

inline int64_t unixNow() { return kernel().fileTime() / 1'000'000'000; }

inline const char *const bootPath = "/proc/sys/kernel/random/boot_id";

inline bool isOfKernel(const std::string &path) { return path.rfind("/proc/", 0) == 0; }

/// Records are never read from it, so that an error of it excuses nothing.
inline bool isHint(const std::string &path) {
    return isOfKernel(path) || (path.size() > 6 && path.compare(path.size() - 6, 6, "/index") == 0);
}

inline bool isRecording(const std::string &path) { return path.rfind("/recordings/", 0) == 0; }

/// Whether it is this name, also with numbers before the extension: a second one if a numbered recording finds its name taken.
inline bool isNumbered(const std::string &name, const std::string &original) {
    size_t dot = original.rfind('.');
    if (name == original) return true;
    bool isFramed = name.size() > original.size() && !name.compare(0, dot + 1, original, 0, dot + 1)
        && !name.compare(name.size() - (original.size() - dot), std::string::npos, original, dot);
    std::string numbers = isFramed ? name.substr(dot + 1, name.size() - original.size() - 1) : "";
    size_t last = numbers.rfind('.');
    if (last == numbers.npos) return isFramed && number(numbers);
    return number(numbers.substr(0, last)) && number(numbers.substr(last + 1));
}

/// What describes a recording, and what it says.
inline bool isSidecar(const std::string &path) { return path.size() > 7 && path.compare(path.size() - 7, 7, ".upload") == 0; }
inline std::string sidecarText(const std::string &label) { return "label = " + label + "\n"; }

/// What a removal needs on a full disk is kept beside the recordings.
inline bool isBallast(const std::string &path) { return path.find("/.gighive-upload-ballast.") != path.npos; }

}
