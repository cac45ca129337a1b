// The program's own streams, which it shares with other processes, and its last words. For the command line only.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Writes what a stream takes at once. Returns the bytes that were written; -EAGAIN where it takes none now: poll it for
// writing. The stream's own settings stay as they are (O_NONBLOCK belongs to the open file, which other processes share).
// A socket is told with each call not to wait. Anything else is polled first, and gets at most what a pipe takes as a whole
// (PIPE_BUF); where another process has filled it meanwhile, or a terminal stops in the middle, a timer ends the write after
// SHIM_WRITE_MILLISECONDS. Regular files are written to as they are.
int64_t shim_write_some(int32_t descriptor, const void *buffer, size_t length);
enum { SHIM_WRITE_MILLISECONDS = 20 };

// Gets the last words ready, for when nothing can be allocated any more: what is said when there is no memory
// (`memory_message`: ASCII without quotation marks; it has to stay where it is), whether an event is due on the standard output,
// and what writes what was said before (it must not allocate).
void shim_prepare_end(const char *memory_message, int32_t is_json, void (*write_waiting)(void));
// An upload begins; it has ended.
void shim_note_begin(void);
void shim_note_end(int32_t is_delivered);
// Says that there is no memory, and what is known of the uploads, as a sentence and an event.
void shim_tell_memory_end(int32_t exit_code);
// Lets a trap (a mistake in this program) end it with a sentence, an event, and exit code 1.
void shim_report_traps(void);
