// The system's calls that fail.
#include "failing.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

// MARK: Files

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    int way = flags & O_CREAT ? WAY_ABOUT("open", path, EIO, EINTR, ENOSPC, EMFILE, EROFS)
                              : WAY_ABOUT("open", path, EIO, EINTR, EMFILE, EACCES);
    if (way) FAIL(way, -1);
    return NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

// A name in an open directory.
static const char *path_at(int directory, const char *name, char *path, size_t capacity) {
    if (directory == AT_FDCWD) return name;
    path_of(directory, path, capacity);
    size_t length = strlen(path);
    snprintf(path + length, capacity - length, "/%s", name);
    return path;
}
#define WAY_AT(function, directory, name, ...) \
    WAY_ABOUT(function, path_at(directory, name, (char[512]){0}, 512), __VA_ARGS__)

int openat(int directory, const char *name, int flags, ...) {
    int way = WAY_AT("openat", directory, name, EIO, EINTR, EMFILE, EACCES);
    if (way) FAIL(way, -1);
    return NEXT(openat)(directory, name, flags, 0);
}
int openat64(int directory, const char *name, int flags, ...) __attribute__((alias("openat")));

// openat2(2) has no function. Without it, the program uses openat(2).
long syscall(long number, ...) {
    long given[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++) given[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_openat2) {
        int way = WAY_AT("openat2", (int)given[0], (const char *)given[1], EIO, EINTR, EMFILE, EACCES, EAGAIN, ENOSYS);
        if (way) FAIL(way, -1);
    }
    return NEXT(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

int close(int descriptor) {
    int way = WAY_OF_FILE("close", descriptor, EIO, EINTR);
    int result = NEXT(close)(descriptor); // Gone in any case.
    if (way) FAIL(way, -1);
    return result;
}

int fstat(int descriptor, struct stat *status) {
    char path[256];
    path_of(descriptor, path, sizeof path);
    int is_recording = strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".mp4") == 0;
    int way = is_recording ? WAY_ABOUT("fstat", path, EIO, ENOMEM, TOUCHED) : WAY_ABOUT("fstat", path, EIO, ENOMEM);
    if (way == TOUCHED) {
        if (NEXT(fstat)(descriptor, status) == 0) syscall(SYS_fchmod, descriptor, status->st_mode & 07777);
    } else if (way) {
        FAIL(way, -1);
    }
    return NEXT(fstat)(descriptor, status);
}

int stat(const char *path, struct stat *status) {
    int way = WAY_ABOUT("stat", path, EACCES, ENOENT);
    if (way) FAIL(way, -1);
    return NEXT(stat)(path, status);
}

int fstatat(int directory, const char *name, struct stat *status, int flags) {
    int way = WAY_AT("fstatat", directory, name, EACCES, ENOENT);
    if (way) FAIL(way, -1);
    return NEXT(fstatat)(directory, name, status, flags);
}

int lstat(const char *path, struct stat *status) {
    int way = WAY_ABOUT("lstat", path, EACCES, ENOENT);
    if (way) FAIL(way, -1);
    return NEXT(lstat)(path, status);
}

// A disk of which a GiB is free, without the files in this directory.
int statvfs(const char *path, struct statvfs *status) {
    int way = WAY_ABOUT("statvfs", path, EIO, EINTR);
    if (way) FAIL(way, -1);
    int result = NEXT(statvfs)(path, status);
    DIR *directory = result == 0 ? NEXT(opendir)(path) : NULL;
    if (!directory) return result;
    unsigned long long used = 0;
    struct stat file;
    for (struct dirent *entry; (entry = NEXT(readdir)(directory));) {
        if (NEXT(fstatat)(dirfd(directory), entry->d_name, &file, 0) != 0 || !S_ISREG(file.st_mode)) continue;
        used += (unsigned long long)file.st_size;
    }
    closedir(directory);
    status->f_frsize = 1;
    status->f_bavail = (1 << 30) - used;
    status->f_files = 0;
    return 0;
}

char *realpath(const char *path, char *resolved) {
    int way = WAY_ABOUT("realpath", path, EACCES, ENOENT);
    if (way) FAIL(way, NULL);
    return NEXT(realpath)(path, resolved);
}

// Leases.
int fcntl(int descriptor, int command, ...) {
    va_list more;
    va_start(more, command);
    long argument = va_arg(more, long);
    va_end(more);
    int is_begun = command == F_SETSIG || (command == F_SETLEASE && argument != F_UNLCK);
    int way = is_begun || command == F_GETLEASE ? WAY_OF_FILE("fcntl", descriptor, EAGAIN, EACCES) : 0;
    if (way) FAIL(way, -1);
    return NEXT(fcntl)(descriptor, command, argument);
}
int fcntl64(int descriptor, int command, ...) __attribute__((alias("fcntl")));

int dup(int descriptor) {
    int way = WAY("dup", EMFILE);
    if (way) FAIL(way, -1);
    return NEXT(dup)(descriptor);
}

int fchmod(int descriptor, mode_t mode) {
    int way = WAY_OF_FILE("fchmod", descriptor, EIO, EPERM);
    if (way) FAIL(way, -1);
    return NEXT(fchmod)(descriptor, mode);
}

ssize_t read(int descriptor, void *buffer, size_t length) {
    int way = WAY_OF_FILE("read", descriptor, EIO, EINTR, SHORT);
    if (way == SHORT) return NEXT(read)(descriptor, buffer, length ? 1 : 0);
    if (way) FAIL(way, -1);
    return NEXT(read)(descriptor, buffer, length);
}

ssize_t pread(int descriptor, void *buffer, size_t length, off_t offset) {
    int way = WAY_OF_FILE("pread", descriptor, EIO, EINTR, SHORT, END);
    if (way == END) return 0;
    if (way == SHORT) return NEXT(pread)(descriptor, buffer, length ? 1 : 0, offset);
    if (way) FAIL(way, -1);
    return NEXT(pread)(descriptor, buffer, length, offset);
}
ssize_t pread64(int descriptor, void *buffer, size_t length, off_t offset) __attribute__((alias("pread")));

ssize_t write(int descriptor, const void *buffer, size_t length) {
    char target[256];
    // An eventfd that is not full takes what it is given.
    if (descriptor > 2 && strstr(path_of(descriptor, target, sizeof target), "[eventfd]")) {
        return NEXT(write)(descriptor, buffer, length);
    }
    const char *stream = descriptor == 1 ? "stdout" : "stderr";
    int way = descriptor > 2 ? WAY_ABOUT("write", target, ENOSPC, EIO, EINTR, SHORT, EDQUOT)
                             : WAY_ABOUT("write", stream, EINTR, SHORT, EAGAIN, EPIPE, EIO, ENOSPC, EFBIG);
    if (way == SHORT) return NEXT(write)(descriptor, buffer, length ? 1 : 0);
    if (way) FAIL(way, -1);
    return NEXT(write)(descriptor, buffer, length);
}

ssize_t pwrite(int descriptor, const void *buffer, size_t length, off_t offset) {
    int way = WAY_OF_FILE("pwrite", descriptor, ENOSPC, EIO, EINTR, SHORT);
    if (way == SHORT) return NEXT(pwrite)(descriptor, buffer, length ? 1 : 0, offset);
    if (way) FAIL(way, -1);
    return NEXT(pwrite)(descriptor, buffer, length, offset);
}
ssize_t pwrite64(int descriptor, const void *buffer, size_t length, off_t offset) __attribute__((alias("pwrite")));

int ftruncate(int descriptor, off_t length) {
    int way = WAY_OF_FILE("ftruncate", descriptor, EIO, EINTR, ENOSPC);
    if (way) FAIL(way, -1);
    return NEXT(ftruncate)(descriptor, length);
}
int ftruncate64(int descriptor, off_t length) __attribute__((alias("ftruncate")));

int fsync(int descriptor) {
    int way = WAY_OF_FILE("fsync", descriptor, EIO, EINTR, ENOSPC);
    if (way) FAIL(way, -1);
    return NEXT(fsync)(descriptor);
}

int flock(int descriptor, int operation) {
    int way = WAY_OF_FILE("flock", descriptor, ENOLCK, EINTR, EWOULDBLOCK);
    if (way) FAIL(way, -1);
    return NEXT(flock)(descriptor, operation);
}

int mkdir(const char *path, mode_t mode) {
    int way = WAY_ABOUT("mkdir", path, EACCES, ENOSPC, EROFS);
    if (way) FAIL(way, -1);
    return NEXT(mkdir)(path, mode);
}

int rename(const char *from, const char *to) {
    int way = WAY_ABOUT("rename", to, EIO, ENOSPC, EACCES);
    if (way) FAIL(way, -1);
    return NEXT(rename)(from, to);
}

int unlink(const char *path) {
    // What is not there cannot fail to go.
    int way = access(path, F_OK) == 0 ? WAY_ABOUT("unlink", path, EIO, EACCES) : 0;
    if (way) FAIL(way, -1);
    return NEXT(unlink)(path);
}

int renameat2(int directory, const char *from, int target, const char *to, unsigned int flags) {
    int way = WAY_AT("renameat2", target, to, EIO, ENOSPC, EACCES, EINVAL);
    if (way) FAIL(way, -1);
    return NEXT(renameat2)(directory, from, target, to, flags);
}

int unlinkat(int directory, const char *name, int flags) {
    int way = WAY_AT("unlinkat", directory, name, EIO, EACCES);
    if (way) FAIL(way, -1);
    return NEXT(unlinkat)(directory, name, flags);
}

DIR *opendir(const char *path) {
    int way = WAY_ABOUT("opendir", path, EACCES, EMFILE, ENOMEM);
    if (way) FAIL(way, NULL);
    return NEXT(opendir)(path);
}

struct dirent *readdir(DIR *directory) {
    int way = WAY_OF_FILE("readdir", dirfd(directory), EIO);
    if (way) FAIL(way, NULL);
    return NEXT(readdir)(directory);
}
struct dirent64 *readdir64(DIR *directory) __attribute__((alias("readdir")));

char *getcwd(char *buffer, size_t capacity) {
    int way = WAY("getcwd", ENOENT, EACCES);
    if (way) FAIL(way, NULL);
    return NEXT(getcwd)(buffer, capacity);
}

// MARK: The network

int socket(int domain, int type, int protocol) {
    int way = WAY("socket", EMFILE, ENOBUFS, EAFNOSUPPORT);
    if (way) FAIL(way, -1);
    return NEXT(socket)(domain, type, protocol);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    int way = WAY("connect", ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT, EINTR);
    if (way == EINTR) NEXT(connect)(descriptor, address, length); // It continues by itself.
    if (way) FAIL(way, -1);
    return NEXT(connect)(descriptor, address, length);
}

int getsockopt(int descriptor, int level, int name, void *value, socklen_t *length) {
    int way = WAY("getsockopt", ENOBUFS, ECONNREFUSED, ETIMEDOUT);
    if (way == ENOBUFS) FAIL(way, -1);
    int result = NEXT(getsockopt)(descriptor, level, name, value, length);
    if (way && level == SOL_SOCKET && name == SO_ERROR) *(int *)value = way;
    return result;
}

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t length) {
    int is_congestion = level == IPPROTO_TCP && name == TCP_CONGESTION;
    int way = is_congestion ? WAY_ABOUT("setsockopt", "congestion control", ENOENT, EPERM) : WAY("setsockopt", ENOPROTOOPT);
    if (way) FAIL(way, -1);
    return NEXT(setsockopt)(descriptor, level, name, value, length);
}

ssize_t send(int descriptor, const void *buffer, size_t length, int flags) {
    int way = WAY("send", ECONNRESET, EPIPE, EINTR, EAGAIN, SHORT, ENOBUFS, ETIMEDOUT);
    if (way == SHORT) return NEXT(send)(descriptor, buffer, length ? 1 : 0, flags);
    if (way) FAIL(way, -1);
    return NEXT(send)(descriptor, buffer, length, flags);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    int way = WAY("sendfile", ECONNRESET, EIO, EINTR, EAGAIN, SHORT, EINVAL, END, ENOMEM, ESTALE, ENOTCONN, ETIMEDOUT);
    if (way == END) return 0;
    if (way == SHORT) return NEXT(sendfile)(to, from, offset, count ? 1 : 0);
    if (way) FAIL(way, -1);
    return NEXT(sendfile)(to, from, offset, count);
}
ssize_t sendfile64(int to, int from, off_t *offset, size_t count) __attribute__((alias("sendfile")));

ssize_t recv(int descriptor, void *buffer, size_t length, int flags) {
    int way = WAY("recv", ECONNRESET, END, EINTR, EAGAIN, SHORT, ETIMEDOUT, ENOMEM);
    if (way == END) return 0;
    if (way == SHORT) return NEXT(recv)(descriptor, buffer, length ? 1 : 0, flags);
    if (way) FAIL(way, -1);
    return NEXT(recv)(descriptor, buffer, length, flags);
}

int poll(struct pollfd *entries, nfds_t count, int timeout) {
    int way = WAY("poll", ENOMEM, EINTR);
    if (way) FAIL(way, -1);
    return NEXT(poll)(entries, count, timeout);
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    int way = WAY("ioctl", ENOTTY);
    if (way) FAIL(way, -1);
    return NEXT(ioctl)(descriptor, request, argument);
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found) {
    // Its results are EAI_…, below zero.
    int way = WAY_ABOUT("getaddrinfo", host, EAI_AGAIN, EAI_MEMORY, EAI_FAIL, EAI_NONAME);
    // A name that no machine has.
    int isName = hints && !(hints->ai_flags & AI_NUMERICHOST);
    if (isName && host && (strcmp(host, "hive.test") == 0 || strcmp(host, "hive.local") == 0)) host = "127.0.0.1";
    return way ? way : NEXT(getaddrinfo)(host, port, hints, found);
}

// MARK: Multicast DNS, of a network with nobody but the program: it answers itself

int getifaddrs(struct ifaddrs **all) {
    int way = WAY("getifaddrs", ENOMEM, EMFILE);
    if (way) FAIL(way, -1);
    int result = NEXT(getifaddrs)(all);
    for (struct ifaddrs *at = result == 0 ? *all : NULL; at; at = at->ifa_next) {
        int is_loopback = at->ifa_flags & IFF_LOOPBACK && at->ifa_addr && at->ifa_addr->sa_family == AF_INET;
        at->ifa_flags = is_loopback ? at->ifa_flags | IFF_MULTICAST : 0;
    }
    return result;
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    int way = WAY("sendmsg", ENETUNREACH, ENOBUFS, EINTR, EPERM);
    if (way) FAIL(way, -1);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof own;
    bind(descriptor, (struct sockaddr *)&own, length); // Fails the second time.
    getsockname(descriptor, (struct sockaddr *)&own, &length);
    struct msghdr to_itself = *message;
    to_itself.msg_name = &own;
    return NEXT(sendmsg)(descriptor, &to_itself, flags);
}

// What was asked comes back as the answer 127.0.0.1.
ssize_t recvmsg(int descriptor, struct msghdr *message, int flags) {
    int way = WAY("recvmsg", ENOMEM, EINTR, EAGAIN);
    if (way) FAIL(way, -1);
    ssize_t count = NEXT(recvmsg)(descriptor, message, flags);
    static const unsigned char record[] = {0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 10, 0, 4, 127, 0, 0, 1};
    if (count < 12 || (size_t)count + sizeof record > message->msg_iov->iov_len) return count;
    unsigned char *answer = message->msg_iov->iov_base;
    answer[2] = 0x84;
    answer[7] = 1;
    memcpy(answer + count, record, sizeof record);
    ((struct sockaddr_in *)message->msg_name)->sin_port = htons(5353);
    return count + (ssize_t)sizeof record;
}

// MARK: The rest of the system

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    int way = WAY("getrandom", ENOSYS, EINTR, SHORT);
    if (way == SHORT) return NEXT(getrandom)(buffer, length ? 1 : 0, flags);
    if (way) FAIL(way, -1);
    return NEXT(getrandom)(buffer, length, flags);
}

int eventfd(unsigned int value, int flags) {
    int way = WAY("eventfd", EMFILE, ENOMEM);
    if (way) FAIL(way, -1);
    return ((int (*)(unsigned int, int))next("eventfd"))(value, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    int way = WAY("pthread_create", EAGAIN, ENOMEM);
    return way ? way : NEXT(pthread_create)(thread, attributes, run, argument);
}
