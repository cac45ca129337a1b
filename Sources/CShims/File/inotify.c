// Changes of directories.
#include "shim_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t shim_inotify_create(void) {
    int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// One directory has one watch, which may serve both functions below.
enum { EITHER = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD };

int32_t shim_inotify_add(int32_t descriptor, int32_t directory, const char *path, int32_t follows_link) {
    uint32_t mask = EITHER | IN_CLOSE_WRITE;
    char opened[32];
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", directory);
    int watch = inotify_add_watch(descriptor, opened, mask);
    // Without /proc, only the path tells which directory it is.
    if (watch < 0 && errno == ENOENT) watch = inotify_add_watch(descriptor, path, follows_link ? mask : mask | IN_DONT_FOLLOW);
    return watch < 0 ? -errno : watch;
}

int32_t shim_inotify_add_names(int32_t descriptor, const char *path) {
    int watch = inotify_add_watch(descriptor, path, EITHER | IN_DELETE | IN_MOVED_FROM);
    return watch < 0 ? -errno : watch;
}

void shim_inotify_remove(int32_t descriptor, int32_t watch) { inotify_rm_watch(descriptor, watch); }

static int32_t kind_of(uint32_t mask) {
    if (mask & IN_Q_OVERFLOW) return SHIM_CHANGES_LOST;
    if (mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) return SHIM_CHANGED_SELF;
    if (mask & (IN_DELETE | IN_MOVED_FROM)) return SHIM_NAME_REMOVED;
    if (!(mask & IN_ISDIR)) return SHIM_CHANGED_FILE;
    return mask & IN_ATTRIB ? SHIM_CHANGED_PERMISSIONS : SHIM_CHANGED_DIRECTORY;
}

int32_t shim_inotify_read(
    int32_t descriptor, void (*visit)(int32_t watch, int32_t kind, const char *name, void *context), void *context) {
    _Alignas(struct inotify_event) char buffer[4096];
    ssize_t count = read(descriptor, buffer, sizeof buffer);
    const struct inotify_event *event;
    for (char *at = buffer; at < buffer + count; at += sizeof *event + event->len) {
        event = (const void *)at;
        visit(event->wd, kind_of(event->mask), event->len ? event->name : "", context);
    }
    return count > 0;
}
