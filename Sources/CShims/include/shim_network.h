// Sockets, name resolution and poll.
#pragma once
#include <stddef.h>
#include <stdint.h>

// A socket address that is opaque to Swift (RFC 3493's sockaddr_storage).
typedef struct {
    uint64_t storage[16];
    uint32_t length;
} shim_address;

enum { SHIM_FAMILY_ANY = 0, SHIM_FAMILY_IPV4 = 4, SHIM_FAMILY_IPV6 = 6 };
enum { SHIM_RESOLVED = 0, SHIM_NO_SUCH_NAME = 1, SHIM_NO_RESOLVER = 2, SHIM_RESOLVER_NO_MEMORY = 3 };

// Only for the program's main, never for a host process: a static glibc must not load the NSS plug-ins of the machine it runs
// on. With "files" and "dns" it needs none, even in an empty chroot. In the ordinary build this does nothing, and the machine's
// own order applies (including mDNS).
void shim_use_built_in_name_services(void);

// A name lookup on its own thread, because getaddrinfo(3) blocks: poll its descriptor, then read the result.
// Numeric hosts are resolved at once and start no thread; NULL for `host` gives this machine's loopback addresses. Returns NULL
// if no thread can be created.
typedef struct shim_lookup shim_lookup;
shim_lookup *shim_lookup_start(const char *host, uint16_t port, int32_t family);
// Becomes readable when the lookup has finished.
int32_t shim_lookup_descriptor(const shim_lookup *lookup);
// How it ended (SHIM_RESOLVED …).
int32_t shim_lookup_result(const shim_lookup *lookup);
// The number of addresses found, and one of them by its index from 0, in the resolver's order.
int32_t shim_lookup_count(const shim_lookup *lookup);
void shim_lookup_address(const shim_lookup *lookup, int32_t index, shim_address *address);
// Releases the lookup, finished or not.
void shim_lookup_release(shim_lookup *lookup);

// The address as text, "192.0.2.1:443", "[2001:db8::1]:443" or "[fe80::1%2]:443" with the number of the interface, into a buffer
// of at least 80 bytes. Returns its length.
int32_t shim_address_text(const shim_address *address, void *buffer, size_t capacity);

// SHIM_FAMILY_IPV4 or SHIM_FAMILY_IPV6.
int32_t shim_address_family(const shim_address *address);

// A non-blocking, close-on-exec TCP socket with TCP_NODELAY for this family of addresses; or -errno.
int32_t shim_socket_for(const shim_address *address);
// connect(2), which is in progress or done: 0, or -errno.
int32_t shim_connect(int32_t descriptor, const shim_address *address);
// TCP_CONGESTION: 0, or -errno. -ENOENT: the kernel does not have it. -EPERM: this process must not use it.
int32_t shim_set_congestion_control(int32_t descriptor, const char *name);
// The one in use, into a buffer of at least SHIM_CONGESTION_NAME bytes. Returns its length, or -errno.
enum { SHIM_CONGESTION_NAME = 16 };
int32_t shim_congestion_control(int32_t descriptor, void *buffer, size_t capacity);
// Whether the kernel would load a module for shim_set_congestion_control, because the process has CAP_NET_ADMIN.
int32_t shim_may_load_modules(void);
// SO_ERROR of a connect that has become writable: 0, or -errno.
int32_t shim_connect_result(int32_t descriptor);
// TCP_NOTSENT_LOWAT: how much unsent data the kernel accepts before the socket stops being writable.
void shim_set_unsent_low_water(int32_t descriptor, int32_t bytes);
// TCP_MAXSEG, before the connection is made: the longest segments in both directions, in bytes.
void shim_set_segment_length(int32_t descriptor, int32_t bytes);
// TCP_USER_TIMEOUT: the kernel drops the connection after this long without an acknowledgement (RFC 5482).
void shim_set_user_timeout(int32_t descriptor, int64_t milliseconds);
// send(2) with MSG_NOSIGNAL, and recv(2). -EAGAIN if the socket is not ready.
int64_t shim_send(int32_t descriptor, const void *buffer, size_t length);
int64_t shim_receive(int32_t descriptor, void *buffer, size_t length);
// sendfile(2) from `file` at `offset`, without SIGPIPE. 0 at the end of the file, -EINVAL if the file system does not support it.
int64_t shim_send_file(int32_t descriptor, int32_t file, int64_t offset, size_t length);
// SIOCOUTQ: bytes that the peer has not acknowledged yet.
int32_t shim_unacknowledged(int32_t descriptor);
// TCP_INFO: what the kernel has counted on a connection; -1: it does not count this. Segments with content; those of them that
// were sent again, and those that arrived twice. The round trip and the shortest one; how long there was something to send, and how
// long of that the receiver had no room: in microseconds.
typedef struct {
    int64_t segments, repeated_segments, duplicate_segments;
    int64_t round_trip, least_round_trip;
    int64_t busy, window_limited;
} shim_tcp_counts;
void shim_read_tcp_counts(int32_t descriptor, shim_tcp_counts *counts);
// inet_pton(3): whether this is an IPv4 or IPv6 address, not a name.
int32_t shim_is_ip_address(const char *host);

enum { SHIM_POLL_READABLE = 1, SHIM_POLL_WRITABLE = 2, SHIM_POLL_MOST = 1024 };
// A descriptor (or -1 for none), the events to wait for, and the events that occurred. Errors and hang-ups count as both, so
// that the next read or write reports them.
typedef struct {
    int32_t descriptor;
    int32_t events;
    int32_t ready;
} shim_poll_entry;
// poll(2) on at most SHIM_POLL_MOST descriptors, or on none to pause. Returns after at most `milliseconds`, or on a signal; -1 means no
// limit. A negative result is -errno.
int32_t shim_poll(shim_poll_entry *entries, int32_t count, int64_t milliseconds);

// eventfd(2): a flag that poll can wait for. shim_event_raise may be called from any thread and from a signal handler.
int32_t shim_event_create(void);
void shim_event_raise(int32_t descriptor);
// Clears the flag.
void shim_event_lower(int32_t descriptor);
// Makes it unwritable until the flag is cleared, for those who poll for that.
void shim_event_fill(int32_t descriptor);
