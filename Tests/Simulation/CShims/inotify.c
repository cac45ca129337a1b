#include "../World/libc.h"
// What comes from here on calls the simulated machine.
#include "../../../Sources/CShims/File/inotify.c"
