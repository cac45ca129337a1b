#include "shim_process.h"
#include "shim_network.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static int argument_count;
static char **arguments;

// glibc passes main's arguments to constructors; Embedded Swift has no CommandLine. Nothing else may happen here, because the
// process may only be using the library.
__attribute__((constructor)) static void remember_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

void shim_keep_standard_streams(void) {
    for (int stream = 0; stream < 3; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) break;
    }
}

int32_t shim_argument_count(void) { return argument_count; }
const char *shim_argument(int32_t index) { return arguments[index]; }

enum { OPTIONS_CAPACITY = 192 };
static struct option options[OPTIONS_CAPACITY + 1];
static int option_count;
// The short forms, as getopt_long wants them.
static char letters[2 * OPTIONS_CAPACITY + 2] = ":";
static int letter_count = 1;

void shim_option_add(const char *name, int32_t letter, int32_t takes_argument, int32_t value) {
    if (option_count == OPTIONS_CAPACITY) abort();
    if (letter) letters[letter_count++] = (char)letter;
    if (letter && takes_argument == required_argument) letters[letter_count++] = ':';
    options[option_count++] = (struct option){name, takes_argument, NULL, value};
}

// The names of opposites, one after the other. getopt_long keeps pointers to them.
static char opposites[1024];
static size_t opposites_length;

void shim_option_add_opposite(const char *name, int32_t value) {
    char *opposite = opposites + opposites_length;
    size_t space = sizeof opposites - opposites_length, length = strlen("no-") + strlen(name) + 1;
    if (length > space) abort();
    snprintf(opposite, space, "no-%s", name);
    opposites_length += length;
    shim_option_add(opposite, 0, 0, value);
}

void shim_option_start(int32_t first) {
    opterr = 0;
    optind = first;
}

static char offender[64];

static int32_t offending(int32_t result, const char *typed) {
    snprintf(offender, sizeof offender, "%.*s", (int)strcspn(typed, "="), typed);
    return result;
}

// The text of the long option that getopt_long has just parsed.
static const char *typed_option(void) {
    return optarg && optarg == arguments[optind - 1] ? arguments[optind - 2] : arguments[optind - 1];
}

static int is_whole_name(const char *typed, const char *name) {
    size_t length = strcspn(typed + 2, "=");
    return strlen(name) == length && strncmp(typed + 2, name, length) == 0;
}

int32_t shim_option_next(void) {
    int index = -1;
    int value = getopt_long(argument_count, arguments, letters, options, &index);
    char short_option[3] = {'-', (char)optopt, 0};
    switch (value) {
    case -1: return SHIM_OPTION_END;
    case ':': return offending(SHIM_OPTION_NEEDS_VALUE, arguments[optind - 1]);
    case '?':
        if (optopt > 255) return offending(SHIM_OPTION_TAKES_NO_VALUE, arguments[optind - 1]);
        return offending(SHIM_OPTION_UNKNOWN, optopt > 0 ? short_option : arguments[optind - 1]);
    default:
        if (index < 0 || is_whole_name(typed_option(), options[index].name)) return value;
        return offending(SHIM_OPTION_UNKNOWN, typed_option());
    }
}

const char *shim_option_argument(void) { return optarg; }
const char *shim_option_offender(void) { return offender; }
int32_t shim_option_rest(void) { return optind; }

static volatile sig_atomic_t received;
static volatile sig_atomic_t event;
static volatile sig_atomic_t finish_received, finish_event;

static void on_signal(int number) {
    if (!received) received = number;
    shim_event_raise(event);
}

void shim_signals_raise_event(int32_t descriptor) {
    event = descriptor;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND}, before;
    static const int ending[] = {SIGINT, SIGTERM};
    for (size_t index = 0; index < sizeof ending / sizeof *ending; index++) {
        sigaction(ending[index], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(ending[index], &action, NULL);
    }
    shim_ignore_broken_pipe_signal();
}

int32_t shim_signal_received(void) { return received; }

static void on_finish(int number) {
    finish_received = number;
    shim_event_raise(finish_event);
}

void shim_finish_signal_raises_event(int32_t descriptor) {
    finish_event = descriptor;
    struct sigaction action = {.sa_handler = on_finish, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
}

int32_t shim_finish_signal_received(void) { return finish_received; }

void shim_ignore_broken_pipe_signal(void) { signal(SIGPIPE, SIG_IGN); }

void shim_ignore_file_size_signal(void) { signal(SIGXFSZ, SIG_IGN); }

int32_t shim_can_open(int32_t count) {
    int opened[SHIM_OPEN_MOST], result = 0;
    int32_t made = 0;
    if (count > SHIM_OPEN_MOST) count = SHIM_OPEN_MOST;
    while (made < count && (opened[made] = dup(STDERR_FILENO)) >= 0) made++;
    if (made < count) result = -errno;
    while (made > 0) close(opened[--made]);
    return result;
}

int32_t shim_can_map(int64_t length) {
    void *room = mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return -errno;
    munmap(room, (size_t)length);
    return 0;
}

int32_t shim_host_name(char *buffer, size_t capacity) {
    buffer[capacity - 1] = 0;
    return gethostname(buffer, capacity - 1) < 0 ? -errno : 0;
}

_Noreturn void shim_exit(int32_t code) { exit(code); }

void shim_use_etc_tz(void) {
    if (getenv("TZ") || access("/etc/localtime", F_OK) == 0) return;
    int descriptor = open("/etc/TZ", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return;
    char zone[64];
    ssize_t length = read(descriptor, zone, sizeof(zone) - 1);
    close(descriptor);
    if (length <= 0) return;
    zone[length] = 0;
    zone[strcspn(zone, "\r\n")] = 0;
    if (*zone) setenv("TZ", zone, 1);
}

void shim_forbid_core_dumps(void) { prctl(PR_SET_DUMPABLE, 0); }
