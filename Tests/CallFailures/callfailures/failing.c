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
#include "failing.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>

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

void *next(const char *name) {
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
    if (strcmp(canary, "hide") == 0 && recording) {
        // No journal says what it was called.
        snprintf(path, sizeof path, "%.*s/.gighive-upload-0badcafe", (int)(strrchr(recording, '/') - recording), recording);
        rename(recording, path);
    }
    if (strcmp(canary, "litter") == 0 && state) {
        // The next run removes what belongs to no record.
        snprintf(path, sizeof path, "%s/litter.new", state);
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
int way_of(const char *function, const int *ways, uintptr_t caller, const char *about, int is_memory) {
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

const char *path_of(int descriptor, char *path, size_t capacity) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, capacity - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
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
