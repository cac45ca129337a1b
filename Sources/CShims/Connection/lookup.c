// Name resolution that can be polled and abandoned: getaddrinfo(3) on a thread with a small stack.
#include "shim_network.h"
#include "../thread.h"

#include <errno.h>
#include <netdb.h>
#include <nss.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// glibc's resolver keeps answers of up to 64 KiB and its work space on the stack.
enum { LOOKUP_STACK_BYTES = 256 * 1024 };

void shim_use_built_in_name_services(void) {
#ifdef SHIM_EMBEDDED
    __nss_configure_lookup("hosts", "files dns");
#endif
}

struct shim_lookup {
    atomic_int owners; // the caller, and the thread while it runs
    int event;
    int error;
    struct addrinfo hints;
    struct addrinfo *found;
    char port[8];
    char host[];
};

static void look_up(shim_lookup *lookup) {
    const char *host = lookup->host[0] ? lookup->host : NULL;
    lookup->error = getaddrinfo(host, lookup->port, &lookup->hints, &lookup->found);
}

void shim_lookup_release(shim_lookup *lookup) {
    if (atomic_fetch_sub(&lookup->owners, 1) > 1) return;
    if (lookup->found) freeaddrinfo(lookup->found);
    close(lookup->event);
    free(lookup);
}

static void *run(void *argument) {
    shim_lookup *lookup = argument;
    look_up(lookup);
    shim_event_raise(lookup->event);
    shim_lookup_release(lookup);
    return NULL;
}

shim_lookup *shim_lookup_start(const char *host, uint16_t port, int32_t family) {
    shim_lookup *lookup = calloc(1, sizeof *lookup + (host ? strlen(host) : 0) + 1);
    if (!lookup) return NULL;
    lookup->event = shim_event_create();
    if (lookup->event < 0) {
        free(lookup);
        return NULL;
    }
    if (host) strcpy(lookup->host, host);
    snprintf(lookup->port, sizeof lookup->port, "%u", port);
    lookup->hints.ai_socktype = SOCK_STREAM;
    lookup->hints.ai_family = family == SHIM_FAMILY_IPV4 ? AF_INET : family == SHIM_FAMILY_IPV6 ? AF_INET6 : AF_UNSPEC;
    lookup->hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    look_up(lookup);
    // Names contain no colon. If this is not found, it is an address in a zone that this machine does not have.
    if (lookup->error == 0 || !host || strchr(host, ':') || shim_is_ip_address(host)) {
        atomic_store(&lookup->owners, 1);
        shim_event_raise(lookup->event);
        return lookup;
    }
    lookup->hints.ai_flags = AI_NUMERICSERV;
    atomic_store(&lookup->owners, 2);
    if (start_thread(NULL, LOOKUP_STACK_BYTES, run, lookup) != 0) {
        atomic_store(&lookup->owners, 1);
        shim_lookup_release(lookup);
        return NULL;
    }
    return lookup;
}

int32_t shim_lookup_descriptor(const shim_lookup *lookup) { return lookup->event; }

int32_t shim_lookup_result(const shim_lookup *lookup) {
    switch (lookup->error) {
    case 0: return SHIM_RESOLVED;
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_ADDRFAMILY: return SHIM_NO_SUCH_NAME;
    case EAI_MEMORY: return SHIM_RESOLVER_NO_MEMORY;
    default: return SHIM_NO_RESOLVER;
    }
}

int32_t shim_lookup_count(const shim_lookup *lookup) {
    int32_t count = 0;
    for (const struct addrinfo *at = lookup->found; at; at = at->ai_next) count++;
    return count;
}

void shim_lookup_address(const shim_lookup *lookup, int32_t index, shim_address *address) {
    const struct addrinfo *at = lookup->found;
    while (index-- > 0) at = at->ai_next;
    memcpy(address->storage, at->ai_addr, at->ai_addrlen);
    address->length = at->ai_addrlen;
}
