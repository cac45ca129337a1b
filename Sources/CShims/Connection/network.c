#include "shim_network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(((shim_address *)0)->storage) >= sizeof(struct sockaddr_storage), "room for any address");

static const struct sockaddr *address_of(const shim_address *address) { return (const void *)address->storage; }

int32_t shim_address_text(const shim_address *address, void *buffer, size_t capacity) {
    char host[INET6_ADDRSTRLEN] = "?";
    if (address_of(address)->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)address->storage;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        char zone[12] = "";
        if (v6->sin6_scope_id) snprintf(zone, sizeof zone, "%%%u", v6->sin6_scope_id);
        return snprintf(buffer, capacity, "[%s%s]:%u", host, zone, ntohs(v6->sin6_port));
    }
    const struct sockaddr_in *v4 = (const void *)address->storage;
    inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
    return snprintf(buffer, capacity, "%s:%u", host, ntohs(v4->sin_port));
}

int32_t shim_address_family(const shim_address *address) {
    return address_of(address)->sa_family == AF_INET6 ? SHIM_FAMILY_IPV6 : SHIM_FAMILY_IPV4;
}

int32_t shim_socket_for(const shim_address *address) {
    int descriptor = socket(address_of(address)->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

int32_t shim_connect(int32_t descriptor, const shim_address *address) {
    int result = connect(descriptor, address_of(address), address->length);
    // An interrupted non-blocking connect continues by itself, like one that is in progress.
    return result < 0 && errno != EINPROGRESS && errno != EINTR ? -errno : 0;
}

int32_t shim_set_congestion_control(int32_t descriptor, const char *name) {
    return setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) < 0 ? -errno : 0;
}

int32_t shim_congestion_control(int32_t descriptor, void *buffer, size_t capacity) {
    socklen_t length = (socklen_t)capacity;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, buffer, &length) < 0) return -errno;
    return (int32_t)strnlen(buffer, length);
}

// glibc has the function, and no header for it.
int capget(cap_user_header_t header, cap_user_data_t data);

int32_t shim_may_load_modules(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (capget(&header, sets) < 0) return 1;
    return (sets[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN)) != 0;
}

int32_t shim_connect_result(int32_t descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
    return -error;
}

void shim_set_unsent_low_water(int32_t descriptor, int32_t bytes) {
    setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

void shim_set_segment_length(int32_t descriptor, int32_t bytes) {
    setsockopt(descriptor, IPPROTO_TCP, TCP_MAXSEG, &bytes, sizeof bytes);
}

void shim_set_user_timeout(int32_t descriptor, int64_t milliseconds) {
    unsigned int limit = milliseconds > 0x7fffffff ? 0x7fffffff : (unsigned int)milliseconds;
    setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}

int64_t shim_send(int32_t descriptor, const void *buffer, size_t length) {
    ssize_t count = TEMP_FAILURE_RETRY(send(descriptor, buffer, length, MSG_NOSIGNAL));
    return count < 0 ? -errno : count;
}

// sendfile has no MSG_NOSIGNAL, so the signal is blocked for this thread, and consumed if this call raised it.
int64_t shim_send_file(int32_t descriptor, int32_t file, int64_t offset, size_t length) {
    sigset_t broken_pipe, before, pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    ssize_t count;
    off_t position = offset;
    count = TEMP_FAILURE_RETRY(sendfile(descriptor, file, &position, length));
    int64_t result = count < 0 ? -errno : count;
    // Also if some bytes were sent before the connection broke.
    if (result != (int64_t)length && !sigismember(&pending, SIGPIPE)) {
        struct timespec none = {0};
        while (sigtimedwait(&broken_pipe, NULL, &none) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int64_t shim_receive(int32_t descriptor, void *buffer, size_t length) {
    ssize_t count = TEMP_FAILURE_RETRY(recv(descriptor, buffer, length, 0));
    return count < 0 ? -errno : count;
}

int32_t shim_unacknowledged(int32_t descriptor) {
    int bytes = 0;
    return ioctl(descriptor, SIOCOUTQ, &bytes) < 0 ? 0 : bytes;
}

int32_t shim_is_ip_address(const char *host) {
    struct in6_addr address;
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

int32_t shim_poll(shim_poll_entry *entries, int32_t count, int64_t milliseconds) {
    struct pollfd watched[SHIM_POLL_MOST];
    if (count > SHIM_POLL_MOST) return -EINVAL;
    for (int32_t i = 0; i < count; i++) {
        watched[i] = (struct pollfd){.fd = entries[i].descriptor};
        if (entries[i].events & SHIM_POLL_READABLE) watched[i].events |= POLLIN;
        if (entries[i].events & SHIM_POLL_WRITABLE) watched[i].events |= POLLOUT;
        entries[i].ready = 0;
    }
    // INT_MAX milliseconds are 24 days. The caller polls again after an early return.
    int timeout = milliseconds < 0 ? -1 : milliseconds > 0x7fffffff ? 0x7fffffff : (int)milliseconds;
    if (poll(watched, (nfds_t)count, timeout) < 0) return errno == EINTR ? 0 : -errno;
    for (int32_t i = 0; i < count; i++) {
        short events = watched[i].revents, failed = POLLERR | POLLHUP | POLLNVAL;
        if (events & (POLLIN | failed)) entries[i].ready |= SHIM_POLL_READABLE;
        if (events & (POLLOUT | failed)) entries[i].ready |= SHIM_POLL_WRITABLE;
    }
    return 0;
}

int32_t shim_event_create(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

void shim_event_raise(int32_t descriptor) {
    int error = errno; // A signal handler must leave errno as it was.
    uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) < 0) { /* the flag is up already */ }
    errno = error;
}

void shim_event_lower(int32_t descriptor) {
    uint64_t value;
    if (read(descriptor, &value, sizeof value) < 0) { /* the flag was not up */ }
}

void shim_event_fill(int32_t descriptor) {
    uint64_t highest = UINT64_MAX - 1;
    if (write(descriptor, &highest, sizeof highest) < 0) { /* it is full already */ }
}
