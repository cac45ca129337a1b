// Digests bytes on a separate thread, in place: nothing is copied or allocated. Between them, it reads a range of a file and digests that.
#include "shim_hashing.h"
#include "shim_memory.h"
#include "shim_network.h"
#include "../thread.h"

#include <openssl/hmac.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int32_t shim_hmac_sha256(const void *key, size_t key_length, const void *text, size_t length, uint8_t *digest) {
    return HMAC(EVP_sha256(), key, (int)key_length, text, length, digest, NULL) != NULL;
}

// EVP_DigestUpdate needs less than 1 KiB of stack. glibc requires at least 16 KiB, and puts thread-local variables there.
enum { HASHER_STACK_BYTES = 64 * 1024, SLICE_BYTES = 32 * 1024 };

typedef struct {
    EVP_MD_CTX *context;
    const void *bytes;
    size_t length;
    int64_t mark;
} piece;

typedef struct {
    EVP_MD_CTX *context;
    int descriptor;
    int64_t offset;
    int64_t end;
    int is_in_slice; // the thread uses the context and the descriptor
    int has_failed;
} range;

struct shim_hasher {
    pthread_t thread;
    pthread_mutex_t lock; // protects all of the following
    pthread_cond_t has_work;
    pthread_cond_t is_idle;
    piece pieces[SHIM_HASHER_MOST]; // pending: first ..< first + count, modulo SHIM_HASHER_MOST
    int first;
    int count;
    range reading;
    int is_ending;
    int has_failed;
    int event;
    int is_awaited; // whether to raise the event
    int is_raised;
};

int32_t shim_processor_count(void) {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

// The following are called with the lock held. What takes long is done without it.

static void digest_piece(shim_hasher *hasher) {
    piece *next = &hasher->pieces[hasher->first];
    pthread_mutex_unlock(&hasher->lock);
    int done = EVP_DigestUpdate(next->context, next->bytes, next->length);
    pthread_mutex_lock(&hasher->lock);
    if (!done) hasher->has_failed = 1;
    hasher->first = (hasher->first + 1) % SHIM_HASHER_MOST;
    hasher->count--;
    if (hasher->count == 0) pthread_cond_signal(&hasher->is_idle);
}

static int is_reading(const shim_hasher *hasher) {
    return !hasher->reading.has_failed && hasher->reading.offset < hasher->reading.end;
}

static void digest_slice(shim_hasher *hasher, uint8_t slice[SLICE_BYTES]) {
    range next = hasher->reading;
    int64_t left = next.end - next.offset;
    hasher->reading.is_in_slice = 1;
    pthread_mutex_unlock(&hasher->lock);
    ssize_t count = pread(next.descriptor, slice, left < SLICE_BYTES ? (size_t)left : SLICE_BYTES, next.offset);
    int done = count > 0 && EVP_DigestUpdate(next.context, slice, (size_t)count);
    pthread_mutex_lock(&hasher->lock);
    hasher->reading.is_in_slice = 0;
    if (done) hasher->reading.offset += count;
    else hasher->reading.has_failed = 1;
    pthread_cond_signal(&hasher->is_idle);
}

static void *run(void *argument) {
    shim_hasher *hasher = argument;
    uint8_t slice[SLICE_BYTES];
    pthread_mutex_lock(&hasher->lock);
    while (1) {
        while (hasher->count == 0 && !is_reading(hasher) && !hasher->is_ending)
            pthread_cond_wait(&hasher->has_work, &hasher->lock);
        if (hasher->count > 0) {
            digest_piece(hasher);
        } else if (is_reading(hasher)) {
            digest_slice(hasher, slice);
            if (is_reading(hasher)) continue;
        } else {
            break;
        }
        if (!hasher->is_awaited) continue;
        hasher->is_awaited = 0;
        hasher->is_raised = 1;
        shim_event_raise(hasher->event);
    }
    pthread_mutex_unlock(&hasher->lock);
    return NULL;
}

static void release(shim_hasher *hasher) {
    pthread_cond_destroy(&hasher->is_idle);
    pthread_cond_destroy(&hasher->has_work);
    pthread_mutex_destroy(&hasher->lock);
    close(hasher->event);
    free(hasher);
}

shim_hasher *shim_hasher_start(void) {
    shim_hasher *hasher = shim_allocate(sizeof *hasher);
    int event = hasher ? shim_event_create() : -1;
    if (event < 0) {
        free(hasher);
        return NULL;
    }
    *hasher = (shim_hasher){.event = event};
    pthread_mutex_init(&hasher->lock, NULL);
    pthread_cond_init(&hasher->has_work, NULL);
    pthread_cond_init(&hasher->is_idle, NULL);
    if (start_thread(&hasher->thread, HASHER_STACK_BYTES, run, hasher) == 0) return hasher;
    release(hasher);
    return NULL;
}

void shim_hasher_end(shim_hasher *hasher) {
    pthread_mutex_lock(&hasher->lock);
    hasher->is_ending = 1;
    pthread_cond_signal(&hasher->has_work);
    pthread_mutex_unlock(&hasher->lock);
    pthread_join(hasher->thread, NULL);
    release(hasher);
}

int32_t shim_hasher_take(
    shim_hasher *hasher, EVP_MD_CTX *context, const void *bytes, size_t length, int64_t mark) {
    pthread_mutex_lock(&hasher->lock);
    int has_room = hasher->count < SHIM_HASHER_MOST;
    int was_idle = hasher->count == 0;
    if (has_room) {
        hasher->pieces[(hasher->first + hasher->count) % SHIM_HASHER_MOST] = (piece){context, bytes, length, mark};
        hasher->count++;
    }
    pthread_mutex_unlock(&hasher->lock);
    if (was_idle) pthread_cond_signal(&hasher->has_work);
    return has_room;
}

// Call it with the lock held.
static int64_t oldest(const shim_hasher *hasher) {
    return hasher->count > 0 ? hasher->pieces[hasher->first].mark : SHIM_HASHER_IDLE;
}

// Call it with the lock held.
static void clear_event(shim_hasher *hasher) {
    uint64_t value;
    if (hasher->is_raised && read(hasher->event, &value, sizeof value) < 0) { /* already read */ }
    hasher->is_awaited = hasher->is_raised = 0;
}

int64_t shim_hasher_oldest(shim_hasher *hasher) {
    pthread_mutex_lock(&hasher->lock);
    int64_t mark = oldest(hasher);
    clear_event(hasher);
    pthread_mutex_unlock(&hasher->lock);
    return mark;
}

int32_t shim_hasher_notify(shim_hasher *hasher, int64_t mark) {
    pthread_mutex_lock(&hasher->lock);
    hasher->is_awaited = oldest(hasher) == mark;
    int is_awaited = hasher->is_awaited;
    pthread_mutex_unlock(&hasher->lock);
    return is_awaited;
}

int32_t shim_hasher_descriptor(const shim_hasher *hasher) { return hasher->event; }

int32_t shim_hasher_wait(shim_hasher *hasher) {
    pthread_mutex_lock(&hasher->lock);
    while (hasher->count > 0) pthread_cond_wait(&hasher->is_idle, &hasher->lock);
    int has_failed = hasher->has_failed;
    pthread_mutex_unlock(&hasher->lock);
    return !has_failed;
}

void shim_hasher_read(shim_hasher *hasher, EVP_MD_CTX *context, int32_t descriptor, int64_t offset, int64_t length) {
    pthread_mutex_lock(&hasher->lock);
    hasher->reading =
        (range){.context = context, .descriptor = descriptor, .offset = offset, .end = offset + length};
    pthread_mutex_unlock(&hasher->lock);
    pthread_cond_signal(&hasher->has_work);
}

int32_t shim_hasher_reading(shim_hasher *hasher) {
    pthread_mutex_lock(&hasher->lock);
    clear_event(hasher);
    int has_failed = hasher->reading.has_failed;
    hasher->is_awaited = is_reading(hasher);
    int is_awaited = hasher->is_awaited;
    pthread_mutex_unlock(&hasher->lock);
    return has_failed ? SHIM_HASHER_FAILED : is_awaited ? SHIM_HASHER_READING : SHIM_HASHER_READ;
}

void shim_hasher_stop_reading(shim_hasher *hasher) {
    pthread_mutex_lock(&hasher->lock);
    hasher->reading.end = hasher->reading.offset;
    while (hasher->reading.is_in_slice) pthread_cond_wait(&hasher->is_idle, &hasher->lock);
    hasher->reading = (range){0};
    pthread_mutex_unlock(&hasher->lock);
}
