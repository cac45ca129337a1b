// Threads and what they share, for the library's asynchronous uploads.
#pragma once
#include <stdint.h>

// Starts a detached thread. It takes no signals: they belong to the program's other threads. 0, or -errno.
int32_t shim_thread_start(void *(*run)(void *), void *argument);

typedef struct shim_mutex shim_mutex;
// Aborts if there is no memory, as Swift's own allocations do.
shim_mutex *shim_mutex_create(void);
void shim_mutex_lock(shim_mutex *mutex);
void shim_mutex_unlock(shim_mutex *mutex);
void shim_mutex_release(shim_mutex *mutex);
