// Loaded in front of a program (LD_PRELOAD), counts its fallible calls and makes the n-th of them fail, once.
//
// What counts: calls from the program's own code, after main has begun, of the functions below; of malloc and similar functions
// also calls from libssl, libcrypto and libz. Calls of Swift's runtime and of the C library itself do not count.
//
//     CALL_FAILURES_FUNCTION  the function whose calls are counted; "memory" for malloc, calloc and realloc
//     CALL_FAILURES_NUMBER    which of its calls fails, from 1
//     CALL_FAILURES_VARIANT   in which of its ways, from 0
//     CALL_FAILURES_REPORT    file for a line about the call that failed: number, function, way, count of ways, what it
//                             was about; not made if no call was reached
//     CALL_FAILURES_TRACE     file for such a line about every call of any function
//     CALL_FAILURES_CANARY    what the program is made to do wrong there: see misbehave()
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

typedef struct { uintptr_t start, end; } range;

static struct {
    range program, libraries[3];
    int is_memory, variant;
    long number;
    const char *function, *report, *trace, *canary;
} settings;

static atomic_int has_begun;
static atomic_long counted;

// MARK: The origin of a call

static void widen(range *range, const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;
        if (!range->start || start < range->start) range->start = start;
        if (end > range->end) range->end = end;
    }
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *count) {
    (void)size;
    static const char *const names[] = {"/libssl.so", "/libcrypto.so", "/libz.so"};
    if ((*(int *)count)++ == 0) widen(&settings.program, info); // The program itself comes first.
    for (int i = 0; i < 3; i++) {
        if (strstr(info->dlpi_name, names[i])) widen(&settings.libraries[i], info);
    }
    return 0;
}

static int is_within(range range, uintptr_t address) { return address >= range.start && address < range.end; }

static int is_ours(uintptr_t caller) {
    if (is_within(settings.program, caller)) return 1;
    for (int i = 0; settings.is_memory && i < 3; i++) {
        if (is_within(settings.libraries[i], caller)) return 1;
    }
    return 0;
}

// MARK: The beginning

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int (*program_main)(int, char **, char **);

static int begin(int count, char **arguments, char **environment) {
    int objects = 0;
    dl_iterate_phdr(visit_object, &objects);
    const char *number = setting("CALL_FAILURES_NUMBER"), *variant = setting("CALL_FAILURES_VARIANT");
    settings.function = setting("CALL_FAILURES_FUNCTION");
    settings.is_memory = settings.function && strcmp(settings.function, "memory") == 0;
    settings.number = number ? atol(number) : 0;
    settings.variant = variant ? atoi(variant) : 0;
    settings.report = setting("CALL_FAILURES_REPORT");
    settings.trace = setting("CALL_FAILURES_TRACE");
    settings.canary = setting("CALL_FAILURES_CANARY");
    atomic_store(&has_begun, 1);
    return program_main(count, arguments, environment);
}

#define NEXT(name) ((typeof(&name))next(#name))
static void *next(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) abort();
    return symbol;
}

int __libc_start_main(
    int (*main)(int, char **, char **), int count, char **arguments, void (*init)(void), void (*fini)(void),
    void (*rtld_fini)(void), void *stack_end) {
    program_main = main;
    return ((typeof(&__libc_start_main))next("__libc_start_main"))(
        begin, count, arguments, init, fini, rtld_fini, stack_end);
}

// MARK: Reports (with raw system calls, which are not intercepted)

static void write_line(const char *path, const char *line) {
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    syscall(SYS_write, descriptor, line, strlen(line));
    syscall(SYS_close, descriptor);
}

static const char *name_of(int way) {
    switch (way) {
    case 0: return "none";
    case SHORT: return "short";
    case END: return "end";
    case TRUNCATED: return "truncated";
    case FAILURE: return "failure";
    case TOUCHED: return "touched";
    case EAI_AGAIN: return "EAI_AGAIN";
    case EAI_MEMORY: return "EAI_MEMORY";
    case EAI_FAIL: return "EAI_FAIL";
    case EAI_NONAME: return "EAI_NONAME";
    default: return strerrorname_np(way);
    }
}

static void tell(const char *path, long number, const char *function, int way, int ways, const char *about) {
    char line[1024];
    snprintf(line, sizeof line, "%ld\t%s\t%s\t%d\t%s\n", number, function, name_of(way), ways, about);
    write_line(path, line);
}

// What a mistaken program would do: the harness has to notice it.
static void misbehave(void) {
    const char *recording = setting("CALL_FAILURES_RECORDING"), *state = setting("CALL_FAILURES_STATE");
    const char *const canary = settings.canary;
    char path[1024];
    int code = 4;
    if (strcmp(canary, "claim") == 0) _exit(0);
    if (strcmp(canary, "signal") == 0) syscall(SYS_kill, getpid(), SIGKILL);
    if (strcmp(canary, "hang") == 0) for (;;) syscall(SYS_pause);
    if (strcmp(canary, "silent") == 0) _exit(4);
    if (strcmp(canary, "internal") == 0) code = 1;
    if (strcmp(canary, "other") == 0) code = 9;
    if (strcmp(canary, "spoil") == 0 && recording) unlink(recording);
    if (strcmp(canary, "litter") == 0 && state) {
        snprintf(path, sizeof path, "%s/00000000.new", state);
        write_line(path, "");
    }
    if (strcmp(canary, "forget") == 0 && state) {
        DIR *directory = opendir(state);
        for (struct dirent *entry; directory && (entry = readdir(directory));) {
            snprintf(path, sizeof path, "%s/%s", state, entry->d_name);
            unlink(path);
        }
    }
    const char *words = strcmp(canary, "tell") == 0 ? "the password is call-failures-password" : "it is not connected";
    char sentence[128];
    int length = snprintf(sentence, sizeof sentence, "gighive-upload: %s.\n", words);
    syscall(SYS_write, 2, sentence, length);
    _exit(code);
}

// Counts a call. Returns how it is to fail, or 0.
static int way_of(const char *function, const int *ways, uintptr_t caller, const char *about, int is_memory) {
    if (!atomic_load(&has_begun) || is_memory != settings.is_memory || !is_ours(caller)) return 0;
    int count = 0;
    while (ways[count]) count++;
    if (settings.trace) tell(settings.trace, 0, function, ways[0], count, about);
    if (!is_memory && (!settings.function || strcmp(settings.function, function))) return 0;
    long number = atomic_fetch_add(&counted, 1) + 1;
    if (number != settings.number) return 0;
    int way = settings.variant < count ? ways[settings.variant] : 0;
    if (settings.report) tell(settings.report, number, function, way, count, about);
    if (way && settings.canary) misbehave();
    return way;
}

static const char *path_of(int descriptor, char *path, size_t capacity) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, capacity - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
}

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define WAY_ABOUT(function, about, ...) \
    way_of(function, (const int[WAYS_MOST]){__VA_ARGS__}, CALLER, about, 0)
#define WAY(function, ...) WAY_ABOUT(function, "", __VA_ARGS__)
#define WAY_OF_FILE(function, descriptor, ...) \
    WAY_ABOUT(function, path_of(descriptor, (char[256]){0}, 256), __VA_ARGS__)
#define FAIL(way, result) return (errno = (way), (result))

// MARK: Files

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    int way = flags & O_CREAT ? WAY_ABOUT("open", path, EIO, EINTR, ENOSPC, EMFILE, EROFS)
                              : WAY_ABOUT("open", path, EIO, EINTR, EMFILE, EACCES);
    if (way) FAIL(way, -1);
    return NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int close(int descriptor) {
    int way = WAY_OF_FILE("close", descriptor, EIO, EINTR);
    int result = NEXT(close)(descriptor); // Gone in any case.
    if (way) FAIL(way, -1);
    return result;
}

int fstat(int descriptor, struct stat *status) {
    char path[256];
    path_of(descriptor, path, sizeof path);
    int is_recording = strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".mp4") == 0;
    int way = is_recording ? WAY_ABOUT("fstat", path, EIO, ENOMEM, TOUCHED) : WAY_ABOUT("fstat", path, EIO, ENOMEM);
    if (way == TOUCHED) {
        if (NEXT(fstat)(descriptor, status) == 0) syscall(SYS_fchmod, descriptor, status->st_mode & 07777);
    } else if (way) {
        FAIL(way, -1);
    }
    return NEXT(fstat)(descriptor, status);
}

int stat(const char *path, struct stat *status) {
    int way = WAY_ABOUT("stat", path, EACCES, ENOENT);
    if (way) FAIL(way, -1);
    return NEXT(stat)(path, status);
}

int utimensat(int directory, const char *path, const struct timespec times[2], int flags) {
    int way = WAY_ABOUT("utimensat", path, EPERM, EROFS);
    if (way) FAIL(way, -1);
    return NEXT(utimensat)(directory, path, times, flags);
}

int futimens(int descriptor, const struct timespec times[2]) {
    int way = WAY_OF_FILE("futimens", descriptor, EPERM, EROFS);
    if (way) FAIL(way, -1);
    return NEXT(futimens)(descriptor, times);
}

int dup(int descriptor) {
    int way = WAY("dup", EMFILE);
    if (way) FAIL(way, -1);
    return NEXT(dup)(descriptor);
}

int fchmod(int descriptor, mode_t mode) {
    int way = WAY_OF_FILE("fchmod", descriptor, EIO, EPERM);
    if (way) FAIL(way, -1);
    return NEXT(fchmod)(descriptor, mode);
}

ssize_t read(int descriptor, void *buffer, size_t length) {
    int way = WAY_OF_FILE("read", descriptor, EIO, EINTR, SHORT);
    if (way == SHORT) return NEXT(read)(descriptor, buffer, length ? 1 : 0);
    if (way) FAIL(way, -1);
    return NEXT(read)(descriptor, buffer, length);
}

ssize_t pread(int descriptor, void *buffer, size_t length, off_t offset) {
    int way = WAY_OF_FILE("pread", descriptor, EIO, EINTR, SHORT, END);
    if (way == END) return 0;
    if (way == SHORT) return NEXT(pread)(descriptor, buffer, length ? 1 : 0, offset);
    if (way) FAIL(way, -1);
    return NEXT(pread)(descriptor, buffer, length, offset);
}
ssize_t pread64(int descriptor, void *buffer, size_t length, off_t offset) __attribute__((alias("pread")));

ssize_t write(int descriptor, const void *buffer, size_t length) {
    char target[256];
    // An eventfd that is not full takes what it is given.
    if (descriptor > 2 && strstr(path_of(descriptor, target, sizeof target), "[eventfd]")) {
        return NEXT(write)(descriptor, buffer, length);
    }
    const char *stream = descriptor == 1 ? "stdout" : "stderr";
    int way = descriptor > 2 ? WAY_ABOUT("write", target, ENOSPC, EIO, EINTR, SHORT, EDQUOT)
                             : WAY_ABOUT("write", stream, EINTR, SHORT, EAGAIN, EPIPE, EIO, ENOSPC, EFBIG);
    if (way == SHORT) return NEXT(write)(descriptor, buffer, length ? 1 : 0);
    if (way) FAIL(way, -1);
    return NEXT(write)(descriptor, buffer, length);
}

ssize_t pwrite(int descriptor, const void *buffer, size_t length, off_t offset) {
    int way = WAY_OF_FILE("pwrite", descriptor, ENOSPC, EIO, EINTR, SHORT);
    if (way == SHORT) return NEXT(pwrite)(descriptor, buffer, length ? 1 : 0, offset);
    if (way) FAIL(way, -1);
    return NEXT(pwrite)(descriptor, buffer, length, offset);
}
ssize_t pwrite64(int descriptor, const void *buffer, size_t length, off_t offset) __attribute__((alias("pwrite")));

int ftruncate(int descriptor, off_t length) {
    int way = WAY_OF_FILE("ftruncate", descriptor, EIO, EINTR, ENOSPC);
    if (way) FAIL(way, -1);
    return NEXT(ftruncate)(descriptor, length);
}
int ftruncate64(int descriptor, off_t length) __attribute__((alias("ftruncate")));

int fsync(int descriptor) {
    int way = WAY_OF_FILE("fsync", descriptor, EIO, EINTR, ENOSPC);
    if (way) FAIL(way, -1);
    return NEXT(fsync)(descriptor);
}

int flock(int descriptor, int operation) {
    int way = WAY_OF_FILE("flock", descriptor, ENOLCK, EINTR, EWOULDBLOCK);
    if (way) FAIL(way, -1);
    return NEXT(flock)(descriptor, operation);
}

int mkdir(const char *path, mode_t mode) {
    int way = WAY_ABOUT("mkdir", path, EACCES, ENOSPC, EROFS);
    if (way) FAIL(way, -1);
    return NEXT(mkdir)(path, mode);
}

int rename(const char *from, const char *to) {
    int way = WAY_ABOUT("rename", to, EIO, ENOSPC, EACCES);
    if (way) FAIL(way, -1);
    return NEXT(rename)(from, to);
}

int unlink(const char *path) {
    // What is not there cannot fail to go.
    int way = access(path, F_OK) == 0 ? WAY_ABOUT("unlink", path, EIO, EACCES) : 0;
    if (way) FAIL(way, -1);
    return NEXT(unlink)(path);
}

DIR *opendir(const char *path) {
    int way = WAY_ABOUT("opendir", path, EACCES, EMFILE, ENOMEM);
    if (way) FAIL(way, NULL);
    return NEXT(opendir)(path);
}

struct dirent *readdir(DIR *directory) {
    int way = WAY_OF_FILE("readdir", dirfd(directory), EIO);
    if (way) FAIL(way, NULL);
    return NEXT(readdir)(directory);
}
struct dirent64 *readdir64(DIR *directory) __attribute__((alias("readdir")));

char *getcwd(char *buffer, size_t capacity) {
    int way = WAY("getcwd", ENOENT, EACCES);
    if (way) FAIL(way, NULL);
    return NEXT(getcwd)(buffer, capacity);
}

// MARK: The network

int socket(int domain, int type, int protocol) {
    int way = WAY("socket", EMFILE, ENOBUFS, EAFNOSUPPORT);
    if (way) FAIL(way, -1);
    return NEXT(socket)(domain, type, protocol);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    int way = WAY("connect", ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT, EINTR);
    if (way == EINTR) NEXT(connect)(descriptor, address, length); // It continues by itself.
    if (way) FAIL(way, -1);
    return NEXT(connect)(descriptor, address, length);
}

int getsockopt(int descriptor, int level, int name, void *value, socklen_t *length) {
    int way = WAY("getsockopt", ENOBUFS, ECONNREFUSED, ETIMEDOUT);
    if (way == ENOBUFS) FAIL(way, -1);
    int result = NEXT(getsockopt)(descriptor, level, name, value, length);
    if (way && level == SOL_SOCKET && name == SO_ERROR) *(int *)value = way;
    return result;
}

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t length) {
    int way = WAY("setsockopt", ENOPROTOOPT);
    if (way) FAIL(way, -1);
    return NEXT(setsockopt)(descriptor, level, name, value, length);
}

ssize_t send(int descriptor, const void *buffer, size_t length, int flags) {
    int way = WAY("send", ECONNRESET, EPIPE, EINTR, EAGAIN, SHORT, ENOBUFS, ETIMEDOUT);
    if (way == SHORT) return NEXT(send)(descriptor, buffer, length ? 1 : 0, flags);
    if (way) FAIL(way, -1);
    return NEXT(send)(descriptor, buffer, length, flags);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    int way = WAY("sendfile", ECONNRESET, EIO, EINTR, EAGAIN, SHORT, EINVAL, END, ENOMEM, ESTALE, ENOTCONN, ETIMEDOUT);
    if (way == END) return 0;
    if (way == SHORT) return NEXT(sendfile)(to, from, offset, count ? 1 : 0);
    if (way) FAIL(way, -1);
    return NEXT(sendfile)(to, from, offset, count);
}
ssize_t sendfile64(int to, int from, off_t *offset, size_t count) __attribute__((alias("sendfile")));

ssize_t recv(int descriptor, void *buffer, size_t length, int flags) {
    int way = WAY("recv", ECONNRESET, END, EINTR, EAGAIN, SHORT, ETIMEDOUT, ENOMEM);
    if (way == END) return 0;
    if (way == SHORT) return NEXT(recv)(descriptor, buffer, length ? 1 : 0, flags);
    if (way) FAIL(way, -1);
    return NEXT(recv)(descriptor, buffer, length, flags);
}

int poll(struct pollfd *entries, nfds_t count, int timeout) {
    int way = WAY("poll", ENOMEM, EINTR);
    if (way) FAIL(way, -1);
    return NEXT(poll)(entries, count, timeout);
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    int way = WAY("ioctl", ENOTTY);
    if (way) FAIL(way, -1);
    return NEXT(ioctl)(descriptor, request, argument);
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found) {
    // Its results are EAI_…, below zero.
    int way = WAY_ABOUT("getaddrinfo", host, EAI_AGAIN, EAI_MEMORY, EAI_FAIL, EAI_NONAME);
    // A name that no machine has.
    int isName = hints && !(hints->ai_flags & AI_NUMERICHOST);
    if (isName && host && strcmp(host, "hive.test") == 0) host = "127.0.0.1";
    return way ? way : NEXT(getaddrinfo)(host, port, hints, found);
}

// MARK: The rest of the system

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    int way = WAY("getrandom", ENOSYS, EINTR, SHORT);
    if (way == SHORT) return NEXT(getrandom)(buffer, length ? 1 : 0, flags);
    if (way) FAIL(way, -1);
    return NEXT(getrandom)(buffer, length, flags);
}

int eventfd(unsigned int value, int flags) {
    int way = WAY("eventfd", EMFILE, ENOMEM);
    if (way) FAIL(way, -1);
    return ((int (*)(unsigned int, int))next("eventfd"))(value, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    int way = WAY("pthread_create", EAGAIN, ENOMEM);
    return way ? way : NEXT(pthread_create)(thread, attributes, run, argument);
}

// MARK: OpenSSL and zlib

// A function of the libraries that fails with `result` and, as they do, leaves an error in the queue.
enum { LIBRARY_SSL = 20, REASON_INTERNAL = 259 | (2 << 18), REASON_MEMORY = 256 | (2 << 18) };
static void leave_error(int reason) {
    static void (*new_error)(void), (*set_error)(int, int, const char *, ...);
    if (!new_error) new_error = (void (*)(void))next("ERR_new");
    if (!set_error) set_error = (void (*)(int, int, const char *, ...))next("ERR_set_error");
    new_error();
    set_error(LIBRARY_SSL, reason, NULL);
}

#define LIBRARY_FUNCTION(type, name, failed, parameters, arguments)   \
    type name parameters {                                            \
        if (WAY(#name, FAILURE)) return (leave_error(REASON_MEMORY), failed); \
        return ((type(*) parameters)next(#name)) arguments;           \
    }

LIBRARY_FUNCTION(void *, BIO_meth_new, NULL, (int type, const char *name), (type, name))
LIBRARY_FUNCTION(int, BIO_get_new_index, -1, (void), ())
LIBRARY_FUNCTION(void *, BIO_new, NULL, (const void *method), (method))
LIBRARY_FUNCTION(int, CRYPTO_THREAD_run_once, 0, (void *once, void (*init)(void)), (once, init))
LIBRARY_FUNCTION(int, CRYPTO_set_mem_functions, 0, (void *a, void *b, void *c), (a, b, c))
LIBRARY_FUNCTION(void *, EVP_MD_CTX_new, NULL, (void), ())
LIBRARY_FUNCTION(int, EVP_DigestInit_ex, 0, (void *context, const void *type, void *e), (context, type, e))
LIBRARY_FUNCTION(int, EVP_DigestUpdate, 0, (void *context, const void *bytes, size_t length), (context, bytes, length))
LIBRARY_FUNCTION(int, EVP_DigestFinal_ex, 0, (void *context, unsigned char *d, unsigned *length), (context, d, length))
LIBRARY_FUNCTION(int, EVP_Digest, 0,
    (const void *bytes, size_t length, unsigned char *digest, unsigned *size, const void *type, void *engine),
    (bytes, length, digest, size, type, engine))
LIBRARY_FUNCTION(const char *, OPENSSL_info, NULL, (int what), (what))
LIBRARY_FUNCTION(int, OPENSSL_init_ssl, 0, (uint64_t options, const void *s), (options, s))
LIBRARY_FUNCTION(void *, SSL_CTX_new, NULL, (const void *method), (method))
LIBRARY_FUNCTION(long, SSL_CTX_ctrl, 0, (void *context, int what, long number, void *p), (context, what, number, p))
LIBRARY_FUNCTION(int, SSL_CTX_set_cipher_list, 0, (void *context, const char *list), (context, list))
LIBRARY_FUNCTION(int, SSL_CTX_set_ciphersuites, 0, (void *context, const char *list), (context, list))
LIBRARY_FUNCTION(int, SSL_CTX_load_verify_file, 0, (void *context, const char *path), (context, path))
LIBRARY_FUNCTION(int, SSL_CTX_load_verify_dir, 0, (void *context, const char *path), (context, path))
LIBRARY_FUNCTION(int, SSL_CTX_use_certificate_chain_file, 0, (void *context, const char *path), (context, path))
LIBRARY_FUNCTION(int, SSL_CTX_use_PrivateKey_file, 0, (void *c, const char *path, int type), (c, path, type))
LIBRARY_FUNCTION(int, SSL_CTX_check_private_key, 0, (const void *context), (context))
LIBRARY_FUNCTION(void *, SSL_new, NULL, (void *context), (context))
LIBRARY_FUNCTION(long, SSL_ctrl, 0, (void *ssl, int command, long number, void *p), (ssl, command, number, p))
LIBRARY_FUNCTION(int, SSL_set1_host, 0, (void *ssl, const char *host), (ssl, host))
LIBRARY_FUNCTION(int, X509_VERIFY_PARAM_set1_ip_asc, 0, (void *parameters, const char *ip), (parameters, ip))
LIBRARY_FUNCTION(void *, SSL_get1_peer_certificate, NULL, (const void *ssl), (ssl))
LIBRARY_FUNCTION(int, i2d_X509_PUBKEY, -1, (void *key, unsigned char **out), (key, out))
LIBRARY_FUNCTION(int, SSL_shutdown, -1, (void *ssl), (ssl))

#define STREAM_FUNCTION(name, parameters, arguments, ...)                   \
    int name parameters {                                                   \
        int way = WAY(#name, FAILURE, ##__VA_ARGS__);                       \
        if (way == FAILURE) return (leave_error(REASON_INTERNAL), -1);           \
        if (way == TRUNCATED) return (errno = 0, 0);                        \
        return ((int (*) parameters)next(#name)) arguments;                 \
    }

STREAM_FUNCTION(SSL_do_handshake, (void *ssl), (ssl), TRUNCATED)
STREAM_FUNCTION(SSL_read, (void *ssl, void *buffer, int length), (ssl, buffer, length), TRUNCATED)
STREAM_FUNCTION(SSL_write, (void *ssl, const void *buffer, int length), (ssl, buffer, length))

enum { ZLIB_MEMORY = -4 };

int inflateInit2_(void *stream, int bits, const char *version, int size) {
    if (WAY("inflateInit2", FAILURE)) return ZLIB_MEMORY;
    return ((int (*)(void *, int, const char *, int))next("inflateInit2_"))(stream, bits, version, size);
}

int inflate(void *stream, int flush) {
    if (WAY("inflate", FAILURE)) return ZLIB_MEMORY;
    return ((int (*)(void *, int))next("inflate"))(stream, flush);
}

// MARK: Memory

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

#define NO_MEMORY(function) way_of(function, (const int[]){ENOMEM, 0}, CALLER, "", 1)

void *malloc(size_t size) {
    if (NO_MEMORY("malloc")) FAIL(ENOMEM, NULL);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    if (NO_MEMORY("calloc")) FAIL(ENOMEM, NULL);
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    if (NO_MEMORY("realloc")) FAIL(ENOMEM, NULL);
    return __libc_realloc(pointer, size);
}
