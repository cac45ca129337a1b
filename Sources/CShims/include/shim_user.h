// Working as another user.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The owner and the group of the entry itself (lstat(2)) or, if that is a link of root's, of what it leads to (stat(2)): 0 or -errno.
int32_t shim_owner(const char *path, uint32_t *user, uint32_t *group);

// Makes this process, started by root, one of that user for good: with the user's groups from /etc/passwd and /etc/group, with `group`
// where the user is in no file, and with $HOME. Of root's capabilities only CAP_LEASE stays, as in the service. Writes the user's name
// into a buffer: empty if there is none. 0, or -errno of the call that failed; then the process must end.
int32_t shim_become(uint32_t user, uint32_t group, char *name, size_t capacity);
