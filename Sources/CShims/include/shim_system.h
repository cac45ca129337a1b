// Files, clocks, randomness, terminals.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// Required wherever Swift imports this header: on 32-bit architectures, sizes above 2 GiB and dates after 2038 would be
// truncated. Compile with -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 there (Swift: -Xcc), as the Makefile does.
_Static_assert(sizeof(off_t) == 8, "off_t must have 64 bits: -D_FILE_OFFSET_BITS=64");
_Static_assert(sizeof(time_t) == 8, "time_t must have 64 bits: -D_TIME_BITS=64");

// The result of fstat(2), in types with the same width on every architecture.
typedef struct {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    // st_blocks, in bytes: what it takes on the disk, less than its size if it is sparse.
    int64_t allocated;
    int64_t modified_seconds;
    int64_t modified_nanoseconds;
    // st_ctim: the last change of the content or of the inode, such as a new name.
    int64_t changed_seconds;
    int64_t changed_nanoseconds;
    int32_t kind;
    // Permission bits, such as 0600.
    uint32_t mode;
    // The number of hard links.
    uint64_t links;
} shim_file_status;

enum { SHIM_KIND_REGULAR = 0, SHIM_KIND_DIRECTORY = 1, SHIM_KIND_FIFO = 2, SHIM_KIND_DEVICE = 3 };

// open(2) for reading, close-on-exec. Without `may_block`, a FIFO without a writer does not block it; with it, a signal that asks the
// process to end does so, because nothing else happens meanwhile.
int32_t shim_open_for_reading(const char *path, int32_t may_block);
int32_t shim_close(int32_t descriptor);
int32_t shim_fstat(int32_t descriptor, shim_file_status *status);
// The ID of the file system of an open file or directory, such as the serial number of a stick; 0 if it has none. Where
// possible it is the same at every mount, while device numbers can change, and are used again for the next stick.
uint64_t shim_file_system_id(int32_t descriptor);
// The type of that file system (fstatfs(2), f_type); 0 if it is not known.
uint64_t shim_file_system_type(int32_t descriptor);
int64_t shim_pread(int32_t descriptor, void *buffer, size_t length, int64_t offset);
int64_t shim_read(int32_t descriptor, void *buffer, size_t length);
// posix_fadvise(2), POSIX_FADV_SEQUENTIAL: the kernel doubles its read-ahead.
void shim_advise_sequential(int32_t descriptor);
// Where the hole begins that a file ends with, to which nothing was ever written (lseek(2), SEEK_HOLE); its size if there is none, or the
// file system cannot tell.
int64_t shim_written_length(int32_t descriptor, int64_t size);

// clock_gettime(2), CLOCK_MONOTONIC.
int64_t shim_monotonic_milliseconds(void);
// clock_gettime(2), CLOCK_REALTIME: seconds since 1970 by the machine's clock.
int64_t shim_unix_seconds(void);
int64_t shim_unix_milliseconds(void);
// The local calendar date and time of a time in seconds since 1970 (localtime_r(3)). Months and days count from 1.
typedef struct {
    int32_t year, month, day, hour, minute;
} shim_local_time;
void shim_local_time_of(int64_t seconds, shim_local_time *time);
// The minutes since Sunday, 00:00, of a time in seconds since 1970 (localtime_r(3)).
int32_t shim_local_week_minute(int64_t seconds);
// getrandom(2). Never returns fewer bytes than requested; negative if the kernel has no randomness.
int32_t shim_random(void *buffer, size_t length);

// write(2) until everything is written or a signal arrives.
int32_t shim_write_all(int32_t descriptor, const void *buffer, size_t length);
int32_t shim_is_terminal(int32_t descriptor);
// The columns and rows of the terminal, or 0 if unknown.
void shim_terminal_size(int32_t descriptor, int32_t *columns, int32_t *rows);
// getenv(3)
const char *shim_environment(const char *name);
// Whether the error number says that a file system is out of reach as a whole: a server or a device that is not there.
int32_t shim_is_disconnection(int32_t error);
// The text for an error number, such as "No such file or directory" (strerror(3)).
const char *shim_error_text(int32_t error);

extern const int32_t SHIM_EAGAIN, SHIM_EINVAL, SHIM_ENOENT, SHIM_ENOTDIR, SHIM_ENOMEM, SHIM_EEXIST;
extern const int32_t SHIM_ENETUNREACH, SHIM_EADDRNOTAVAIL, SHIM_EFBIG, SHIM_EMFILE, SHIM_ENFILE, SHIM_EPERM, SHIM_EACCES;
extern const int32_t SHIM_ELOOP, SHIM_ENAMETOOLONG, SHIM_EXDEV, SHIM_EOPNOTSUPP, SHIM_ENOSPC, SHIM_EDQUOT, SHIM_EIO;
extern const int32_t SHIM_ECONNREFUSED, SHIM_EHOSTUNREACH, SHIM_ETIMEDOUT;
extern const int32_t SHIM_ECONNRESET, SHIM_EPIPE, SHIM_EROFS;

// Calls for the state directory. Each returns 0 (or a descriptor), or -errno.

// mkdir(2), mode 0700.
int32_t shim_make_directory(const char *path);
// open(2) for reading and writing, close-on-exec. Unless it must exist, the file is created with mode 0600 whatever the umask.
// SHIM_NOT_REGULAR if it is not a regular file.
enum { SHIM_OPEN_CREATE = 0, SHIM_OPEN_TRUNCATE = 1, SHIM_OPEN_EXISTING = 2, SHIM_NOT_REGULAR = -100000 };
int32_t shim_open_for_writing(const char *path, int32_t how);
// pwrite(2) until everything is written.
int32_t shim_write_at(int32_t descriptor, const void *buffer, size_t length, int64_t offset);
// ftruncate(2). Added bytes are zero.
int32_t shim_set_length(int32_t descriptor, int64_t length);
// fsync(2) of a descriptor, and of a directory, so that a new name in it survives a power cut.
int32_t shim_sync(int32_t descriptor);
int32_t shim_sync_directory(const char *path);
int32_t shim_rename(const char *from, const char *to);
// stat(2): of what the path leads to.
int32_t shim_stat(const char *path, shim_file_status *status);
// lstat(2): of the entry itself; a link is a device here.
int32_t shim_lstat(const char *path, shim_file_status *status);
int32_t shim_unlink(const char *path);
// flock(2), exclusive and without waiting. -EAGAIN if another process holds the lock; -ENOENT if the file has been removed.
int32_t shim_lock(int32_t descriptor);
// dup(2): another descriptor of the same open file description, with its lock.
int32_t shim_duplicate(int32_t descriptor);
// Ends it, also for a process that has been forked and has not closed its copy yet.
void shim_unlock(int32_t descriptor);
// Whether another open file description has such a lock.
int32_t shim_is_locked(int32_t descriptor);
// Calls `visit` with the name of each entry of the directory (readdir(3)), except "." and "..".
int32_t shim_visit_directory(const char *path, void (*visit)(const char *name, void *context), void *context);
// The same for an open directory with files to send, and the kind of each entry; a link is a device here. `status` is that of the
// directory.
int32_t shim_list_directory(
    int32_t directory, shim_file_status *status,
    void (*visit)(const char *name, int32_t kind, void *context), void *context);

// The path of an open file, as the kernel knows it now (/proc/self/fd). -ENAMETOOLONG if `size` bytes do not suffice.
int32_t shim_path_of(int32_t descriptor, char *path, size_t size);

// A read lease that ends at once, because one that is held stops a recorder that opens the file (fcntl(2), F_SETLEASE): 0 if no process
// has it open for writing, or mapped, -EAGAIN if one has. Other errors say that it cannot be told, for now (ENOMEM) or at all: on network
// file systems (EINVAL), and for another user's file without CAP_LEASE (EACCES).
int32_t shim_writers(int32_t descriptor);

// Calls for what is in an open directory, or below it. Each returns 0 (or a descriptor), or -errno.

// A directory for these calls (open(2), O_PATH). A link is followed.
int32_t shim_open_directory(const char *path);
// Opens what a directory contains, or a directory below it: for these calls, or for reading without waiting. No part of the path may be
// a link (ELOOP) or lead out of the directory (EXDEV); other file systems may be mounted there. openat2(2).
int32_t shim_open_below(int32_t directory, const char *path, int32_t for_reading);
// The same where there is no openat2(2): openat(2) for each part of the path.
int32_t shim_walk_below(int32_t directory, const char *path, int32_t for_reading);
// fstatat(2): of the entry itself; a link is a device here.
int32_t shim_status_at(int32_t directory, const char *name, shim_file_status *status);
int32_t shim_unlink_at(int32_t directory, const char *name);
// fsync(2), as `shim_sync_directory`.
int32_t shim_sync_open_directory(int32_t directory);

// Calls for the removal of delivered recordings.

// renameat2(2) with RENAME_NOREPLACE, or link(2) and unlink(2) where that is not supported: then the old name must be one that nobody else
// uses. -EEXIST if there is something of the new name; -EOPNOTSUPP if the file system can do neither.
int32_t shim_rename_at(int32_t directory, const char *from, int32_t target, const char *to);
// The same for a name that others use, and a new one that nobody else does.
int32_t shim_hide_at(int32_t directory, const char *name, const char *hidden);
// A write lease (fcntl(2), F_SETLEASE): no other process has the file open. One that opens it waits until the lease ends, for at most
// /proc/sys/fs/lease-break-time. -EAGAIN if somebody has it open; -EACCES for another user's file without CAP_LEASE; other errors where
// there are no leases, as on network file systems. It ends with the descriptor, too.
int32_t shim_begin_lease(int32_t descriptor);
// Whether it is still held, and nobody has wanted to open the file since.
int32_t shim_holds_lease(int32_t descriptor);
void shim_end_lease(int32_t descriptor);

// statvfs(3): the bytes that are free for this user on the file system of the path, or -errno.
int64_t shim_free_space(const char *path);
// statvfs(3): how many more files this user can create there (inodes), or -errno. INT64_MAX if there is no such limit.
int64_t shim_free_files(const char *path);
// statfs(2): the type of the file system of the path; 0 if it is not known.
uint64_t shim_file_system_type_at(const char *path);
// realpath(3): the path without links. 0 or -errno.
int32_t shim_real_path(const char *path, char *buffer, size_t capacity);

// getcwd(3) into a buffer. 0 or -errno.
int32_t shim_working_directory(char *buffer, size_t capacity);
// Whether geteuid(2) is root.
int32_t shim_is_root(void);
// Whether an open file belongs to root or to the effective user.
int32_t shim_is_owned_by_root_or_user(int32_t descriptor);
