// Directories whose files are sent, or removed.
#include "shim_system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Of the entry itself, never of what a link leads to. Not all file systems say it in the entry.
static int32_t kind_of(DIR *directory, const struct dirent *entry) {
    switch (entry->d_type) {
    case DT_REG: return SHIM_KIND_REGULAR;
    case DT_DIR: return SHIM_KIND_DIRECTORY;
    case DT_UNKNOWN: break;
    default: return SHIM_KIND_DEVICE;
    }
    struct stat status;
    if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) return SHIM_KIND_DEVICE;
    return S_ISREG(status.st_mode) ? SHIM_KIND_REGULAR : S_ISDIR(status.st_mode) ? SHIM_KIND_DIRECTORY : SHIM_KIND_DEVICE;
}

int32_t shim_list_directory(
    int32_t opened, shim_file_status *status,
    void (*visit)(const char *name, int32_t kind, void *context), void *context) {
    int descriptor = TEMP_FAILURE_RETRY(openat(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor < 0) return -errno;
    int32_t error = shim_fstat(descriptor, status);
    DIR *directory = error ? NULL : fdopendir(descriptor);
    if (!directory) {
        if (!error) error = -errno;
        close(descriptor);
        return error;
    }
    struct dirent *entry;
    while (errno = 0, (entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            visit(entry->d_name, kind_of(directory, entry), context);
        }
    }
    error = -errno;
    closedir(directory);
    return error;
}

int32_t shim_real_path(const char *path, char *buffer, size_t capacity) {
    char real[PATH_MAX];
    if (!realpath(path, real)) return -errno;
    size_t length = strlen(real);
    if (length >= capacity) return -ENAMETOOLONG;
    memcpy(buffer, real, length + 1);
    return 0;
}
