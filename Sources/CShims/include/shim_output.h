// The program's standard streams, which it shares with other processes, and its last message. For the command line only.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Writes what a stream accepts at once. Returns the number of bytes written, or -EAGAIN if it accepts none now: poll it for
// writing. The stream's settings do not change, because O_NONBLOCK belongs to the open file, which other processes share.
// For a socket, each call says not to wait. Anything else is polled first, and gets at most what a pipe accepts in one piece
// (PIPE_BUF). If another process fills the pipe in the meantime, or a terminal stops in the middle, a timer ends the write after
// SHIM_WRITE_MILLISECONDS. Regular files are written directly.
int64_t shim_write_some(int32_t descriptor, const void *buffer, size_t length);
enum { SHIM_WRITE_MILLISECONDS = 20 };

// Prepares the last message, for when nothing can be allocated any more: the text when memory runs out (`memory_message`,
// ASCII without quotation marks, which must stay in place), whether to write an event to standard output, and a function that
// writes the pending output (it must not allocate).
void shim_prepare_end(const char *memory_message, int32_t is_json, void (*write_waiting)(void));
// An upload starts; an upload has ended.
void shim_note_begin(void);
void shim_note_end(int32_t is_delivered);
// Reports that memory has run out, and the state of the uploads, as a message and an event.
void shim_tell_memory_end(int32_t exit_code);
// Makes a trap (a bug in this program) end it with a message, an event, and exit code 1.
void shim_report_traps(void);
