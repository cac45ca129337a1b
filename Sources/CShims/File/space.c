// What a file system has free.
#include "shim_system.h"

#include <errno.h>
#include <limits.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int status_of(const char *path, struct statvfs *s) {
    int result = TEMP_FAILURE_RETRY(statvfs(path, s));
    return result < 0 ? -errno : 0;
}

int64_t shim_free_space(const char *path) {
    struct statvfs s;
    int result = status_of(path, &s);
    if (result < 0) return result;
    // Petabytes, in the worst case.
    unsigned long long bytes;
    return __builtin_mul_overflow((unsigned long long)s.f_bavail, (unsigned long long)s.f_frsize, &bytes) || bytes > INT64_MAX
        ? INT64_MAX : (int64_t)bytes;
}

uint64_t shim_file_system_type_at(const char *path) {
    struct statfs s;
    // f_type is signed, and has 32 bits on some architectures.
    return TEMP_FAILURE_RETRY(statfs(path, &s)) < 0 ? 0 : (uint32_t)s.f_type;
}

int64_t shim_free_files(const char *path) {
    struct statvfs s;
    int result = status_of(path, &s);
    if (result < 0) return result;
    // FAT, btrfs and others have no fixed number of them, and say 0 of 0.
    return s.f_files == 0 || s.f_favail > INT64_MAX ? INT64_MAX : (int64_t)s.f_favail;
}
