// The system calls for sockets, and the names of hosts.
#include "calls.hpp"

using namespace world;

extern "C" {

// MARK: Sockets

int simulated_socket(int, int, int) {
    kernel().enter("socket");
    if (kernel().isDead) return failed(EIO);
    if (hasNoDescriptor()) return failed(EMFILE);
    Handle handle;
    handle.kind = Handle::socket;
    return kernel().open(handle);
}

int simulated_connect(int descriptor, const struct sockaddr *address, socklen_t) {
    kernel().enter("connect");
    Handle *handle = kernel().find(descriptor, "connect");
    if (!handle) return -1;
    if (kernel().isDead) return failed(ENETDOWN);
    the->connectsOfStart++;
    const Faults &faults = the->faults();
    if (chances().chance(faults.unreachable)) {
        the->figures.count("networks unreachable");
        return failed(chances().of({ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL}));
    }
    unsigned char last = address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr[15]
                                                        : ((const unsigned char *)&((const struct sockaddr_in *)address)->sin_addr)[3];
    in_port_t port = ntohs(address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port : ((const struct sockaddr_in *)address)->sin_port);
    // Those of the server and of the proxy.
    bool isElsewhere = port != 8080 && port != 3128;
    bool isDeadAddress = the->scenario.firstAddressIsDead && last == 10 && !the->isHealthy();
    auto connection = std::make_shared<Connection>(*the, ++the->connectionNumber, the->startNumber, kernel().isSecond);
    handle->connection = connection;
    handle->path = std::to_string(connection->number);
    connection->begin(!isDeadAddress && !chances().chance(faults.unanswered), isElsewhere || the->server.isDown() || chances().chance(faults.refused));
    kernel().moved();
    the->figures.count("connects");
    return isInterrupted() ? -1 : failed(EINPROGRESS);
}

int simulated_setsockopt(int descriptor, int level, int name, const void *value, socklen_t) {
    kernel().enter("setsockopt");
    Handle *handle = kernel().find(descriptor, "setsockopt");
    if (!handle) return -1;
    if (level == IPPROTO_TCP && name == TCP_USER_TIMEOUT && handle->connection) {
        handle->connection->userTimeout = *(const unsigned int *)value * millisecond;
    }
    if (level == IPPROTO_TCP && name == TCP_CONGESTION) {
        if (handle->connection) the->fail("a congestion control after connecting");
        if (chances().below(2)) return failed(EPERM);
        the->figures.count("BBR");
    }
    return 0;
}

int simulated_getsockopt(int descriptor, int, int option, void *value, socklen_t *length) {
    // Only diagnostics ask, which are not always on: it changes nothing and takes no time.
    if (option == TCP_CONGESTION) {
        *length = (socklen_t)snprintf((char *)value, *length, "cubic");
        return 0;
    }
    kernel().enter("getsockopt");
    Handle *handle = kernel().find(descriptor, "getsockopt");
    if (!handle) return -1;
    *(int *)value = handle->connection ? handle->connection->takeError() : ENETDOWN;
    return 0;
}

static bool isNotReady() {
    if (!chances().chance(the->faults().notReady)) return false;
    the->figures.count("EAGAIN out of turn");
    errno = EAGAIN;
    return true;
}

static ssize_t outcome(int64_t result) {
    if (result < 0) return failed((int)-result);
    if (result > 0) kernel().moved();
    return (ssize_t)result;
}

ssize_t simulated_send(int descriptor, const void *buffer, size_t length, int flags) {
    kernel().enter("send");
    Handle *handle = kernel().find(descriptor, "send");
    if (!handle) return -1;
    if (kernel().isDead || !handle->connection) return failed(EPIPE);
    if (isInterrupted() || isNotReady()) return -1;
    if (!(flags & MSG_NOSIGNAL)) the->fail("a send that can raise SIGPIPE");
    return outcome(handle->connection->send((const char *)buffer, length, (int64_t)part(length)));
}

ssize_t simulated_recv(int descriptor, void *buffer, size_t length, int) {
    kernel().enter("recv");
    Handle *handle = kernel().find(descriptor, "recv");
    if (!handle) return -1;
    if (kernel().isDead || !handle->connection) return failed(ECONNRESET);
    if (isInterrupted() || isNotReady()) return -1;
    return outcome(handle->connection->receive((char *)buffer, part(length)));
}

ssize_t simulated_sendfile(int descriptor, int file, off_t *offset, size_t length) {
    kernel().enter("sendfile");
    Handle *handle = kernel().find(descriptor, "sendfile"), *source = kernel().find(file, "sendfile");
    if (!handle || !source) return -1;
    if (kernel().isDead || !handle->connection) return failed(EPIPE);
    if (isInterrupted() || isNotReady()) return -1;
    if (!the->scenario.keepsSendfile) return failed(EINVAL);
    if (chances().chance(the->faults().readError)) {
        the->figures.count("read errors");
        return failed(EIO);
    }
    const std::string &data = source->inode->data;
    if (*offset >= (off_t)data.size()) return 0;
    size_t count = part(std::min(length, data.size() - (size_t)*offset));
    int64_t sent = handle->connection->send(data.data() + *offset, count, (int64_t)count);
    if (sent > 0) {
        *offset += sent;
        the->rewriteBehind(source->path);
    }
    the->figures.count("sendfile");
    return outcome(sent);
}

// MARK: Multicast: this machine has no interface for it

int simulated_getifaddrs(struct ifaddrs **all) {
    *all = nullptr;
    return 0;
}

void simulated_freeifaddrs(struct ifaddrs *) {}

unsigned int simulated_if_nametoindex(const char *) { return 0; }

ssize_t simulated_sendmsg(int, const struct msghdr *, int) {
    the->fail("a datagram without an interface");
    return failed(ENETDOWN);
}

ssize_t simulated_recvmsg(int, struct msghdr *, int) { return failed(EAGAIN); }

// MARK: Names of hosts

static struct addrinfo *makeAddress(int index, uint16_t port) {
    auto info = (struct addrinfo *)calloc(1, sizeof(struct addrinfo));
    bool isIPv6 = index % 2 == 1;
    if (isIPv6) {
        auto address = (struct sockaddr_in6 *)calloc(1, sizeof(struct sockaddr_in6));
        address->sin6_family = AF_INET6;
        address->sin6_port = htons(port);
        inet_pton(AF_INET6, "2001:db8::1", &address->sin6_addr);
        address->sin6_addr.s6_addr[15] = (uint8_t)(10 + index);
        info->ai_addr = (struct sockaddr *)address;
        info->ai_addrlen = sizeof *address;
    } else {
        auto address = (struct sockaddr_in *)calloc(1, sizeof(struct sockaddr_in));
        address->sin_family = AF_INET;
        address->sin_port = htons(port);
        address->sin_addr.s_addr = htonl(0xcb007100u + 10 + (uint32_t)index);
        info->ai_addr = (struct sockaddr *)address;
        info->ai_addrlen = sizeof *address;
    }
    info->ai_family = info->ai_addr->sa_family;
    info->ai_socktype = SOCK_STREAM;
    return info;
}

int simulated_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found) {
    *found = nullptr;
    struct in6_addr ignored;
    // No name is this machine.
    bool isNumeric = !host || inet_pton(AF_INET, host, &ignored) == 1 || inet_pton(AF_INET6, host, &ignored) == 1;
    if (!isNumeric && (hints->ai_flags & AI_NUMERICHOST)) return EAI_NONAME;
    if (kernel().isDead) return EAI_AGAIN;
    if (host && std::string(internalHost).rfind(std::string(host) + ":", 0) == 0) return EAI_NONAME;
    if (!isNumeric && chances().chance(the->faults().unresolved)) {
        the->figures.count("names not resolved");
        // If the upload ends now, that is why.
        the->server.lockedLast = "";
        return chances().of({EAI_AGAIN, EAI_AGAIN, EAI_FAIL, EAI_NONAME, EAI_SYSTEM});
    }
    struct addrinfo **at = found;
    for (int index = 0; index < the->scenario.addresses; index++) {
        int family = index % 2 ? AF_INET6 : AF_INET;
        if (hints->ai_family != AF_UNSPEC && hints->ai_family != family) continue;
        *at = makeAddress(index, (uint16_t)atoi(port));
        at = &(*at)->ai_next;
    }
    return 0;
}

void simulated_freeaddrinfo(struct addrinfo *found) {
    while (found) {
        auto next = found->ai_next;
        free(found->ai_addr);
        free(found);
        found = next;
    }
}

}
