// What can be broken on purpose.
#include "world.hpp"

namespace world {

std::string canary;

}

using namespace world;

extern "C" {

static const char *const canaries = "server-changes-a-bit disk-forgets-syncs clock-stands-still locks-do-nothing somebody-poses "
                                    "locks-are-not-waited-for closes-come-first complete-uploads-look-new rewrites-leave-no-trace "
                                    "starts-look-the-same fat-is-taken-for-ext4 journals-are-not-synced exchanges-leave-no-trace "
                                    "nobody-asks leases-see-nobody ballast-is-hollow recorders-are-not-seen "
                                    "watchers-forget files-are-not-listed waits-end-early spares-look-unused";
const char *world_canaries(void) { return canaries; }

int32_t world_set_canary(const char *name) {
    std::string all = std::string(" ") + canaries + " ";
    if (all.find(std::string(" ") + name + " ") == std::string::npos) return 0;
    canary = name;
    return 1;
}

}
