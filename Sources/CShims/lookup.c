// Name resolution that can be waited for and walked away from: getaddrinfo(3) on a thread with a small stack.
#include "shim_network.h"

#include <errno.h>
#include <netdb.h>
#include <nss.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// glibc's resolver keeps answers of up to 64 KiB and its own work space on the stack.
enum { LOOKUP_STACK_BYTES = 256 * 1024 };

#ifdef SHIM_EMBEDDED
// A static glibc must not load NSS plug-ins of the machine it runs on; with these two it needs none, not even in an
// empty chroot. The ordinary build keeps the machine's own order (mDNS, for one).
__attribute__((constructor)) static void use_built_in_name_services(void) {
    __nss_configure_lookup("hosts", "files dns");
}
#endif

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
    lookup->error = getaddrinfo(lookup->host, lookup->port, &lookup->hints, &lookup->found);
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

static int start_thread(shim_lookup *lookup) {
    // Signals belong to the thread that runs the transfer.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, LOOKUP_STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, run, lookup);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

shim_lookup *shim_lookup_start(const char *host, uint16_t port, int32_t family) {
    shim_lookup *lookup = calloc(1, sizeof *lookup + strlen(host) + 1);
    if (!lookup) return NULL;
    lookup->event = shim_event_create();
    if (lookup->event < 0) {
        free(lookup);
        return NULL;
    }
    strcpy(lookup->host, host);
    snprintf(lookup->port, sizeof lookup->port, "%u", port);
    lookup->hints.ai_socktype = SOCK_STREAM;
    lookup->hints.ai_family = family == SHIM_FAMILY_IPV4 ? AF_INET : family == SHIM_FAMILY_IPV6 ? AF_INET6 : AF_UNSPEC;
    lookup->hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    look_up(lookup);
    if (lookup->error == 0 || shim_is_ip_address(host)) {
        atomic_store(&lookup->owners, 1);
        shim_event_raise(lookup->event);
        return lookup;
    }
    lookup->hints.ai_flags = AI_NUMERICSERV;
    atomic_store(&lookup->owners, 2);
    if (start_thread(lookup) != 0) {
        atomic_store(&lookup->owners, 1);
        shim_lookup_release(lookup);
        return NULL;
    }
    return lookup;
}

int32_t shim_lookup_descriptor(const shim_lookup *lookup) { return lookup->event; }

int32_t shim_lookup_result(shim_lookup *lookup, shim_address *addresses, int32_t capacity, int32_t *count) {
    *count = 0;
    for (struct addrinfo *at = lookup->found; at && *count < capacity; at = at->ai_next) {
        shim_address *address = &addresses[(*count)++];
        memcpy(address->storage, at->ai_addr, at->ai_addrlen);
        address->length = at->ai_addrlen;
    }
    switch (lookup->error) {
    case 0: return SHIM_RESOLVED;
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_ADDRFAMILY: return SHIM_NO_SUCH_NAME;
    case EAI_MEMORY: return SHIM_RESOLVER_NO_MEMORY;
    default: return SHIM_NO_RESOLVER;
    }
}
