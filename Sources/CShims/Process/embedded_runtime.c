// Replacements for weak functions of the Embedded Swift runtime (6.3), in the builds that use it.
#ifdef SHIM_EMBEDDED
#include "shim_memory.h"

#include <errno.h>
#include <malloc.h>

// All of Swift's allocations. The runtime's own function returns NULL when memory runs out, and the program traps.
void *swift_slowAlloc(size_t size, size_t alignment_mask) {
    size_t alignment = alignment_mask == SIZE_MAX ? 16 : alignment_mask + 1;
    return shim_allocate_aligned(size, alignment < sizeof(void *) ? sizeof(void *) : alignment);
}

// The runtime calls this where it has inlined its own swift_slowAlloc (in swift_allocObject, and so for every array). The
// name is weak in glibc.
int posix_memalign(void **pointer, size_t alignment, size_t size) {
    *pointer = shim_allocate_aligned(size, alignment);
    return *pointer ? 0 : ENOMEM;
}

#if UINTPTR_MAX > 0xffffffff
// The compiler treats swift_bridgeObjectRetain (called for every copied String) as a function that returns its argument,
// and may use the result instead of the argument. The runtime's own function returns the argument without its tag bits. A
// String of up to 15 bytes keeps its length and last character there, and then points nowhere. On aarch64 this happened
// as soon as a small string was copied from one struct to another.
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
