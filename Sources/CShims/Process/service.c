#include "shim_service.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int32_t shim_hold(int32_t descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_SETLK, &lock) < 0 ? -errno : 0;
}

int64_t shim_holder(int32_t descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_GETLK, &lock) < 0) return -errno;
    // A holder in another PID namespace, as in a container, has no ID here.
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid > 0 ? lock.l_pid : 1;
}

int32_t shim_let_all_read(int32_t descriptor) { return fchmod(descriptor, 0644) < 0 ? -errno : 0; }

int32_t shim_notify(const char *socket_name, const char *message) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(socket_name);
    if (length == 0 || length >= sizeof address.sun_path) return -EINVAL;
    memcpy(address.sun_path, socket_name, length);
    // An abstract name starts with a NUL and does not end with one.
    if (*socket_name == '@') address.sun_path[0] = 0;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (*socket_name != '@'));
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    ssize_t count =
        sendto(descriptor, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    int32_t result = count < 0 ? -errno : 0;
    close(descriptor);
    return result;
}

int64_t shim_process_id(void) { return getpid(); }

int64_t shim_monotonic_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
