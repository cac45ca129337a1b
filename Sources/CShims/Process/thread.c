#include "shim_thread.h"
#include "../thread.h"
#include <stdlib.h>

int32_t shim_thread_start(void *(*run)(void *), void *argument) { return -start_thread(NULL, 0, run, argument); }

struct shim_mutex {
    pthread_mutex_t mutex;
};

shim_mutex *shim_mutex_create(void) {
    shim_mutex *created = malloc(sizeof *created);
    if (!created) abort();
    pthread_mutex_init(&created->mutex, NULL);
    return created;
}

void shim_mutex_lock(shim_mutex *mutex) { pthread_mutex_lock(&mutex->mutex); }

void shim_mutex_unlock(shim_mutex *mutex) { pthread_mutex_unlock(&mutex->mutex); }

void shim_mutex_release(shim_mutex *mutex) {
    pthread_mutex_destroy(&mutex->mutex);
    free(mutex);
}
