// Sockets, name resolution and poll.
#pragma once
#include <stddef.h>
#include <stdint.h>

// A socket address that Swift carries about without looking inside (RFC 3493's sockaddr_storage).
typedef struct {
    uint64_t storage[16];
    uint32_t length;
} shim_address;

enum { SHIM_FAMILY_ANY = 0, SHIM_FAMILY_IPV4 = 4, SHIM_FAMILY_IPV6 = 6 };
enum { SHIM_RESOLVED = 0, SHIM_NO_SUCH_NAME = 1, SHIM_NO_RESOLVER = 2, SHIM_RESOLVER_NO_MEMORY = 3 };

// For the program's main, and nobody's process else: a static glibc must not load NSS plug-ins of the machine it runs on. With
// "files" and "dns" it needs none, not even in an empty chroot. In the ordinary build this does nothing, and the machine's
// own order counts (mDNS, for one).
void shim_use_built_in_name_services(void);

// A name lookup on a thread of its own, since getaddrinfo(3) blocks: poll its descriptor, then take the result.
// Numeric hosts are resolved at once and start no thread; NULL for `host` gives this machine's loopback addresses. Returns NULL
// if no thread can be had.
typedef struct shim_lookup shim_lookup;
shim_lookup *shim_lookup_start(const char *host, uint16_t port, int32_t family);
// Becomes readable when the lookup is over.
int32_t shim_lookup_descriptor(const shim_lookup *lookup);
// How it ended (SHIM_RESOLVED …).
int32_t shim_lookup_result(const shim_lookup *lookup);
// The addresses that were found, in the resolver's order: how many, and one by its index from 0.
int32_t shim_lookup_count(const shim_lookup *lookup);
void shim_lookup_address(const shim_lookup *lookup, int32_t index, shim_address *address);
// Lets go of the lookup, finished or not.
void shim_lookup_release(shim_lookup *lookup);

// The address as text, "192.0.2.1:443", "[2001:db8::1]:443" or "[fe80::1%2]:443" with the number of the interface, into a buffer
// of at least 80 bytes. Returns its length.
int32_t shim_address_text(const shim_address *address, void *buffer, size_t capacity);

// SHIM_FAMILY_IPV4 or SHIM_FAMILY_IPV6.
int32_t shim_address_family(const shim_address *address);

// A non-blocking, close-on-exec TCP socket with TCP_NODELAY, whose connect(2) is under way or done.
int32_t shim_connect(const shim_address *address);
// SO_ERROR of a connect that has become writable: 0, or -errno.
int32_t shim_connect_result(int32_t descriptor);
// TCP_NOTSENT_LOWAT: how much unsent data the kernel takes before the socket stops being writable.
void shim_set_unsent_low_water(int32_t descriptor, int32_t bytes);
// TCP_USER_TIMEOUT: after so long without an acknowledgement the kernel gives the connection up (RFC 5482).
void shim_set_user_timeout(int32_t descriptor, int64_t milliseconds);
// send(2) with MSG_NOSIGNAL, recv(2). -EAGAIN where the socket is not ready.
int64_t shim_send(int32_t descriptor, const void *buffer, size_t length);
int64_t shim_receive(int32_t descriptor, void *buffer, size_t length);
// sendfile(2) from `file` at `offset`, without SIGPIPE. 0 at the end of the file, -EINVAL where the file system cannot.
int64_t shim_send_file(int32_t descriptor, int32_t file, int64_t offset, size_t length);
// SIOCOUTQ: bytes that the peer has not acknowledged yet.
int32_t shim_unacknowledged(int32_t descriptor);
// inet_pton(3): is this an IPv4 or IPv6 address rather than a name?
int32_t shim_is_ip_address(const char *host);

enum { SHIM_POLL_READABLE = 1, SHIM_POLL_WRITABLE = 2, SHIM_POLL_MOST = 512 };
// A descriptor (or none, -1), what is waited for, and what has become possible. Errors and hang-ups count as both, so
// that the next read or write reports them.
typedef struct {
    int32_t descriptor;
    int32_t events;
    int32_t ready;
} shim_poll_entry;
// poll(2) on at most SHIM_POLL_MOST descriptors. Returns after `milliseconds` at the latest, or on a signal; -1 waits for
// ever. Below zero: -errno.
int32_t shim_poll(shim_poll_entry *entries, int32_t count, int64_t milliseconds);

// eventfd(2): a flag that poll can wait for. shim_event_raise may be called from any thread and from a signal handler.
int32_t shim_event_create(void);
void shim_event_raise(int32_t descriptor);
