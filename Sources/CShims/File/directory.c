// The state directory.
#include "shim_system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int32_t outcome(int result) { return result < 0 ? -errno : 0; }

int32_t shim_make_directory(const char *path) { return outcome(mkdir(path, 0700)); }

int32_t shim_open_for_writing(const char *path, int32_t how) {
    // O_RDWR and O_NONBLOCK: if there is a FIFO instead of the file, this opens it at once and detects it.
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, descriptor;
    if (how != SHIM_OPEN_EXISTING) flags |= O_CREAT;
    if (how == SHIM_OPEN_TRUNCATE) flags |= O_TRUNC;
    descriptor = TEMP_FAILURE_RETRY(open(path, flags, 0600));
    if (descriptor < 0) return errno == ENXIO ? SHIM_NOT_REGULAR : -errno;
    struct stat status;
    int32_t error = fstat(descriptor, &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : SHIM_NOT_REGULAR;
    // Only where it changes something, because it writes the inode. File systems without modes (FAT) refuse it, which does no harm.
    int changes_mode = !error && (status.st_mode & 07777) != 0600;
    if (changes_mode && fchmod(descriptor, 0600) < 0 && errno != EPERM && errno != ENOTSUP) error = -errno;
    if (!error) return descriptor;
    close(descriptor);
    return error;
}

int32_t shim_write_at(int32_t descriptor, const void *buffer, size_t length, int64_t offset) {
    const uint8_t *at = buffer;
    while (length > 0) {
        ssize_t count = pwrite(descriptor, at, length, offset);
        if (count < 0 && errno != EINTR) return -errno;
        if (count > 0) at += count, offset += count, length -= (size_t)count;
    }
    return 0;
}

int32_t shim_set_length(int32_t descriptor, int64_t length) {
    int result = TEMP_FAILURE_RETRY(ftruncate(descriptor, length));
    return outcome(result);
}

int32_t shim_sync(int32_t descriptor) {
    int result = TEMP_FAILURE_RETRY(fsync(descriptor));
    return outcome(result);
}

static int32_t sync_directory(int directory, const char *path) {
    int descriptor = TEMP_FAILURE_RETRY(openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor < 0) return -errno;
    int32_t result = shim_sync(descriptor);
    close(descriptor);
    // Some file systems cannot sync a directory (EINVAL); their names cannot be made any safer.
    return result == -EINVAL ? 0 : result;
}

int32_t shim_sync_directory(const char *path) { return sync_directory(AT_FDCWD, path); }

int32_t shim_sync_open_directory(int32_t directory) { return sync_directory(directory, "."); }

int32_t shim_rename(const char *from, const char *to) { return outcome(rename(from, to)); }

int32_t shim_unlink(const char *path) { return outcome(unlink(path)); }

int32_t shim_lock(int32_t descriptor) {
    int result = TEMP_FAILURE_RETRY(flock(descriptor, LOCK_EX | LOCK_NB));
    if (result < 0 && errno != EWOULDBLOCK) return -errno;
    struct stat status;
    if (fstat(descriptor, &status) < 0) return -errno;
    return status.st_nlink == 0 ? -ENOENT : result < 0 ? -EAGAIN : 0;
}

int32_t shim_duplicate(int32_t descriptor) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? -errno : copy;
}

void shim_unlock(int32_t descriptor) { flock(descriptor, LOCK_UN); }

int32_t shim_is_locked(int32_t descriptor) {
    if (flock(descriptor, LOCK_SH | LOCK_NB) < 0) return errno == EWOULDBLOCK;
    flock(descriptor, LOCK_UN);
    return 0;
}

int32_t shim_visit_directory(const char *path, void (*visit)(const char *name, void *context), void *context) {
    DIR *directory = opendir(path);
    if (!directory) return -errno;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) visit(entry->d_name, context);
    }
    int32_t error = -errno;
    closedir(directory);
    return error;
}

int32_t shim_working_directory(char *buffer, size_t capacity) { return getcwd(buffer, capacity) ? 0 : -errno; }

int32_t shim_is_root(void) { return geteuid() == 0; }

int32_t shim_is_owned_by_root_or_user(int32_t descriptor) {
    struct stat s;
    return fstat(descriptor, &s) == 0 && (s.st_uid == 0 || s.st_uid == geteuid());
}
