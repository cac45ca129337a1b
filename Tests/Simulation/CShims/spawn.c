#include "../World/libc.h"
// What comes from here on calls the simulated machine, which has processes and no fork(2).
#define shim_spawn shim_spawn_by_fork
#include "../../../Sources/CShims/Process/spawn.c"
#undef shim_spawn

int32_t shim_spawn(const char *path, const char *const *arguments, int32_t input, int32_t output, int32_t answers) {
    (void)path;
    return simulated_spawn(arguments, input, output, answers);
}

void simulated_exchange_watchers_variables(simulated_watchers_variables *others) {
    simulated_watchers_variables own = {event, has_hangup};
    event = others->event;
    has_hangup = others->has_hangup;
    *others = own;
}
