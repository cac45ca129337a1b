#include "../World/libc.h"
// What comes from here on calls the simulated machine, which has one processor: digests are computed by the one thread, so
// that a seed always gives the same run.
#include "../../../Sources/CShims/File/hashing.c"
