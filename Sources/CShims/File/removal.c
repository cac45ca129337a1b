// The removal of delivered recordings, and leases.
#include "shim_system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_missing(int directory, const char *name) {
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static int is_same(int directory, const char *name, int other, const char *other_name) {
    struct stat one, another;
    return fstatat(directory, name, &one, AT_SYMLINK_NOFOLLOW) == 0
        && fstatat(other, other_name, &another, AT_SYMLINK_NOFOLLOW) == 0 && one.st_dev == another.st_dev
        && one.st_ino == another.st_ino;
}

// NFS and some FUSE file systems do not know the flag, and old kernels not the call.
static int lacks_flag(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

// A call that NFS repeats fails after its first execution has succeeded: only the names tell. So it is below.
static int32_t link_at(int directory, const char *from, int target, const char *to) {
    if (linkat(directory, from, target, to, 0) == 0 || (errno == EEXIST && is_same(directory, from, target, to))) return 0;
    return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ? -EOPNOTSUPP : -errno;
}

int32_t shim_hide_at(int32_t directory, const char *name, const char *hidden) {
    if (renameat2(directory, name, directory, hidden, RENAME_NOREPLACE) == 0) return 0;
    if (!lacks_flag(errno)) return -errno;
    // Whether the file could get its name back. unlink(2) after that could remove another file, which has taken the name meanwhile.
    int32_t error = link_at(directory, name, directory, hidden);
    if (error) return error;
    if (unlinkat(directory, hidden, 0) < 0 && !is_missing(directory, hidden)) return -errno;
    if (renameat(directory, name, directory, hidden) == 0) return 0;
    error = -errno;
    return is_missing(directory, name) && !is_missing(directory, hidden) ? 0 : error;
}

int32_t shim_rename_at(int32_t directory, const char *from, int32_t target, const char *to) {
    if (renameat2(directory, from, target, to, RENAME_NOREPLACE) == 0) return 0;
    if (!lacks_flag(errno)) return -errno;
    int32_t error = link_at(directory, from, target, to);
    if (error) return error;
    // The disk may keep only the second of two changes: the file would have no name after a power cut.
    error = shim_sync_open_directory(target);
    if (!error) {
        if (unlinkat(directory, from, 0) == 0) return 0;
        error = -errno;
        if (is_missing(directory, from)) return 0;
    }
    unlinkat(target, to, 0);
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
