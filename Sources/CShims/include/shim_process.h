// What Embedded Swift cannot reach otherwise: argv, getopt_long, signals, and process settings.
#pragma once
#include <stddef.h>
#include <stdint.h>

int32_t shim_argument_count(void);
const char *shim_argument(int32_t index);

// getopt_long(3) over the process's arguments from index `first` on. Options are added first, each with a value above 255.
// Names cannot be abbreviated: "--password" for "--password-file" would invite a secret as an argument, and an abbreviation
// would stop working when another option with the same beginning is added.
// `letter` is the short form, or 0. `takes_argument` is 2 if that can be left out.
void shim_option_add(const char *name, int32_t letter, int32_t takes_argument, int32_t value);
// The option "no-NAME", which takes no argument.
void shim_option_add_opposite(const char *name, int32_t value);
void shim_option_start(int32_t first);
enum { SHIM_OPTION_END = -1, SHIM_OPTION_UNKNOWN = -2, SHIM_OPTION_NEEDS_VALUE = -3, SHIM_OPTION_TAKES_NO_VALUE = -4 };
// The next option: the value of a long one, the letter of a short one, or one of the above constants.
int32_t shim_option_next(void);
// The argument of the option that shim_option_next returned, or NULL.
const char *shim_option_argument(void);
// The option that caused the last result below SHIM_OPTION_END, as typed, without its value.
const char *shim_option_offender(void);
// Index of the first argument that is not an option, once shim_option_next has returned -1.
int32_t shim_option_rest(void);

// Changes to the whole process. Only the program makes them, never the library.

// Opens /dev/null for closed standard streams. Otherwise a file or socket could get the number of one, and output would be
// written to it.
void shim_keep_standard_streams(void);
// Makes SIGINT and SIGTERM raise the event `descriptor`. A second one ends the process at once, whatever it waits for. A signal
// that was ignored when the process started (nohup(1), a shell's "&") stays ignored. SIGPIPE is ignored, so that a closed pipe
// is an ordinary error.
void shim_signals_raise_event(int32_t descriptor);
// Makes SIGUSR1 raise the event `descriptor`.
void shim_finish_signal_raises_event(int32_t descriptor);
// SIGUSR1 if it was received, or 0.
int32_t shim_finish_signal_received(void);
// The signal that was received (SIGINT 2, SIGTERM 15), or 0.
int32_t shim_signal_received(void);
// Makes the file size limit (RLIMIT_FSIZE) an ordinary error of write(2).
void shim_ignore_file_size_signal(void);
// Writing to a closed pipe fails with EPIPE instead.
void shim_ignore_broken_pipe_signal(void);
// Whether `count` more descriptors can be opened (at most SHIM_OPEN_MOST): 0 or -errno.
int32_t shim_can_open(int32_t count);
// Whether this much more memory can be had below the limit of the address space (RLIMIT_AS): 0 or -errno.
int32_t shim_can_map(int64_t length);
enum { SHIM_OPEN_MOST = 256 };
// gethostname(2) into a buffer, which ends with a NUL. 0 or -errno.
int32_t shim_host_name(char *buffer, size_t capacity);
// exit(3)
_Noreturn void shim_exit(int32_t code);
// Takes the time zone from /etc/TZ (OpenWrt, Buildroot) where neither $TZ nor /etc/localtime has it. The C library does not know it.
void shim_use_etc_tz(void);
// prctl(PR_SET_DUMPABLE, 0): no core dumps, and the user's other processes cannot read the memory.
void shim_forbid_core_dumps(void);
