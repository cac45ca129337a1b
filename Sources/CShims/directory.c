// The directory of state records.
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

int32_t shim_open_for_writing(const char *path) {
    int descriptor;
    do {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return -errno;
    // File systems without modes (FAT) refuse: they have none to keep.
    if (fchmod(descriptor, 0600) < 0 && errno != EPERM && errno != ENOTSUP) {
        int32_t error = -errno;
        close(descriptor);
        return error;
    }
    return descriptor;
}

int32_t shim_sync(int32_t descriptor) {
    int result;
    do {
        result = fsync(descriptor);
    } while (result < 0 && errno == EINTR);
    return outcome(result);
}

int32_t shim_sync_directory(const char *path) {
    int descriptor;
    do {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return -errno;
    int32_t result = shim_sync(descriptor);
    close(descriptor);
    // Some file systems cannot sync a directory (EINVAL); their names are as safe as they get.
    return result == -EINVAL ? 0 : result;
}

int32_t shim_rename(const char *from, const char *to) { return outcome(rename(from, to)); }

int32_t shim_unlink(const char *path) { return outcome(unlink(path)); }

int32_t shim_lock(int32_t descriptor) {
    int result;
    do {
        result = flock(descriptor, LOCK_EX | LOCK_NB);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    struct stat status;
    if (fstat(descriptor, &status) < 0) return -errno;
    return status.st_nlink == 0 ? -EAGAIN : 0;
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
