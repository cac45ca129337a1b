// Seeds by the thousand, in several processes: one that traps or hangs takes its seed with it, and nothing else.
#include "world.hpp"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ctime>
#include <malloc.h>
#include <unistd.h>
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

using namespace world;

extern "C" Figures::Entry *world_figures;

namespace {

constexpr int64_t hangSeconds = 60;

/// What a worker tells, in shared memory.
struct Worker {
    pid_t process;
    uint64_t seed;
    int64_t seedStartedAt;
    uint64_t done;
    char violation[2000];
    bool hasFailed;
    Figures::Entry figures[Figures::capacity];
};

/// The user has had enough.
volatile sig_atomic_t isInterrupted = 0;

double now() {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/// One seed; every now and then twice, since the same must come of it.
void runOne(Worker &worker, uint64_t seed, void (*run)(uint64_t)) {
    worker.seed = seed;
    worker.seedStartedAt = (int64_t)now();
    run(seed);
    const char *violation = world_violation();
    std::string text = violation ? violation : "";
    if (!violation && (seed % 64 == 0 || seed % 512 == 11)) {
        uint64_t first = world_hash();
        world_figures = nullptr;
        run(seed);
        world_figures = worker.figures;
        if (world_hash() != first) text = "two runs of this seed are not the same";
    }
    worker.done++;
    if (text.empty()) return;
    snprintf(worker.violation, sizeof worker.violation, "%s", text.c_str());
    worker.hasFailed = true;
    _exit(0);
}

void work(Worker &worker, uint64_t from, uint64_t end, uint64_t stride, bool isForWatchers, void (*run)(uint64_t)) {
    // The creator of this process ends it.
    signal(SIGINT, SIG_IGN);
    // What a seed frees, the next one takes: the kernel need not clear it again.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
    world_figures = worker.figures;
    for (uint64_t seed = from; seed < end; seed += stride) {
        if (!isForWatchers || Scenario::hasWatcher(seed)) runOne(worker, seed, run);
    }
    worker.seed = UINT64_MAX;
#if __has_feature(address_sanitizer)
    __lsan_do_leak_check();
#endif
    _exit(0);
}

void report(const Worker &worker, const std::string &what, const char *program) {
    if (!program) {
        printf("  %s\n", what.c_str());
        return;
    }
    printf("seed %llu FAILED: %s\n  replay: %s --replay %llu%s%s\n", (unsigned long long)worker.seed, what.c_str(), program,
           (unsigned long long)worker.seed, canary.empty() ? "" : " --canary ", canary.c_str());
    fflush(stdout);
}

void printFigures(Worker *workers, int jobs) {
    std::map<std::string, int64_t> sums;
    for (int index = 0; index < jobs; index++) {
        for (auto &entry : workers[index].figures) {
            if (entry.name[0]) sums[entry.name] += entry.value;
        }
    }
    int column = 0;
    for (auto &[name, value] : sums) printf("%12lld %-36s%s", (long long)value, name.c_str(), ++column % 2 ? "" : "\n");
    if (column % 2) printf("\n");
}

}

extern "C" int64_t world_run_seeds(
    uint64_t first, uint64_t count, int32_t jobs, int32_t mostFailures, const char *program, int32_t isForWatchers,
    void (*run)(uint64_t seed)) {
    auto workers = (Worker *)mmap(nullptr, sizeof(Worker) * (size_t)jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (workers == MAP_FAILED) return perror("mmap"), 1;
    uint64_t end = first + count;
    int running = 0;
    isInterrupted = 0;
    signal(SIGINT, [](int) { isInterrupted = 1; });
    int64_t failures = 0;
    double began = now();
    auto begin = [&](int index, uint64_t from) {
        workers[index].hasFailed = false;
        workers[index].seedStartedAt = (int64_t)now();
        workers[index].seed = from;
        fflush(stdout);
        pid_t process = fork();
        if (process == 0) work(workers[index], from, end, (uint64_t)jobs, isForWatchers, run);
        workers[index].process = process;
        running++;
    };
    for (int index = 0; index < jobs; index++) begin(index, first + (uint64_t)index);
    while (running > 0) {
        int status = 0;
        pid_t process = waitpid(-1, &status, WNOHANG);
        if (process <= 0) {
            if (isInterrupted) break;
            usleep(20'000);
            for (int index = 0; index < jobs; index++) {
                bool isLate = (int64_t)now() - workers[index].seedStartedAt > hangSeconds;
                if (isLate && workers[index].process) kill(workers[index].process, SIGKILL);
            }
            continue;
        }
        for (int index = 0; index < jobs; index++) {
            Worker &worker = workers[index];
            if (worker.process != process) continue;
            worker.process = 0;
            running--;
            if (worker.seed == UINT64_MAX) continue;
            std::string what = worker.hasFailed ? worker.violation
                : WTERMSIG(status) == SIGKILL  ? "does not come to an end"
                                               : std::string("a trap (") + strsignal(WTERMSIG(status)) + ")";
            report(worker, what, program);
            if (++failures < mostFailures && worker.seed + (uint64_t)jobs < end) begin(index, worker.seed + (uint64_t)jobs);
        }
        if (failures >= mostFailures) break;
    }
    for (int index = 0; index < jobs; index++) {
        if (workers[index].process) kill(workers[index].process, SIGKILL), waitpid(workers[index].process, nullptr, 0);
    }
    signal(SIGINT, SIG_DFL);
    uint64_t done = 0;
    for (int index = 0; index < jobs; index++) done += workers[index].done;
    double seconds = now() - began;
    if (!program) return failures;
    printFigures(workers, jobs);
    printf("%llu seeds from %llu in %.1f s (%.0f a second), %lld failed\n", (unsigned long long)done, (unsigned long long)first, seconds,
           (double)done / seconds, (long long)failures);
    return failures + isInterrupted;
}
