#include "shim_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// The start of a file in /proc as text; empty if /proc is not mounted.
static void read_proc(const char *path, char *text, size_t capacity) {
    ssize_t count = -1;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        count = read(descriptor, text, capacity - 1);
        close(descriptor);
    }
    text[count < 0 ? 0 : count] = 0;
}

int64_t shim_peak_memory_kib(void) {
    char text[4096];
    read_proc("/proc/self/status", text, sizeof text);
    const char *line = strstr(text, "VmHWM:");
    return line ? strtoll(line + strlen("VmHWM:"), NULL, 10) : 0;
}

int64_t shim_available_memory(void) {
    char text[1024];
    read_proc("/proc/meminfo", text, sizeof text);
    const char *line = strstr(text, "MemAvailable:");
    return line ? strtoll(line + strlen("MemAvailable:"), NULL, 10) * 1024 : -1;
}

int64_t shim_address_space(void) {
    char text[64];
    read_proc("/proc/self/statm", text, sizeof text);
    return strtoll(text, NULL, 10) * sysconf(_SC_PAGESIZE);
}

// The stack grows to this size at once: where the ceiling lets it grow no more, the process would end in SIGSEGV.
__attribute__((noinline)) static void grow_stack(void) {
    char stack[256 << 10];
    // Otherwise the compiler shortens the array.
    __asm__ volatile("" : : "r"(stack) : "memory");
    *(volatile char *)stack = 0;
}

int32_t shim_limit_memory(int64_t bytes) {
    grow_stack();
    // A second arena, as for the name lookup's thread, would reserve 64 MiB of address space.
    mallopt(M_ARENA_MAX, 1);
    if (shim_address_space() > bytes) return SHIM_CEILING_TOO_LOW;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) < 0) return -errno;
    // Keep a lower ceiling that was set from outside.
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > (rlim_t)bytes) limit.rlim_max = (rlim_t)bytes;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : -errno;
}

static void (*out_of_memory)(void);

void shim_on_out_of_memory(void (*handler)(void)) { out_of_memory = handler; }

void shim_out_of_memory(void) {
    if (out_of_memory) out_of_memory();
}

static void *checked(void *pointer, size_t size) {
    if (!pointer && size > 0) shim_out_of_memory();
    return pointer;
}

void *shim_allocate(size_t size) { return checked(malloc(size), size); }

void *shim_reallocate(void *pointer, size_t size) { return checked(realloc(pointer, size), size); }

void *shim_allocate_aligned(size_t size, size_t alignment) {
    return checked(memalign(alignment, size), size);
}

_Noreturn void shim_exit_at_once(int32_t code) { _exit(code); }
