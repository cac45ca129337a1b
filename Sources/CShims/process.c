#include "shim_process.h"
#include "shim_network.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>

static int argument_count;
static char **arguments;

// glibc hands main's arguments to constructors; Embedded Swift has no CommandLine.
__attribute__((constructor)) static void remember_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

int32_t shim_argument_count(void) { return argument_count; }
const char *shim_argument(int32_t index) { return arguments[index]; }

enum { OPTIONS_CAPACITY = 128 };
static struct option options[OPTIONS_CAPACITY + 1];
static int option_count;

void shim_option_add(const char *name, int32_t takes_argument, int32_t value) {
    if (option_count == OPTIONS_CAPACITY) abort();
    options[option_count++] = (struct option){name, takes_argument ? required_argument : no_argument, NULL, value};
}

void shim_option_start(int32_t first) {
    opterr = 0;
    optind = first;
}

int32_t shim_option_next(void) { return getopt_long(argument_count, arguments, ":hqv", options, NULL); }
const char *shim_option_argument(void) { return optarg; }

const char *shim_option_offender(void) {
    // Short options can be several in one argument, which optind is then not yet past.
    static char short_option[3] = "-";
    if (optopt <= 0 || optopt > 255) return arguments[optind - 1];
    short_option[1] = (char)optopt;
    return short_option;
}

int32_t shim_option_rest(void) { return optind; }

static volatile sig_atomic_t received;
static volatile sig_atomic_t event;

static void on_signal(int number) {
    if (!received) received = number;
    shim_event_raise(event);
}

void shim_signals_raise_event(int32_t descriptor) {
    event = descriptor;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int32_t shim_signal_received(void) { return received; }

_Noreturn void shim_exit(int32_t code) { exit(code); }
