// The process, and the system calls for time, chance and waiting.
#include "calls.hpp"
#include "processes.hpp"
#include <cstdarg>
#include <csignal>
#include <cstring>

namespace world {

// MARK: The process

void Kernel::begin() {
    isDead = false;
    step = callsSinceDeath = idlePolls = removals = 0;
    deathStep = world.start->diesInRemoval() ? INT64_MAX : world.start->deathStep;
    movedAt = world.clock.now;
}

void Kernel::dieAfter(int64_t calls) {
    if (calls) deathStep = std::min(deathStep, step + calls);
}

int Kernel::open(Handle handle) {
    int descriptor = nextDescriptor++;
    handle.process = current ? current->number : 0;
    handles[descriptor] = std::move(handle);
    return descriptor;
}

Handle *Kernel::find(int descriptor, const char *call) {
    bool isStandard = current && descriptor >= 0 && descriptor < 4;
    auto found = handles.find(isStandard ? current->streams[descriptor] : descriptor);
    if (found != handles.end()) return &found->second;
    world.fail(std::string(call) + " of descriptor " + std::to_string(descriptor) + ", which is not open");
    errno = EBADF;
    return nullptr;
}

void Kernel::moved() {
    idlePolls = 0;
    movedAt = world.clock.now;
}

void Kernel::enter(const char *call) {
    step++;
    world.mix((uint64_t)world.clock.now ^ (uint64_t)call[0]);
    if (isDead) {
        if (++callsSinceDeath > 1'000'000) {
            fprintf(stderr, "the program does not end although every call fails\n");
            abort();
        }
        return;
    }
    if (removals > 0) world.meddle();
    Random &random = world.kernelRandom;
    world.clock.advance(world.clock.now + 1 + random.below(8));
    bool mayDie = current || (world.start && !isSecond && world.start->death != Death::none);
    if (mayDie && step >= deathStep) return die();
    if (random.chance(world.faults().clockJump)) {
        unixOffset += random.of({1ll, -1ll}) * random.magnitude(1, 30ll * 365 * 86400);
        world.figures.count("clock jumps");
    }
    if (random.chance(world.faults().oversleep / 10)) {
        Time lost = random.magnitude(millisecond, 10 * minute);
        world.oversleptOfStart += lost;
        world.clock.advance(world.clock.now + lost);
        world.figures.count("process stopped for a while");
    }
    // While content is in flight, an upload looks ten times a second how much has arrived: four calls, more with EINTR.
    int64_t seconds = (world.clock.now - world.startedAt) / second;
    if (step > 2'000'000 + 60 * seconds * world.scenario.jobs) {
        world.fail("a start of " + std::to_string(step) + " system calls in " + std::to_string(seconds) + " s");
        die();
    }
}

/// The process ends here. What remains of it fails until it has noticed, and changes nothing.
void Kernel::die() {
    if (current) return diesOfPowerCut ? cutPower() : kill(*current, SIGKILL);
    isDead = true;
    world.noteUnsyncedParents();
    bool isCut = world.start && world.start->death == Death::powerCut;
    world.figures.count(isCut ? "power cuts" : "kills");
    world.say("%s at call %lld", isCut ? "POWER CUT" : "KILLED", (long long)step);
    for (auto &[descriptor, handle] : handles) {
        if (!handle.connection) continue;
        isCut ? handle.connection->vanish() : handle.connection->close();
        handle.connection = nullptr;
    }
    for (auto &[name, inode] : world.disk.names) inode->lockHolder = 0, world.endLease(*inode), world.reveal(*inode);
    if (!isCut) return world.noteDeath();
    loseUnsynced();
}

void Kernel::loseUnsynced() {
    boots++;
    // A board without a clock starts in 1970 again.
    if (world.scenario.unixStart < 1000) unixOffset = -world.clock.now / second;
    world.disk.cutPower();
    world.notePowerCut();
    world.noteDeath();
}

/// Linux knows no time before 1970, and its clock for files has ticks.
int64_t Kernel::fileTime() const {
    constexpr int64_t tick = 4'000'000;
    int64_t now = (world.scenario.unixStart + unixOffset) * 1'000'000'000 + world.clock.now * 1000;
    return std::max<int64_t>(0, now / tick * tick);
}

std::string Kernel::bootID() const {
    char text[37];
    snprintf(text, sizeof text, "%08d-1792-4000-8000-000000000000", canary == "starts-look-the-same" ? 0 : boots);
    return text;
}

void Kernel::runSecond() {
    isSecond = true;
    world.figures.count("second processes");
    world.say("ANOTHER PROCESS sends the same");
    Time before = world.clock.now;
    std::set<int> known;
    for (auto &[descriptor, handle] : handles) known.insert(descriptor);
    world.runSecond();
    finishThreads();
    std::string left;
    for (auto &[descriptor, handle] : handles) {
        if (!known.count(descriptor)) left += " " + std::to_string(descriptor);
    }
    if (!left.empty()) world.fail("descriptors that the second process left open:" + left);
    world.oversleptOfStart += world.clock.now - before;
    world.say("THE OTHER PROCESS has ended");
    isSecond = false;
}

void Kernel::finishThreads() {
    auto all = std::move(threads);
    threads.clear();
    for (auto &thread : all) thread();
}

std::string Kernel::openDescriptors() const {
    std::string text;
    static const char *const kinds[] = {"a file", "a directory", "an event", "a socket", "a pipe", "an inotify"};
    for (auto &[descriptor, handle] : handles) {
        text += (text.empty() ? "" : ", ") + std::to_string(descriptor) + " (" + kinds[handle.kind] + " " + handle.path + ")";
    }
    return text;
}

void Kernel::raise(int descriptor) {
    auto found = handles.find(descriptor);
    if (found != handles.end()) found->second.counter++;
}

}

using namespace world;

extern "C" {

// MARK: Time and chance

int simulated_clock_gettime(clockid_t clock, struct timespec *time) {
    kernel().enter("clock_gettime");
    if (clock == CLOCK_REALTIME) {
        *time = {unixNow(), 0};
        return 0;
    }
    int64_t now = the->scenario.monotonicStart * 1000 + (canary == "clock-stands-still" ? 0 : the->clock.now) + kernel().ahead;
    *time = {now / second, now % second * 1000};
    return 0;
}

time_t simulated_time(time_t *time) {
    kernel().enter("time");
    time_t now = (time_t)unixNow();
    if (time) *time = now;
    return now;
}

struct tm *simulated_localtime_r(const time_t *time, struct tm *local) { return gmtime_r(time, local); }

ssize_t simulated_getrandom(void *buffer, size_t length, unsigned int) {
    kernel().enter("getrandom");
    if (isInterrupted()) return -1;
    size_t count = part(length);
    std::string bytes = chances().bytes(count);
    memcpy(buffer, bytes.data(), count);
    return (ssize_t)count;
}

// MARK: Waiting

static short readiness(const struct pollfd &entry) {
    Handle *handle = kernel().find(entry.fd, "poll");
    if (!handle) return POLLNVAL;
    if (handle->kind == Handle::event) {
        bool isUp = handle->counter > 0 || (kernel().isDead && !handle->isThreads);
        return isUp ? (short)(entry.events & POLLIN) : (short)0;
    }
    if (handle->kind == Handle::pipe || handle->kind == Handle::changes) {
        if (kernel().isDead) return POLLHUP;
        bool isReady = handle->stream ? handle->stream->isReady(entry.events) : !handle->reported->queue.empty();
        return isReady ? (short)(entry.events & (POLLIN | POLLOUT)) : (short)0;
    }
    if (handle->kind != Handle::socket) return (short)(entry.events & (POLLIN | POLLOUT));
    if (!handle->connection) return POLLHUP | POLLERR;
    short ready = 0;
    if (handle->connection->isReadable()) ready |= entry.events & POLLIN;
    if (handle->connection->isWritable()) ready |= entry.events & POLLOUT;
    if (handle->connection->hasFailed()) ready |= POLLERR | POLLHUP;
    return ready;
}

int simulated_poll(struct pollfd *entries, nfds_t count, int milliseconds) {
    kernel().enter("poll");
    if (!kernel().isDead && isInterrupted()) return -1;
    Time deadline = milliseconds < 0 ? Clock::never : the->clock.now + milliseconds * millisecond;
    bool hasWaited = false;
    if (canary == "waits-end-early" && kernel().current && milliseconds > 5000) deadline = the->clock.now + 5 * second;
    if (++kernel().idlePolls > 20'000 && the->clock.now - kernel().movedAt < 10 * second && !kernel().isDead) {
        the->fail("a loop that polls and does nothing");
        kernel().die();
    }
    while (true) {
        int ready = 0;
        for (nfds_t index = 0; index < count; index++) {
            entries[index].revents = entries[index].fd < 0 ? 0 : readiness(entries[index]);
            if (entries[index].revents) ready++;
        }
        // What became ready a moment later.
        for (nfds_t index = 0; index < count && ready > 1 && !kernel().isDead; index++) {
            if (!entries[index].revents || !chances().chance(the->faults().hiddenReadiness)) continue;
            entries[index].revents = 0;
            ready--;
        }
        if (hasWaited && (ready || kernel().isDead || the->clock.now >= deadline)) kernel().continued++;
        if (ready) return ready;
        if (kernel().isDead && kernel().current) {
            // The other processes do not wait for it.
            if (deadline != Clock::never) kernel().ahead += std::max<Time>(0, deadline - the->clock.now);
            return 0;
        }
        if (kernel().isDead) {
            // Nobody can tell it to end if it got no event to wait for: its time limits do.
            if (deadline != Clock::never) the->clock.advance(deadline);
            return 0;
        }
        if (the->clock.now >= deadline) {
            if (hasWaited) kernel().current->wakeUps++;
            return 0;
        }
        if (kernel().skipsWait && deadline != Clock::never) {
            kernel().skipsWait = false;
            kernel().ahead += deadline - the->clock.now;
            return 0;
        }
        if (kernel().current) {
            kernel().wait(deadline);
            hasWaited = true;
            continue;
        }
        if (the->isTimeForSecond() && count > 1) {
            kernel().runSecond();
            continue;
        }
        Time next = the->clock.next();
        if (next == Clock::never && deadline == Clock::never) {
            the->fail("a wait for what will never come");
            kernel().die();
            continue;
        }
        Time until = std::min(next, deadline);
        if (until == deadline && chances().chance(the->faults().oversleep)) {
            Time more = chances().magnitude(millisecond, 10 * minute);
            the->oversleptOfStart += more;
            the->figures.count("overslept");
            until += more;
        }
        the->clock.advance(until);
    }
}

/// Only to find out how many descriptors there are.
int simulated_dup(int) {
    kernel().enter("dup");
    if (hasNoDescriptor()) return failed(EMFILE);
    return kernel().open(Handle());
}

int simulated_eventfd(unsigned int value, int) {
    kernel().enter("eventfd");
    Handle handle;
    handle.kind = Handle::event;
    handle.counter = value;
    if (hasNoDescriptor()) return failed(EMFILE);
    return kernel().open(handle);
}

int simulated_ioctl(int descriptor, unsigned long request, ...) {
    kernel().enter("ioctl");
    va_list arguments;
    va_start(arguments, request);
    int *result = va_arg(arguments, int *);
    va_end(arguments);
    Handle *handle = kernel().find(descriptor, "ioctl");
    if (!handle || !handle->connection) return failed(ENOTTY);
    *result = (int)handle->connection->unacknowledged;
    return 0;
}

int simulated_isatty(int) { return 0; }

// MARK: Threads

/// A thread is something that happens later, all at once.
int simulated_pthread_create(pthread_t *, const pthread_attr_t *, void *(*run)(void *), void *argument) {
    kernel().enter("pthread_create");
    if (kernel().isDead || chances().chance(the->faults().noThread)) return EAGAIN;
    World *world = the;
    auto isDone = std::make_shared<bool>(false);
    auto body = [world, isDone, run, argument] {
        if (*isDone || the != world) return;
        *isDone = true;
        run(argument);
    };
    kernel().threads.push_back(body);
    Time delay = chances().chance(the->faults().unresolved) ? chances().magnitude(millisecond, minute) : chances().magnitude(1, 50 * millisecond);
    the->clock.after(delay, body);
    return 0;
}

int simulated_capget(cap_user_header_t, cap_user_data_t data) {
    bool isAdministrator = chances().below(2);
    data[CAP_TO_INDEX(CAP_NET_ADMIN)] = {};
    if (isAdministrator) data[CAP_TO_INDEX(CAP_NET_ADMIN)].effective = CAP_TO_MASK(CAP_NET_ADMIN);
    return 0;
}

int simulated_sched_getaffinity(pid_t, size_t length, cpu_set_t *processors) {
    CPU_ZERO_S(length, processors);
    CPU_SET_S(0, length, processors);
    return 0;
}

}
