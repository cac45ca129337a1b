// The memory ceiling of --max-memory, and the message when it is reached.
#pragma once
#include <stddef.h>
#include <stdint.h>

// setrlimit(2), RLIMIT_AS. Returns 0, -errno, or SHIM_CEILING_TOO_LOW if the process already exceeds it.
int32_t shim_limit_memory(int64_t bytes);
enum { SHIM_CEILING_TOO_LOW = 1 };

// The size of this process's address space, in bytes, or 0 if /proc is not mounted.
int64_t shim_address_space(void);

// VmHWM of this process in KiB (proc(5)), or 0 if /proc is not mounted.
int64_t shim_peak_memory_kib(void);
// MemAvailable of /proc/meminfo: what programs can still use, in bytes; -1 if it is not known.
int64_t shim_available_memory(void);

// Registers a function to call when an allocation by Swift or OpenSSL fails. It must neither allocate nor return, but end
// the process with _exit(2). Without it, a failed allocation is NULL (and Embedded Swift traps).
void shim_on_out_of_memory(void (*handler)(void));

// Calls that function, if there is one.
void shim_out_of_memory(void);

// malloc(3), realloc(3) and posix_memalign(3) that call the handler instead of failing.
void *shim_allocate(size_t size);
void *shim_reallocate(void *pointer, size_t size);
void *shim_allocate_aligned(size_t size, size_t alignment);

// _exit(2): ends the process without running anything that could allocate.
_Noreturn void shim_exit_at_once(int32_t code);
