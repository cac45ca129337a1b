#include "../World/libc.h"
#include "shim_output.h"

// The simulated streams take everything at once. All processes share the variables of Console, so that none of them may fail.
int64_t shim_write_some(int32_t descriptor, const void *buffer, size_t length) {
    while (simulated_write(descriptor, buffer, length) < 0 && errno == EINTR) {}
    return (int64_t)length;
}

// No simulated process runs out of memory.
void shim_prepare_end(const char *memory_message, int32_t is_json, void (*write_waiting)(void)) {
    (void)is_json, (void)write_waiting;
    free((void *)memory_message);
}
void shim_tell_memory_end(int32_t exit_code) { (void)exit_code; }
void shim_note_begin(void) {}
void shim_note_end(int32_t is_delivered) { (void)is_delivered; }
void shim_report_traps(void) {}
