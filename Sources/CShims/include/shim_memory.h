// The memory ceiling: what --max-memory sets, and what is said when it is reached.
#pragma once
#include <stddef.h>
#include <stdint.h>

// setrlimit(2), RLIMIT_AS. Returns 0, -errno, or SHIM_CEILING_TOO_LOW if the process is over it already.
int32_t shim_limit_memory(int64_t bytes);
enum { SHIM_CEILING_TOO_LOW = 1 };

// VmHWM of this process in KiB (proc(5)), 0 where /proc is not mounted.
int64_t shim_peak_memory_kib(void);

// Registers a function that is called when an allocation of Swift's or OpenSSL's fails. It must not allocate and must not
// return; _exit(2) is what it is for. Without one, an allocation that fails is NULL (and Embedded Swift traps).
void shim_on_out_of_memory(void (*handler)(void));

// Calls it, if there is one.
void shim_out_of_memory(void);

// malloc(3), realloc(3) and posix_memalign(3) that call the handler before they would fail.
void *shim_allocate(size_t size);
void *shim_reallocate(void *pointer, size_t size);
void *shim_allocate_aligned(size_t size, size_t alignment);

// _exit(2): ends the process without running anything that could allocate.
_Noreturn void shim_exit_at_once(int32_t code);
