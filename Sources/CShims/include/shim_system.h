// Files, clocks, randomness, terminals.
#pragma once
#include <stddef.h>
#include <stdint.h>

// What fstat(2) says of an open file, in widths that do not depend on the architecture.
typedef struct {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t modified_seconds;
    int64_t modified_nanoseconds;
    int32_t kind;
} shim_file_status;

enum { SHIM_KIND_REGULAR = 0, SHIM_KIND_DIRECTORY = 1, SHIM_KIND_FIFO = 2, SHIM_KIND_DEVICE = 3 };

// open(2) for reading, close-on-exec. Unless it may block, a FIFO without a writer does not hang it.
int32_t shim_open_for_reading(const char *path, int32_t may_block);
int32_t shim_close(int32_t descriptor);
int32_t shim_file_status_of(int32_t descriptor, shim_file_status *status);
int64_t shim_pread(int32_t descriptor, void *buffer, size_t length, int64_t offset);
int64_t shim_read(int32_t descriptor, void *buffer, size_t length);
// posix_fadvise(2), POSIX_FADV_SEQUENTIAL: the kernel reads twice as far ahead as otherwise.
void shim_advise_sequential(int32_t descriptor);

// clock_gettime(2), CLOCK_MONOTONIC.
int64_t shim_monotonic_milliseconds(void);
// The local calendar date, as localtime_r(3) sees it.
void shim_local_date(int32_t *year, int32_t *month, int32_t *day);
// getrandom(2). Never returns fewer bytes than asked for; below zero if the kernel has no randomness.
int32_t shim_random(void *buffer, size_t length);

// write(2) until all is written, or a signal has come.
int32_t shim_write_all(int32_t descriptor, const void *buffer, size_t length);
int32_t shim_is_terminal(int32_t descriptor);
// Columns of the terminal behind the descriptor, or 0 if it does not say.
int32_t shim_terminal_columns(int32_t descriptor);
// getenv(3)
const char *shim_environment(const char *name);
// A line for people about -result, such as "No such file or directory" (strerror(3)).
const char *shim_error_text(int32_t error);

extern const int32_t SHIM_EAGAIN, SHIM_EINVAL, SHIM_EIO, SHIM_ENOENT, SHIM_ENOTDIR;
