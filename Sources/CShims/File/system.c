#include "shim_system.h"
#include "shim_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/msdos_fs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

const int32_t SHIM_EAGAIN = EAGAIN, SHIM_EINVAL = EINVAL, SHIM_ENOENT = ENOENT;
const int32_t SHIM_ENOTDIR = ENOTDIR, SHIM_ENOMEM = ENOMEM, SHIM_EEXIST = EEXIST;
const int32_t SHIM_ENETUNREACH = ENETUNREACH, SHIM_EADDRNOTAVAIL = EADDRNOTAVAIL;
const int32_t SHIM_EFBIG = EFBIG, SHIM_EMFILE = EMFILE, SHIM_ENFILE = ENFILE, SHIM_EPERM = EPERM, SHIM_EACCES = EACCES;
const int32_t SHIM_ELOOP = ELOOP, SHIM_ENAMETOOLONG = ENAMETOOLONG, SHIM_EXDEV = EXDEV;
const int32_t SHIM_EOPNOTSUPP = EOPNOTSUPP, SHIM_ENOSPC = ENOSPC, SHIM_EDQUOT = EDQUOT, SHIM_EIO = EIO;
const int32_t SHIM_ECONNREFUSED = ECONNREFUSED, SHIM_EHOSTUNREACH = EHOSTUNREACH, SHIM_ETIMEDOUT = ETIMEDOUT;
const int32_t SHIM_ECONNRESET = ECONNRESET, SHIM_EPIPE = EPIPE, SHIM_EROFS = EROFS;

static int32_t open_to_read(const char *path, int flags) {
    int descriptor;
    do {
        // Its handler is gone after the first signal.
        if (!(flags & O_NONBLOCK) && shim_signal_received()) raise(shim_signal_received());
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor < 0 ? -errno : descriptor;
}

int32_t shim_open_for_reading(const char *path, int32_t may_block) {
    return open_to_read(path, may_block ? 0 : O_NONBLOCK);
}

int32_t shim_close(int32_t descriptor) {
    // close(2): on Linux the descriptor is closed even after EINTR, and a retry could close another one.
    return close(descriptor) < 0 && errno != EINTR ? -errno : 0;
}

static int32_t kind_of(mode_t mode) {
    if (S_ISREG(mode)) return SHIM_KIND_REGULAR;
    if (S_ISDIR(mode)) return SHIM_KIND_DIRECTORY;
    if (S_ISFIFO(mode)) return SHIM_KIND_FIFO;
    return SHIM_KIND_DEVICE;
}

static void fill(shim_file_status *status, const struct stat *s) {
    status->device = s->st_dev;
    status->inode = s->st_ino;
    status->size = s->st_size;
    status->allocated = (int64_t)s->st_blocks * 512;
    status->modified_seconds = s->st_mtim.tv_sec;
    status->modified_nanoseconds = s->st_mtim.tv_nsec;
    status->changed_seconds = s->st_ctim.tv_sec;
    status->changed_nanoseconds = s->st_ctim.tv_nsec;
    status->kind = kind_of(s->st_mode);
    status->mode = s->st_mode & 07777;
    status->links = s->st_nlink;
}

int32_t shim_fstat(int32_t descriptor, shim_file_status *status) {
    struct stat s;
    if (fstat(descriptor, &s) < 0) return -errno;
    fill(status, &s);
    return 0;
}

uint64_t shim_file_system_id(int32_t descriptor) {
    struct statfs s;
    if (fstatfs(descriptor, &s) < 0) return 0;
    // The f_fsid of FAT is only the number of its device.
    uint32_t serial;
    if (s.f_type == MSDOS_SUPER_MAGIC && ioctl(descriptor, FAT_IOCTL_GET_VOLUME_ID, &serial) == 0) return serial;
    uint32_t parts[2];
    _Static_assert(sizeof(s.f_fsid) == sizeof(parts), "f_fsid has 64 bits");
    memcpy(parts, &s.f_fsid, sizeof(parts));
    return (uint64_t)parts[1] << 32 | parts[0];
}

uint64_t shim_file_system_type(int32_t descriptor) {
    struct statfs s;
    // f_type is signed, and has 32 bits on some architectures.
    return fstatfs(descriptor, &s) < 0 ? 0 : (uint32_t)s.f_type;
}

int32_t shim_stat(const char *path, shim_file_status *status) {
    struct stat s;
    if (stat(path, &s) < 0) return -errno;
    fill(status, &s);
    return 0;
}

int32_t shim_lstat(const char *path, shim_file_status *status) {
    struct stat s;
    if (lstat(path, &s) < 0) return -errno;
    fill(status, &s);
    return 0;
}

int32_t shim_status_at(int32_t directory, const char *name, shim_file_status *status) {
    struct stat s;
    if (fstatat(directory, name, &s, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
    fill(status, &s);
    return 0;
}

int64_t shim_pread(int32_t descriptor, void *buffer, size_t length, int64_t offset) {
    ssize_t count = TEMP_FAILURE_RETRY(pread(descriptor, buffer, length, offset));
    return count < 0 ? -errno : count;
}

int64_t shim_read(int32_t descriptor, void *buffer, size_t length) {
    ssize_t count = TEMP_FAILURE_RETRY(read(descriptor, buffer, length));
    return count < 0 ? -errno : count;
}

void shim_advise_sequential(int32_t descriptor) { posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL); }

int32_t shim_path_of(int32_t descriptor, char *path, size_t size) {
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, size);
    if (length < 0) return -errno;
    if ((size_t)length >= size) return -ENAMETOOLONG;
    path[length] = 0;
    return 0;
}

int64_t shim_written_length(int32_t descriptor, int64_t size) {
    // ENXIO: only a hole is behind it.
    if (size <= 0 || lseek(descriptor, size - 1, SEEK_DATA) >= 0 || errno != ENXIO) return size;
    off_t written = 0, hole = size - 1, data;
    // Something was written between the two. In halves, because a file can have a million holes.
    while ((data = lseek(descriptor, written, SEEK_DATA)) >= 0) {
        off_t middle = data + (hole - data) / 2, later = lseek(descriptor, middle, SEEK_DATA);
        if (later >= 0) data = later;
        else if (errno == ENXIO) hole = middle;
        else return size;
        if ((written = lseek(descriptor, data, SEEK_HOLE)) < 0) return size;
    }
    return errno == ENXIO ? written : size;
}

int64_t shim_monotonic_milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t shim_unix_seconds(void) { return time(NULL); }

int64_t shim_unix_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void shim_local_time_of(int64_t seconds, shim_local_time *result) {
    time_t time = (time_t)seconds;
    struct tm local = {0};
    localtime_r(&time, &local);
    result->year = local.tm_year + 1900;
    result->month = local.tm_mon + 1;
    result->day = local.tm_mday;
    result->hour = local.tm_hour;
    result->minute = local.tm_min;
}

int32_t shim_local_week_minute(int64_t seconds) {
    time_t time = (time_t)seconds;
    struct tm local;
    localtime_r(&time, &local);
    return (local.tm_wday * 24 + local.tm_hour) * 60 + local.tm_min;
}

int32_t shim_random(void *buffer, size_t length) {
    uint8_t *at = buffer;
    while (length > 0) {
        ssize_t count = getrandom(at, length, 0);
        if (count < 0 && errno != EINTR) return -errno;
        if (count > 0) at += count, length -= (size_t)count;
    }
    return 0;
}

int32_t shim_write_all(int32_t descriptor, const void *buffer, size_t length) {
    const uint8_t *at = buffer;
    while (length > 0) {
        ssize_t count = write(descriptor, at, length);
        if (count >= 0) {
            at += count;
            length -= (size_t)count;
        } else if (errno == EAGAIN) {
            // Another process made the stream non-blocking. Waiting is better than writing half a line.
            struct pollfd stream = {.fd = descriptor, .events = POLLOUT};
            poll(&stream, 1, -1);
            if (shim_signal_received()) return -EINTR;
        } else if (errno != EINTR || shim_signal_received()) {
            return -errno;
        }
    }
    return 0;
}

int32_t shim_is_terminal(int32_t descriptor) { return isatty(descriptor); }

void shim_terminal_size(int32_t descriptor, int32_t *columns, int32_t *rows) {
    struct winsize size = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) size.ws_col = size.ws_row = 0;
    *columns = size.ws_col;
    *rows = size.ws_row;
}

const char *shim_environment(const char *name) { return getenv(name); }

int32_t shim_is_disconnection(int32_t error) {
    switch (error) {
    case ENOTCONN: case ESTALE: case EHOSTDOWN: case EHOSTUNREACH: case ENETUNREACH: case ETIMEDOUT:
    case ENODEV: case ENXIO: case ENOMEDIUM: return 1;
    default: return 0;
    }
}

const char *shim_error_text(int32_t error) { return strerror(error); }
