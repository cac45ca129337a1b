#include "shim_machine_checks.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

int32_t shim_has_entropy(void) {
    char byte;
    return getrandom(&byte, 1, GRND_NONBLOCK) == 1;
}

int32_t shim_may_create_in(const char *directory) { return access(directory, W_OK | X_OK) == 0 ? 0 : -errno; }
