// A thread that digests bytes where they are, while the one that handed them over sends them.
#pragma once
#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

// How many processors this process may use (sched_getaffinity(2)); 1 if the kernel does not say.
int32_t shim_processor_count(void);

typedef struct shim_hasher shim_hasher;
// NULL if there is no thread to be had.
shim_hasher *shim_hasher_start(void);
// Ends the thread, which first does what it was handed.
void shim_hasher_end(shim_hasher *hasher);

enum { SHIM_HASHER_MOST = 4, SHIM_HASHER_IDLE = -1 };
// Hands bytes over for EVP_DigestUpdate. They and the context must stay as they are until it is done, which is told by their
// mark (0 or more, and growing). 0 if SHIM_HASHER_MOST are under way, and nothing was taken.
int32_t shim_hasher_take(
    shim_hasher *hasher, EVP_MD_CTX *context, const void *bytes, size_t length, int64_t mark);
// The mark of the oldest bytes that are not done, or SHIM_HASHER_IDLE. Lowers the event.
int64_t shim_hasher_oldest(shim_hasher *hasher);
// An event for poll, raised once when the bytes of this mark are done; 0 if they are already, and it will not be.
int32_t shim_hasher_notify(shim_hasher *hasher, int64_t mark);
int32_t shim_hasher_descriptor(const shim_hasher *hasher);
// Waits until all is done. 0 if an EVP_DigestUpdate has failed.
int32_t shim_hasher_wait(shim_hasher *hasher);
