// OpenSSL's memory in a program that owns it: malloc(3) with the ceiling's handler, and a few small blocks kept for
// reuse.
#include "shim_memory.h"
#include "shim_openssl.h"

#include <malloc.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>

// OpenSSL allocates and frees three blocks of 40 bytes for every record that it writes (WPACKET_SUB). A few freed blocks of
// about that size are kept, so that a running transfer allocates nothing. Each thread has its own.
enum { SPARE_COUNT = 8, SPARE_SIZE = 40, SPARE_SIZE_MAXIMUM = 72 };
static _Thread_local void *spares[SPARE_COUNT];
static _Thread_local int spare_count;
static pthread_key_t spares_key;
static int has_spares_key;

// Called when the thread ends.
static void free_spares(void *unused) {
    (void)unused;
    while (spare_count > 0) free(spares[--spare_count]);
}

static void make_spares_key(void) { has_spares_key = pthread_key_create(&spares_key, free_spares) == 0; }

static void *allocate(size_t size, const char *file, int line) {
    (void)file;
    (void)line;
    if (size <= SPARE_SIZE && spare_count > 0) return spares[--spare_count];
    return shim_allocate(size);
}

static void *reallocate(void *pointer, size_t size, const char *file, int line) {
    (void)file;
    (void)line;
    return shim_reallocate(pointer, size);
}

static void release(void *pointer, const char *file, int line) {
    (void)file;
    (void)line;
    size_t size = malloc_usable_size(pointer);
    int is_spare = size >= SPARE_SIZE && size <= SPARE_SIZE_MAXIMUM && spare_count < SPARE_COUNT;
    // The value of the key must not be NULL, or free_spares is not called.
    if (is_spare && spare_count == 0) is_spare = has_spares_key && pthread_setspecific(spares_key, spares) == 0;
    if (is_spare) {
        spares[spare_count++] = pointer;
    } else {
        free(pointer);
    }
}

static int is_owned;

void shim_openssl_take_over(void) {
    is_owned = 1;
    make_spares_key();
    CRYPTO_set_mem_functions(allocate, reallocate, release);
}

void shim_openssl_initialize(void) {
    // OpenSSL initialises itself on first use, as the host process has set it up.
    if (!is_owned) return;
    // Those of TLS are loaded by SSL_CTX_new: OpenSSL 3.5 could not load them later.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS, NULL);
}
