// Monitoring of a watcher: its lock, the service manager, and the program that it tells about events. For the command
// line only.
#pragma once
#include <stddef.h>
#include <stdint.h>

// fcntl(2), F_SETLK: locks an open file for this process, without waiting. 0 or -errno. The kernel releases it when the process
// ends, or closes any descriptor of that file.
int32_t shim_hold(int32_t descriptor);
// The process that holds that lock (F_GETLK), or 0; -errno. Takes no lock, so that two that ask do not find each other.
int64_t shim_holder(int32_t descriptor);
// fchmod(2), 0644: a file for everybody to read.
int32_t shim_let_all_read(int32_t descriptor);

// Sends a message to the service manager's socket (sd_notify(3)): a path, or an abstract name after "@". Never waits. 0 or -errno.
int32_t shim_notify(const char *socket_name, const char *message);
int64_t shim_process_id(void);
// CLOCK_MONOTONIC in microseconds.
int64_t shim_monotonic_microseconds(void);

// Whether the path can be executed (access(2)): 0 or -errno.
int32_t shim_can_execute(const char *path);
// Starts a program without arguments (posix_spawn(3)), in a process group of its own, with nothing from this process but its working
// directory: the environment is `variables` (each ends with a NUL; `length` in bytes), standard input is /dev/null, output goes to
// standard error, other descriptors are closed, no signal is blocked or ignored. Returns its process ID or -errno. `ended` becomes
// readable when it ends; -1 if the kernel cannot say that (before 5.3).
int32_t shim_start_program(const char *path, const char *variables, size_t length, int32_t *ended);
// Whether it has ended: 1 or 0. `code` is then its exit code, or 128 and the signal.
int32_t shim_program_ended(int32_t process, int32_t *code);
// Sends SIGTERM to its process group, or SIGKILL.
void shim_end_program(int32_t process, int32_t at_once);
