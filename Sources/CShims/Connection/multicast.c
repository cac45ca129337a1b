#include "shim_multicast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MULTICAST_DNS_PORT = 5353 };

static int32_t bits_of(const struct sockaddr *mask, int32_t family) {
    if (!mask) return family == SHIM_FAMILY_IPV4 ? 32 : 128;
    const uint8_t *bytes = family == SHIM_FAMILY_IPV4
                               ? (const uint8_t *)&((const struct sockaddr_in *)(const void *)mask)->sin_addr
                               : ((const struct sockaddr_in6 *)(const void *)mask)->sin6_addr.s6_addr;
    int32_t bits = 0, most = family == SHIM_FAMILY_IPV4 ? 32 : 128;
    while (bits < most && bytes[bits / 8] >> (7 - bits % 8) & 1) bits++;
    return bits;
}

int32_t shim_interface_addresses(shim_interface_address *addresses, int32_t capacity) {
    struct ifaddrs *all;
    if (getifaddrs(&all) < 0) return -errno;
    int32_t count = 0;
    for (const struct ifaddrs *at = all; at && count < capacity; at = at->ifa_next) {
        unsigned int wanted = IFF_UP | IFF_MULTICAST;
        if ((at->ifa_flags & wanted) != wanted || !at->ifa_addr) continue;
        int family = at->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        shim_interface_address *one = &addresses[count];
        *one = (shim_interface_address){.interface = if_nametoindex(at->ifa_name)};
        if (one->interface == 0) continue; // gone in the meantime
        snprintf(one->name, sizeof one->name, "%s", at->ifa_name);
        one->is_loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
        one->family = family == AF_INET ? SHIM_FAMILY_IPV4 : SHIM_FAMILY_IPV6;
        if (family == AF_INET) {
            memcpy(one->address, &((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr, 4);
        } else {
            memcpy(one->address, &((const struct sockaddr_in6 *)(const void *)at->ifa_addr)->sin6_addr, 16);
        }
        one->prefix_bits = bits_of(at->ifa_netmask, one->family);
        count++;
    }
    freeifaddrs(all);
    return count;
}

int32_t shim_multicast_socket(int32_t family) {
    int is_ipv4 = family == SHIM_FAMILY_IPV4;
    int descriptor = socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    // RFC 6762, 11: multicast DNS is sent with 255 hops. The interface and the hops of what comes in are reported.
    int on = 1, hops = 255;
    if (is_ipv4) {
        setsockopt(descriptor, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof hops);
        setsockopt(descriptor, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
        setsockopt(descriptor, IPPROTO_IP, IP_RECVTTL, &on, sizeof on);
    } else {
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops);
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof on);
    }
    return descriptor;
}

int32_t shim_multicast_send(
    int32_t descriptor, int32_t family, uint32_t interface, const void *message, size_t length) {
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(MULTICAST_DNS_PORT)};
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(MULTICAST_DNS_PORT), .sin6_scope_id = interface};
    inet_pton(AF_INET, "224.0.0.251", &v4.sin_addr);
    inet_pton(AF_INET6, "ff02::fb", &v6.sin6_addr);
    struct in_pktinfo on = {.ipi_ifindex = (int)interface};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)message, .iov_len = length};
    struct msghdr datagram = {.msg_iov = &part, .msg_iovlen = 1};
    if (family == SHIM_FAMILY_IPV4) {
        datagram.msg_name = &v4;
        datagram.msg_namelen = sizeof v4;
        datagram.msg_control = &control;
        datagram.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&datagram);
        header->cmsg_level = IPPROTO_IP;
        header->cmsg_type = IP_PKTINFO;
        header->cmsg_len = CMSG_LEN(sizeof on);
        memcpy(CMSG_DATA(header), &on, sizeof on);
    } else {
        datagram.msg_name = &v6;
        datagram.msg_namelen = sizeof v6;
    }
    ssize_t count = TEMP_FAILURE_RETRY(sendmsg(descriptor, &datagram, MSG_NOSIGNAL));
    return count < 0 ? -errno : 0;
}

static void read_origin(const struct cmsghdr *header, shim_datagram_origin *origin) {
    const void *data = CMSG_DATA(header);
    if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
        struct in_pktinfo info;
        memcpy(&info, data, sizeof info);
        origin->interface = (uint32_t)info.ipi_ifindex;
    } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
        struct in6_pktinfo info;
        memcpy(&info, data, sizeof info);
        origin->interface = (uint32_t)info.ipi6_ifindex;
    } else if ((header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TTL)
               || (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_HOPLIMIT)) {
        int hops;
        memcpy(&hops, data, sizeof hops);
        origin->hop_limit = hops;
    }
}

int64_t shim_multicast_receive(int32_t descriptor, void *buffer, size_t capacity, shim_datagram_origin *origin) {
    struct sockaddr_storage source;
    union {
        struct cmsghdr header;
        char bytes[256];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr datagram = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t count;
    do {
        datagram.msg_name = &source;
        datagram.msg_namelen = sizeof source;
        datagram.msg_control = &control;
        datagram.msg_controllen = sizeof control;
        count = recvmsg(descriptor, &datagram, MSG_TRUNC);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    *origin = (shim_datagram_origin){.hop_limit = -1};
    if (source.ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)&source;
        memcpy(origin->address, &v6->sin6_addr, 16);
        origin->port = ntohs(v6->sin6_port);
    } else {
        const struct sockaddr_in *v4 = (const void *)&source;
        memcpy(origin->address, &v4->sin_addr, 4);
        origin->port = ntohs(v4->sin_port);
    }
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&datagram); at; at = CMSG_NXTHDR(&datagram, at)) read_origin(at, origin);
    return count;
}

void shim_make_address(const uint8_t *bytes, int32_t family, uint32_t zone, uint16_t port, shim_address *address) {
    memset(address, 0, sizeof *address);
    if (family == SHIM_FAMILY_IPV6) {
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = zone};
        memcpy(&v6.sin6_addr, bytes, 16);
        memcpy(address->storage, &v6, sizeof v6);
        address->length = sizeof v6;
    } else {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&v4.sin_addr, bytes, 4);
        memcpy(address->storage, &v4, sizeof v4);
        address->length = sizeof v4;
    }
}
