// The condition of this machine, for a diagnosis. The library does not call these.
#pragma once
#include <stdint.h>

// Whether getrandom(2) would return at once.
int32_t shim_has_entropy(void);
// Whether files can be created in the directory (access(2)): 0 or -errno.
int32_t shim_may_create_in(const char *directory);
