// What the functions that fail have in common: see failing.c.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Ways to fail that are no error numbers.
enum {
    SHORT = 100000, // does less than was asked: one byte
    END,            // says that there is no more
    TRUNCATED,      // 0 from a function of OpenSSL's that reads or writes
    FAILURE,        // any other of OpenSSL's or zlib's
    TOUCHED,        // works, after only the recording's status (ctime) was changed
    WAYS_MOST = 12
};

// Not for the program: it may have functions of these names.
#pragma GCC visibility push(hidden)

// The function of the library after this one.
void *next(const char *name);
#define NEXT(name) ((typeof(&name))next(#name))

// Counts a call. Returns how it is to fail, or 0.
int way_of(const char *function, const int *ways, uintptr_t caller, const char *about, int is_memory);

const char *path_of(int descriptor, char *path, size_t capacity);

#pragma GCC visibility pop

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define WAY_ABOUT(function, about, ...) \
    way_of(function, (const int[WAYS_MOST]){__VA_ARGS__}, CALLER, about, 0)
#define WAY(function, ...) WAY_ABOUT(function, "", __VA_ARGS__)
#define WAY_OF_FILE(function, descriptor, ...) \
    WAY_ABOUT(function, path_of(descriptor, (char[256]){0}, 256), __VA_ARGS__)
#define FAIL(way, result) return (errno = (way), (result))
