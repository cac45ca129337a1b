// A thread that digests bytes in place while the submitting thread sends them, or reads what is sent next and digests that.
#pragma once
#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

// HMAC (RFC 2104) with SHA-256, 32 bytes. Returns 0 if there is no memory.
int32_t shim_hmac_sha256(const void *key, size_t key_length, const void *text, size_t length, uint8_t *digest);

// The number of processors that this process may use (sched_getaffinity(2)); 1 if unknown.
int32_t shim_processor_count(void);

typedef struct shim_hasher shim_hasher;
// NULL if no thread can be created.
shim_hasher *shim_hasher_start(void);
// Ends the thread after it has finished the submitted work.
void shim_hasher_end(shim_hasher *hasher);

enum { SHIM_HASHER_MOST = 4, SHIM_HASHER_IDLE = -1 };
// Submits bytes for EVP_DigestUpdate. They and the context must not change until they are done, which their mark tells (0 or
// more, and growing). Returns 0 if SHIM_HASHER_MOST are pending and nothing was submitted.
int32_t shim_hasher_take(
    shim_hasher *hasher, EVP_MD_CTX *context, const void *bytes, size_t length, int64_t mark);
// The mark of the oldest pending bytes, or SHIM_HASHER_IDLE. Clears the event.
int64_t shim_hasher_oldest(shim_hasher *hasher);
// Requests one event when the bytes of this mark are done. Returns 0, and raises no event, if they are done already.
int32_t shim_hasher_notify(shim_hasher *hasher, int64_t mark);
int32_t shim_hasher_descriptor(const shim_hasher *hasher);
// Waits until everything is done. Returns 0 if an EVP_DigestUpdate failed.
int32_t shim_hasher_wait(shim_hasher *hasher);

enum { SHIM_HASHER_READ, SHIM_HASHER_READING, SHIM_HASHER_FAILED };
// Reads the range with pread(2) and digests it, while nothing else is submitted. One at a time: stop the one before first.
void shim_hasher_read(shim_hasher *hasher, EVP_MD_CTX *context, int32_t descriptor, int64_t offset, int64_t length);
// How far that is: SHIM_HASHER_FAILED if the file has less. Clears the event, and requests one if it is not done yet.
int32_t shim_hasher_reading(shim_hasher *hasher);
// Afterwards, neither the context nor the descriptor is in use.
void shim_hasher_stop_reading(shim_hasher *hasher);
