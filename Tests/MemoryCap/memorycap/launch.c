/* Starts a client under hard limits and counts its allocations.
 *
 *     launch SCOREBOARD REPORT AS_LIMIT CGROUP TEXT_FROM TEXT_TO [NAME=ADDRESS ...] -- CLIENT ARGUMENT...
 *
 * A static binary cannot be given another malloc, so a breakpoint (int3) is planted at the entry of every function
 * that takes memory from the heap or the kernel. Each hit is counted under the phase that the receiver has written into
 * the scoreboard: before 5 % of the transfer, between 5 % and 95 %, after; and, of a transfer in several requests, between
 * two of them. The counts of the first phase prove that the breakpoints work. After very many hits in the steady phase a
 * breakpoint is withdrawn: the row has failed, and need not take an hour to do so.
 *
 * The peak (VmHWM) is read at the client's last breath, when the kernel still has the figure. ru_maxrss would not do,
 * because it is inherited across exec.
 *
 * x86_64 only. Breakpoints replace the pages that they are in by private copies: a few pages count as RssAnon instead
 * of RssFile; the sum is the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PHASES = 5, STEADY = 1, BREAKPOINTS = 32, STACKS = 16, STACK_WORDS = 1024, FRAMES = 24, ENOUGH_HITS = 100000 };

struct breakpoint {
    const char *name;
    uint64_t address;
    long original;
    uint64_t hits[PHASES];
};

static struct breakpoint breakpoints[BREAKPOINTS];
static int breakpoint_count;
static volatile uint64_t *scoreboard; /* 0: phase, 1: bytes received, 2: the client's pid */
static FILE *report;
static uint64_t text_from, text_to;
static uint64_t seen_callers[STACKS];
static int seen_count;

static void fail(const char *what) {
    fprintf(stderr, "launch: %s: %s\n", what, strerror(errno));
    exit(125);
}

static void start_client(char **command, uint64_t limit, const char *cgroup) {
    if (limit != 0) {
        struct rlimit bytes = {limit, limit};
        if (setrlimit(RLIMIT_AS, &bytes) != 0) fail("RLIMIT_AS");
    }
    if (strcmp(cgroup, "-") != 0) {
        int procs = open(cgroup, O_WRONLY | O_CLOEXEC);
        if (procs < 0 || write(procs, "0", 1) != 1) fail(cgroup);
    }
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) fail("PTRACE_TRACEME");
    execv(command[0], command);
    fail(command[0]);
}

static void plant(pid_t pid, struct breakpoint *b) {
    if (ptrace(PTRACE_POKETEXT, pid, b->address, (b->original & ~0xffL) | 0xcc) != 0) fail("PTRACE_POKETEXT");
}

static void plant_all(pid_t pid) {
    for (int i = 0; i < breakpoint_count; i++) {
        errno = 0;
        breakpoints[i].original = ptrace(PTRACE_PEEKTEXT, pid, breakpoints[i].address, 0);
        if (errno != 0) fail("PTRACE_PEEKTEXT");
    }
    for (int i = 0; i < breakpoint_count; i++) plant(pid, &breakpoints[i]);
}

/* The caller, and every further word on the stack that could be a return address: candidates, since nothing but Swift
 * keeps frame pointers here. Each caller once. */
static void report_stack(pid_t pid, const struct breakpoint *b, uint64_t stack_pointer) {
    uint64_t caller = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, stack_pointer, 0);
    for (int i = 0; i < seen_count; i++)
        if (seen_callers[i] == caller) return;
    if (seen_count == STACKS) return;
    seen_callers[seen_count++] = caller;
    fprintf(report, "stack %s", b->name);
    for (int word = 0, frames = 0; word < STACK_WORDS && frames < FRAMES; word++) {
        errno = 0;
        uint64_t value = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, stack_pointer + 8 * (uint64_t)word, 0);
        if (errno != 0) break;
        if (value < text_from || value >= text_to) continue;
        fprintf(report, " %llx", (unsigned long long)value);
        frames++;
    }
    fputc('\n', report);
}

/* Handles a SIGTRAP. Returns the signal to deliver to the client, or 0. */
static int step_over(pid_t pid) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, pid, 0, &registers) != 0) return 0;
    struct breakpoint *b = NULL;
    for (int i = 0; i < breakpoint_count; i++)
        if (breakpoints[i].address == registers.rip - 1) b = &breakpoints[i];
    if (b == NULL) return SIGTRAP;
    uint64_t phase = scoreboard[0] < PHASES ? scoreboard[0] : PHASES - 1;
    b->hits[phase]++;
    if (phase == STEADY) report_stack(pid, b, registers.rsp);
    registers.rip--;
    ptrace(PTRACE_SETREGS, pid, 0, &registers);
    ptrace(PTRACE_POKETEXT, pid, b->address, b->original);
    int status, pending = 0;
    do {
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) != 0 || waitpid(pid, &status, __WALL) < 0) return 0;
        if (!WIFSTOPPED(status)) return 0;
        if (WSTOPSIG(status) != SIGTRAP) pending = WSTOPSIG(status);
    } while (WSTOPSIG(status) != SIGTRAP);
    if (b->hits[STEADY] < ENOUGH_HITS) plant(pid, b);
    return pending;
}

static void report_peak(pid_t pid) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0 || strncmp(line, "VmPeak:", 7) == 0)
            fprintf(report, "at-exit %s", line);
    }
    if (status != NULL) fclose(status);
}

/* Until the client has ended. Returns its wait status. */
static int follow(pid_t client) {
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0) fail("waitpid");
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid == client) return status;
            continue;
        }
        int deliver = 0;
        if (status >> 16 == PTRACE_EVENT_EXIT) {
            if (pid == client) report_peak(pid);
        } else if (status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP) {
            deliver = step_over(pid);
        } else if (status >> 16 == 0 && !(WSTOPSIG(status) == SIGSTOP && pid != client)) {
            deliver = WSTOPSIG(status); /* a new thread's first SIGSTOP is ours, any other signal the client's */
        }
        ptrace(PTRACE_CONT, pid, 0, deliver);
    }
}

int main(int argc, char **argv) {
    if (argc < 9) {
        fputs("usage: see launch.c\n", stderr);
        return 125;
    }
    int board = open(argv[1], O_RDWR | O_CLOEXEC);
    scoreboard = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, board, 0);
    if (board < 0 || scoreboard == MAP_FAILED) fail(argv[1]);
    report = fopen(argv[2], "we");
    if (report == NULL) fail(argv[2]);
    text_from = strtoull(argv[5], NULL, 16);
    text_to = strtoull(argv[6], NULL, 16);
    int next = 7;
    for (; next < argc && strcmp(argv[next], "--") != 0; next++) {
        char *equals = strchr(argv[next], '=');
        if (equals == NULL || breakpoint_count == BREAKPOINTS) return 125;
        *equals = '\0';
        struct breakpoint *b = &breakpoints[breakpoint_count++];
        b->name = argv[next];
        b->address = strtoull(equals + 1, NULL, 16);
    }
    if (next + 1 >= argc) return 125;

    pid_t client = fork();
    if (client < 0) fail("fork");
    if (client == 0) start_client(argv + next + 1, strtoull(argv[3], NULL, 10), argv[4]);
    int status;
    if (waitpid(client, &status, 0) != client || !WIFSTOPPED(status)) fail("the client did not start");
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE;
    if (ptrace(PTRACE_SETOPTIONS, client, 0, options) != 0) fail("PTRACE_SETOPTIONS");
    plant_all(client);
    scoreboard[2] = (uint64_t)client;
    ptrace(PTRACE_CONT, client, 0, 0);
    status = follow(client);

    for (int i = 0; i < breakpoint_count; i++) {
        const uint64_t *hits = breakpoints[i].hits;
        fprintf(report, "hits %s", breakpoints[i].name);
        for (int phase = 0; phase < PHASES; phase++) fprintf(report, " %llu", (unsigned long long)hits[phase]);
        fputc('\n', report);
    }
    if (WIFEXITED(status)) fprintf(report, "exit %d\n", WEXITSTATUS(status));
    else fprintf(report, "signal %d\n", WTERMSIG(status));
    return fclose(report) == 0 ? 0 : 125;
}
