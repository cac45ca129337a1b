// The removal of delivered recordings, and leases.
#include "shim_system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_missing(const char *path) {
    struct stat status;
    return lstat(path, &status) < 0 && errno == ENOENT;
}

static int is_same(const char *path, const char *other) {
    struct stat one, another;
    return lstat(path, &one) == 0 && lstat(other, &another) == 0 && one.st_dev == another.st_dev
        && one.st_ino == another.st_ino;
}

int32_t shim_rename_noreplace(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    // NFS and some FUSE file systems do not know the flag, and old kernels not the call.
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return -errno;
    // A call that NFS repeats fails after its first execution has succeeded: only the names tell.
    if (link(from, to) < 0 && !(errno == EEXIST && is_same(from, to))) {
        return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ? -EOPNOTSUPP : -errno;
    }
    if (unlink(from) == 0) return 0;
    int32_t error = -errno;
    if (is_missing(from)) return 0;
    unlink(to);
    return error;
}

static int32_t begin_lease(int32_t descriptor, int kind) {
    // The signal that tells of another program is not needed, and SIGIO would end the process. Nobody waits for SIGURG, which is
    // ignored unless somebody handles it.
    if (fcntl(descriptor, F_SETSIG, SIGURG) < 0) return -errno;
    return fcntl(descriptor, F_SETLEASE, kind) < 0 ? -errno : 0;
}

int32_t shim_writers(int32_t descriptor) {
    int32_t result = begin_lease(descriptor, F_RDLCK);
    if (result == 0) shim_end_lease(descriptor);
    return result;
}

int32_t shim_begin_lease(int32_t descriptor) { return begin_lease(descriptor, F_WRLCK); }

int32_t shim_holds_lease(int32_t descriptor) { return fcntl(descriptor, F_GETLEASE) == F_WRLCK; }

void shim_end_lease(int32_t descriptor) { fcntl(descriptor, F_SETLEASE, F_UNLCK); }
