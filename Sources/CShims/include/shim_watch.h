// What a watcher of directories needs: their changes, child processes, and whether the network
// changes. For the command line only.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "shim_system.h"

// inotify(7): a descriptor that poll can wait for.
int32_t shim_inotify_create(void);
// Watches a directory that is open; the same one again has the same number. `path` and `follows_link` are for systems without /proc.
// The number of the watch, or -errno.
int32_t shim_inotify_add(int32_t descriptor, int32_t directory, const char *path, int32_t follows_link);
// Watches which names appear and disappear in a directory. The same directory has the same number as above.
int32_t shim_inotify_add_names(int32_t descriptor, const char *path);
void shim_inotify_remove(int32_t descriptor, int32_t watch);
enum {
    // A file was created, perhaps empty, linked or moved in, closed after writing, or got other permissions or times.
    SHIM_CHANGED_FILE = 0,
    // A directory was created or moved in.
    SHIM_CHANGED_DIRECTORY = 1,
    // The watched directory was removed, moved or unmounted.
    SHIM_CHANGED_SELF = 2,
    // Events were lost.
    SHIM_CHANGES_LOST = 3,
    // A directory got other permissions or times: one in the watched directory, or, without a name, that itself.
    SHIM_CHANGED_PERMISSIONS = 4,
    // A name was removed or moved away.
    SHIM_NAME_REMOVED = 5
};
// Reads some of the events that are there. Whether there were any.
int32_t shim_inotify_read(
    int32_t descriptor, void (*visit)(int32_t watch, int32_t kind, const char *name, void *context), void *context);

// In addition to shim_signals_raise_event: SIGHUP and SIGCHLD raise the event `descriptor`, too.
void shim_watch_signals(int32_t descriptor);
// Whether SIGHUP has come since the last call.
int32_t shim_take_hangup(void);

// pipe2(2), close-on-exec: the ends for reading and for writing. 0 or -errno.
int32_t shim_pipe(int32_t ends[2]);
void shim_set_nonblocking(int32_t descriptor);
// write(2), once.
int64_t shim_write(int32_t descriptor, const void *buffer, size_t length);
// Starts a program with these arguments (ending with NULL), in a process group of its own. It has `input`, `output` and `answers` as its
// descriptors 0, 1 and SHIM_ANSWERS, and gets SIGTERM when this process ends in any way. The process ID, or -errno; a program that cannot
// be executed ends with 127.
enum { SHIM_ANSWERS = 3 };
int32_t shim_spawn(const char *path, const char *const *arguments, int32_t input, int32_t output, int32_t answers);
// Its exit code, SHIM_KILLED and the signal that ended it, or -EAGAIN while it runs.
enum { SHIM_KILLED = 256 };
int32_t shim_reap(int32_t process);
// The signal that has stopped it, or 0 if it runs; `before` if that has not changed since the last call.
int32_t shim_stop_signal(int32_t process, int32_t before);
extern const int32_t SHIM_TERMINATE, SHIM_FINISH, SHIM_KILL, SHIM_CONTINUE;
void shim_signal(int32_t process, int32_t signal);

// rtnetlink(7): a descriptor that is readable when a link, an address or a route has changed; or -errno.
int32_t shim_network_watch(void);
// Drops what it says. Whether there was anything.
int32_t shim_network_changed(int32_t descriptor);
// Whether a network interface is there, up and running (netdevice(7)).
int32_t shim_interface_is_up(const char *name);
