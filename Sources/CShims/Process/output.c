#include "shim_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// MARK: Writing

static mode_t kind_of(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0;
}

// Three streams, each checked once: a descriptor number does not change its meaning.
static mode_t kind_of_stream(int descriptor) {
    static mode_t known[3];
    static int is_known[3];
    if (descriptor < 0 || descriptor > 2) return kind_of(descriptor);
    if (!is_known[descriptor]) known[descriptor] = kind_of(descriptor);
    is_known[descriptor] = 1;
    return known[descriptor];
}

// SIGURG is ignored unless there is a handler. SIGALRM may have been set by the parent process.
static void interrupt(int number) { (void)number; }

static void set_timer(long milliseconds) {
    static enum { NEW, READY, NONE } state = NEW;
    static timer_t timer;
    if (state == NEW) {
        struct sigaction action = {.sa_handler = interrupt}; // Without SA_RESTART: the write returns.
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGURG);
        sigaction(SIGURG, &action, NULL);
        sigprocmask(SIG_UNBLOCK, &signals, NULL);
        state = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 ? READY : NONE;
    }
    // Repeated, because the first one could arrive before the write.
    struct timespec interval = {.tv_nsec = milliseconds * 1000000};
    struct itimerspec times = {.it_value = interval, .it_interval = interval};
    if (state == READY) timer_settime(timer, 0, &times, NULL);
}

static ssize_t write_within_time(int descriptor, const void *buffer, size_t length) {
    struct pollfd stream = {.fd = descriptor, .events = POLLOUT};
    if (poll(&stream, 1, 0) <= 0) return errno = EAGAIN, -1;
    set_timer(SHIM_WRITE_MILLISECONDS);
    ssize_t count = write(descriptor, buffer, length < PIPE_BUF ? length : PIPE_BUF);
    int error = errno;
    set_timer(0);
    errno = error;
    return count;
}

int64_t shim_write_some(int32_t descriptor, const void *buffer, size_t length) {
    ssize_t count;
    switch (kind_of_stream(descriptor)) {
    case S_IFSOCK: count = send(descriptor, buffer, length, MSG_DONTWAIT | MSG_NOSIGNAL); break;
    case S_IFREG: count = write(descriptor, buffer, length); break;
    default: count = write_within_time(descriptor, buffer, length);
    }
    if (count >= 0) return count;
    return errno == EINTR || errno == EAGAIN ? -EAGAIN : -errno;
}

// MARK: Last message

static struct {
    const char *memory_message;
    int32_t is_json;
    void (*write_waiting)(void);
    volatile sig_atomic_t begun, delivered, failed;
} last;

void shim_prepare_end(const char *memory_message, int32_t is_json, void (*write_waiting)(void)) {
    last.memory_message = memory_message;
    last.is_json = is_json;
    last.write_waiting = write_waiting;
}

void shim_note_begin(void) { last.begun++; }

void shim_note_end(int32_t is_delivered) {
    if (is_delivered) last.delivered++;
    else last.failed++;
}

enum { LAST_WAIT_MILLISECONDS = 1000, LAST_SECONDS = 5 };

static volatile sig_atomic_t last_exit_code;

static void end_at_once(int number) {
    (void)number;
    _exit(last_exit_code);
}

// Whatever the state of the process, it must not hang at its end.
static void limit_last_words(int exit_code) {
    last_exit_code = exit_code;
    struct sigaction action = {.sa_handler = end_at_once};
    sigaction(SIGALRM, &action, NULL);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    alarm(LAST_SECONDS);
}

// Writes a whole text, unless nobody reads it.
static void say(int descriptor, const char *text, int length) {
    for (int pauses = 0; length > 0 && pauses < LAST_WAIT_MILLISECONDS / SHIM_WRITE_MILLISECONDS;) {
        int64_t count = shim_write_some(descriptor, text, (size_t)length);
        if (count < 0 && count != -EAGAIN) return;
        if (count > 0) {
            text += count;
            length -= (int)count;
        } else {
            struct pollfd stream = {.fd = descriptor, .events = POLLOUT};
            poll(&stream, 1, SHIM_WRITE_MILLISECONDS);
            pauses++;
        }
    }
}

static int fitting(int length, size_t capacity) {
    return length < 0 ? 0 : length < (int)capacity ? length : (int)capacity - 1;
}

// The time as in all events (Timestamp.swift), without gmtime_r(3), which may read files and allocate.
static void write_time(char *text, size_t capacity) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    // 9999-12-31T23:59:59, and 1970 for anything earlier.
    int64_t seconds = now.tv_sec < 0 ? 0 : now.tv_sec > 253402300799 ? 253402300799 : now.tv_sec;
    int64_t day = seconds / 86400, second = seconds % 86400, year = 1970;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int is_leap, month = 0;
    for (;; year++) {
        is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        if (day < 365 + is_leap) break;
        day -= 365 + is_leap;
    }
    for (;; month++) {
        int length = lengths[month] + (month == 1 && is_leap);
        if (day < length) break;
        day -= length;
    }
    snprintf(
        text, capacity, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, month + 1, (int)day + 1, (int)(second / 3600),
        (int)(second / 60 % 60), (int)(second % 60), (int)(now.tv_nsec / 1000000));
}

// snprintf(3) allocates nothing for numbers and short texts.
static void tell(const char *message, int exit_code) {
    static char known[256], when[64], line[1024];
    int unknown = last.begun - last.delivered - last.failed;
    if (unknown < 0) unknown = 0;
    known[0] = 0;
    if (last.begun > 0) {
        snprintf(
            known, sizeof known,
            " Delivered: %d. Failed: %d. In progress, so the server may have them: %d. "
            "See gighive-upload list.",
            (int)last.delivered, (int)last.failed, unknown);
    }
    if (last.is_json) {
        write_time(when, sizeof when);
        int length = snprintf(
            line, sizeof line,
            "{\"event\":\"failed\",\"time\":\"%s\",\"id\":null,\"exit_code\":%d,\"message\":\"%s%s\",\"delivered_count\":%d,\"failed_count\":%d,"
            "\"unknown_count\":%d}\n",
            when, exit_code, message, known, (int)last.delivered, (int)last.failed, unknown);
        say(STDOUT_FILENO, line, fitting(length, sizeof line));
    }
    say(STDERR_FILENO, line, fitting(snprintf(line, sizeof line, "gighive-upload: %s%s\n", message, known), sizeof line));
}

void shim_tell_memory_end(int32_t exit_code) {
    limit_last_words(exit_code);
    if (last.write_waiting) last.write_waiting();
    tell(last.memory_message ? last.memory_message : "out of memory.", exit_code);
}

static void on_trap(int number) {
    (void)number;
    static volatile sig_atomic_t has_trapped;
    limit_last_words(1);
    // If writing the pending output traps, continue without it.
    if (has_trapped++ == 0 && last.write_waiting) last.write_waiting();
    if (has_trapped <= 2) tell("internal error. Please report what you did.", 1);
    _exit(1);
}

void shim_report_traps(void) {
    struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_NODEFER};
    static const int traps[] = {SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV, SIGABRT};
    for (size_t index = 0; index < sizeof traps / sizeof *traps; index++) sigaction(traps[index], &action, NULL);
}
