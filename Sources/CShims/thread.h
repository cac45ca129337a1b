// Not part of the module.
#pragma once
#include <pthread.h>
#include <signal.h>

// With no `thread` to join it by, it is detached. A stack of 0 bytes means the system's usual size. Returns 0, or an error number.
// Signals belong to the thread that runs the uploads: this one takes none.
static int start_thread(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack_bytes > 0) pthread_attr_setstacksize(&attributes, stack_bytes);
    if (!thread) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t detached;
    int error = pthread_create(thread ? thread : &detached, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
