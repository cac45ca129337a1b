// What Embedded Swift has no other way to reach: argv, getopt_long, signals, resource settings at start.
#pragma once
#include <stdint.h>

int32_t shim_argument_count(void);
const char *shim_argument(int32_t index);

// getopt_long(3) over the process's arguments from index `first` on. Options are added first; each has a value above
// 255. Names must be typed whole: an abbreviation such as "--password" for "--password-file" would take a secret as an
// argument, and would stop working with the next option that begins like it.
void shim_option_add(const char *name, int32_t takes_argument, int32_t value);
void shim_option_start(int32_t first);
enum { SHIM_OPTION_END = -1, SHIM_OPTION_UNKNOWN = -2, SHIM_OPTION_NEEDS_VALUE = -3, SHIM_OPTION_TAKES_NO_VALUE = -4 };
// The next option: the value of a long one, the letter of a short one, or one of the above.
int32_t shim_option_next(void);
// The argument of the option that shim_option_next returned, or NULL.
const char *shim_option_argument(void);
// The option as typed, without its value, that the last result below SHIM_OPTION_END was about.
const char *shim_option_offender(void);
// Index of the first argument that is not an option, once shim_option_next has returned -1.
int32_t shim_option_rest(void);

// What a program does for itself, and the library never: each changes the whole process.

// Opens /dev/null for standard streams that are closed. A file or socket must not get the number of one of them: texts would
// be written into it.
void shim_keep_standard_streams(void);
// Lets SIGINT and SIGTERM raise the event `descriptor`; a second one ends the process at once, whatever it waits for. One that
// was ignored when the process began (nohup(1), a shell's "&") stays ignored. SIGPIPE is ignored: a closed pipe is an error,
// not an end.
void shim_signals_raise_event(int32_t descriptor);
// The signal that came (SIGINT 2, SIGTERM 15), or 0.
int32_t shim_signal_received(void);
// A file that may not grow (RLIMIT_FSIZE) is an error of write(2), not an end.
void shim_ignore_file_size_signal(void);
// Can `count` more descriptors be opened (at most SHIM_OPEN_MOST)? 0 or -errno.
int32_t shim_can_open(int32_t count);
enum { SHIM_OPEN_MOST = 256 };
// exit(3)
_Noreturn void shim_exit(int32_t code);
// prctl(PR_SET_DUMPABLE, 0): no core dump, and no look into the memory for other processes of the user.
void shim_forbid_core_dumps(void);
