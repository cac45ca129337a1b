// What takes the place of weak functions of the Embedded Swift runtime (6.3), in the builds that use it.
#ifdef SHIM_EMBEDDED
#include "shim_memory.h"

#include <errno.h>
#include <malloc.h>

// Every allocation of Swift's. The runtime's own returns NULL when there is no memory, and the program traps.
void *swift_slowAlloc(size_t size, size_t alignment_mask) {
    size_t alignment = alignment_mask == SIZE_MAX ? 16 : alignment_mask + 1;
    return shim_allocate_aligned(size, alignment < sizeof(void *) ? sizeof(void *) : alignment);
}

// Where the runtime has its own swift_slowAlloc inlined (swift_allocObject, and so every array), this is what it calls; in
// glibc the name is weak.
int posix_memalign(void **pointer, size_t alignment, size_t size) {
    *pointer = shim_allocate_aligned(size, alignment);
    return *pointer ? 0 : ENOMEM;
}

#if UINTPTR_MAX > 0xffffffff
// The compiler calls swift_bridgeObjectRetain (with every String that is copied) as a function that returns its
// argument, and may go on with the result in the argument's place. The runtime's own returns the argument without its
// tag bits: a String of up to 15 bytes, which keeps its length and last character there, then points nowhere. On
// aarch64 this happened as soon as a small string was copied from one struct to another.
void *swift_retain_n(void *object, uint32_t count);

static const uintptr_t is_immortal = (uintptr_t)1 << 63;
static const uintptr_t pointer_bits = 0x8ffffffffffffff8;

void *swift_bridgeObjectRetain_n(void *bridge_object, uint32_t count) {
    uintptr_t bits = (uintptr_t)bridge_object;
    if (!(bits & is_immortal)) swift_retain_n((void *)(bits & pointer_bits), count);
    return bridge_object;
}

void *swift_bridgeObjectRetain(void *bridge_object) { return swift_bridgeObjectRetain_n(bridge_object, 1); }
#endif
#endif
