// Multicast DNS (RFC 6762): network interfaces, and datagrams to all hosts of a network and from one.
#pragma once
#include "shim_network.h"

#include <stddef.h>
#include <stdint.h>

// An address of a network interface that is up and can do multicast.
typedef struct {
    // In network order; an IPv4 address has four bytes.
    uint8_t address[16];
    char name[16];
    uint32_t interface;
    int32_t family;
    // The length of the prefix that it shares with its neighbours.
    int32_t prefix_bits;
    int32_t is_loopback;
} shim_interface_address;

// getifaddrs(3): at most `capacity` of these. Returns how many, or -errno.
int32_t shim_interface_addresses(shim_interface_address *addresses, int32_t capacity);

// Where a datagram came from.
typedef struct {
    uint8_t address[16];
    uint32_t interface;
    // IPv4's TTL or IPv6's hop limit, or -1.
    int32_t hop_limit;
    uint16_t port;
} shim_datagram_origin;

// A non-blocking, close-on-exec UDP socket on a port that the kernel picks, for questions to the multicast address and
// answers to itself; or -errno.
int32_t shim_multicast_socket(int32_t family);
// sendmsg(2) to 224.0.0.251 or ff02::fb, port 5353, on this interface: 0, or -errno.
int32_t shim_multicast_send(
    int32_t descriptor, int32_t family, uint32_t interface, const void *message, size_t length);
// recvmsg(2): the length of the datagram, of which at most `capacity` bytes are stored; or -errno.
int64_t shim_multicast_receive(int32_t descriptor, void *buffer, size_t capacity, shim_datagram_origin *origin);

// The socket address of 4 or 16 bytes in network order, with the zone of a link-local one (0: none).
void shim_make_address(const uint8_t *bytes, int32_t family, uint32_t zone, uint16_t port, shim_address *address);
