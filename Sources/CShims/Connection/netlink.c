// Whether the machine's network changes.
#include "shim_watch.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int32_t shim_network_watch(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(descriptor, (const void *)&address, sizeof address) < 0) {
        int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

int32_t shim_network_changed(int32_t descriptor) {
    char buffer[4096];
    int32_t result = 0;
    // What it says does not matter. ENOBUFS: messages were lost, so there were some.
    while (recv(descriptor, buffer, sizeof buffer, 0) > 0 || errno == ENOBUFS) result = 1;
    return result;
}

int32_t shim_interface_is_up(const char *name) {
    struct ifreq request = {0};
    if (strlen(name) >= sizeof request.ifr_name) return 0;
    strcpy(request.ifr_name, name);
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    // A machine without IPv4.
    if (descriptor < 0) descriptor = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return 0;
    int result = ioctl(descriptor, SIOCGIFFLAGS, &request);
    close(descriptor);
    return result == 0 && (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}
