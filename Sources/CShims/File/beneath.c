// What is in an open directory, or below it.
#include "shim_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The same on all architectures.
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

// struct open_how of <linux/openat2.h>, which older headers lack.
struct how {
    uint64_t flags, mode, resolve;
};
enum { NO_SYMLINKS = 0x04, BENEATH = 0x08, ATTEMPTS = 16 };

enum { DIRECTORY_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };

static int flags_of(int32_t for_reading) {
    return for_reading ? O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_LARGEFILE : DIRECTORY_FLAGS;
}

static int has_parent_part(const char *path) {
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += strspn(at, "/");
        if (!strncmp(at, "..", 2) && (!at[2] || at[2] == '/')) return 1;
    }
    return 0;
}

static int32_t open_part(int directory, const char *name, int flags) {
    int descriptor = TEMP_FAILURE_RETRY(openat(directory, name, flags | O_NOFOLLOW));
    if (descriptor >= 0) return descriptor;
    int32_t error = -errno;
    struct stat status;
    // With O_DIRECTORY, a link is no directory.
    int is_link = error == -ENOTDIR && fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    return is_link ? -ELOOP : error;
}

int32_t shim_walk_below(int32_t directory, const char *path, int32_t for_reading) {
    if (*path == '/' || has_parent_part(path)) return -EXDEV;
    int32_t at = directory;
    while (1) {
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        char part[NAME_MAX + 1] = {0};
        int32_t next = -ENAMETOOLONG;
        int is_last = !path[length + strspn(path + length, "/")];
        if (length < sizeof part) {
            memcpy(part, path, length);
            next = open_part(at, part, is_last ? flags_of(for_reading) : DIRECTORY_FLAGS);
        }
        if (at != directory) close(at);
        if (next < 0 || is_last) return next;
        at = next;
        path += length;
    }
}

int32_t shim_open_below(int32_t directory, const char *path, int32_t for_reading) {
    if (*path == '/' || has_parent_part(path)) return -EXDEV;
    struct how how = {.flags = (uint64_t)flags_of(for_reading), .resolve = NO_SYMLINKS | BENEATH};
    for (int attempts = 0; attempts < ATTEMPTS; attempts++) {
        long descriptor = syscall(SYS_openat2, directory, path, &how, sizeof how);
        if (descriptor >= 0) return (int32_t)descriptor;
        // Old kernels do not have it, and sandboxes forbid it.
        if (errno == ENOSYS || errno == EPERM || errno == EINVAL) return shim_walk_below(directory, path, for_reading);
        // EAGAIN: a directory was renamed meanwhile.
        if (errno != EAGAIN && errno != EINTR) break;
    }
    return -errno;
}

int32_t shim_open_directory(const char *path) {
    int descriptor = TEMP_FAILURE_RETRY(open(path, DIRECTORY_FLAGS));
    return descriptor < 0 ? -errno : descriptor;
}

int32_t shim_unlink_at(int32_t directory, const char *name) { return unlinkat(directory, name, 0) < 0 ? -errno : 0; }
