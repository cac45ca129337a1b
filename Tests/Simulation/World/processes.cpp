// Several processes that take turns, each with a stack of its own. One runs until it polls and has to wait.
#include "processes.hpp"
#include "calls.hpp"
#include <cstring>
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#endif

namespace world {

namespace {

constexpr size_t stackLength = 1 << 20;
/// Of the processes that are over. The next ones take them.
std::vector<char *> stacks;
ucontext_t scheduler;

#if __has_feature(address_sanitizer)
/// The stack of the scheduler.
const void *own;
size_t ownLength;
#endif

/// The address sanitizer has to know which stack is in use.
void change(ucontext_t &from, ucontext_t &to, const void *stack, size_t length) {
#if __has_feature(address_sanitizer)
    void *saved = nullptr;
    bool isToScheduler = !stack;
    __sanitizer_start_switch_fiber(&saved, isToScheduler ? own : stack, isToScheduler ? ownLength : length);
    swapcontext(&from, &to);
    __sanitizer_finish_switch_fiber(saved, isToScheduler ? &own : nullptr, isToScheduler ? &ownLength : nullptr);
#else
    (void)stack, (void)length;
    swapcontext(&from, &to);
#endif
}

}

// MARK: Turns

Kernel::Kernel(World &world) : world(world) {}

Kernel::~Kernel() {
    for (auto &process : processes) {
        if (process->stack) stacks.push_back(process->stack);
    }
}

int Kernel::runner() const { return current ? current->number : 0; }

Process *Kernel::process(int number) {
    for (auto &process : processes) {
        if (process->number == number) return process.get();
    }
    return nullptr;
}

Process &Kernel::spawn(std::vector<std::string> words, int parent, int input, int output, int answers) {
    auto process = std::make_unique<Process>();
    process->number = 1000 + (int)processes.size();
    process->parent = parent;
    process->words = std::move(words);
    for (auto &word : process->words) process->arguments.push_back(word.data());
    process->arguments.push_back(nullptr);
    process->variables.argument_count = (int)process->words.size();
    process->variables.arguments = process->arguments.data();
    process->state.movedAt = world.clock.now;
    for (auto [stream, given] : {std::pair(0, input), std::pair(1, output), std::pair(3, answers)}) {
        if (given < 0) continue;
        Handle handle = handles[given];
        (handle.isWritten ? handle.stream->writers : handle.stream->readers)++;
        process->streams[stream] = open(handle);
        handles[process->streams[stream]].process = process->number;
    }
    if (stacks.empty()) stacks.push_back((char *)malloc(stackLength));
    process->stack = stacks.back();
    stacks.pop_back();
    getcontext(&process->context);
    process->context.uc_stack.ss_sp = process->stack;
    process->context.uc_stack.ss_size = stackLength;
    process->context.uc_link = nullptr;
    makecontext(&process->context, [] { the->kernel.runCurrent(); }, 0);
    std::string text;
    for (auto &word : process->words) text += " " + word;
    world.say("PROCESS %d:%s", process->number, text.c_str());
    processes.push_back(std::move(process));
    onStart(*processes.back());
    return *processes.back();
}

void Kernel::runCurrent() {
#if __has_feature(address_sanitizer)
    __sanitizer_finish_switch_fiber(nullptr, &own, &ownLength);
#endif
    simulated_forget_options();
    int code = program();
    finishThreads();
    Process &process = *current;
    if (!isDead) {
        world.say("PROCESS %d has ended with %d", process.number, code);
        end(process, code << 8);
    }
    for (auto at = handles.begin(); at != handles.end();) at = at->second.process == process.number ? handles.erase(at) : std::next(at);
    process.isOver = true;
    continued++;
    wait(Clock::never);
    abort();
}

void Kernel::exchange(Process &process) {
    std::swap(static_cast<ProcessState &>(*this), process.state);
    simulated_exchange_variables(&process.variables);
    simulated_exchange_watchers_variables(&process.watchersVariables);
}

void Kernel::wait(Time until) {
    Process &process = *current;
    process.deadline = until;
    exchange(process);
    current = nullptr;
    change(process.context, scheduler, nullptr, 0);
}

void Kernel::resume(Process &process) {
    current = &process;
    exchange(process);
    change(scheduler, process.context, process.stack, stackLength);
}

void Kernel::runProcesses() {
    while (world.violation.empty()) {
        int64_t before = continued;
        size_t count = processes.size();
        bool isAnyLeft = false;
        for (size_t index = 0; index < processes.size() && world.violation.empty(); index++) {
            if (processes[index]->isOver) continue;
            isAnyLeft = true;
            if (processes[index]->isStopped) continue;
            resume(*processes[index]);
        }
        if (continued != before || processes.size() != count) continue;
        if (isStopping && !isAnyLeft) return;
        Time until = world.clock.next();
        bool isDeadline = false;
        for (auto &process : processes) {
            if (process->isOver || process->isStopped || process->deadline >= until) continue;
            until = process->deadline;
            isDeadline = true;
        }
        if (until == Clock::never) {
            if (isAnyLeft) world.fail("a wait for what will never come");
            return;
        }
        if (isDeadline && chances().chance(world.faults().oversleep)) {
            until += chances().magnitude(millisecond, 10 * minute);
            world.figures.count("overslept");
        }
        world.clock.advance(until);
    }
}

// MARK: Ends

void Kernel::release(Handle &handle, int descriptor) {
    if (handle.connection) handle.connection->close();
    handle.connection = nullptr;
    if (handle.stream) (handle.isWritten ? handle.stream->writers : handle.stream->readers)--;
    handle.stream = nullptr;
    handle.reported = nullptr;
    if (!handle.inode) return;
    if (handle.inode->lockHolder == descriptor) handle.inode->lockHolder = 0;
    if (handle.inode->leaseHolder == descriptor) world.endLease(*handle.inode);
}

/// What others see of its end. What remains of it fails until it has noticed, and changes nothing.
void Kernel::end(Process &process, int status) {
    process.hasEnded = true;
    process.isStopped = false;
    process.status = status;
    for (auto &[descriptor, handle] : handles) {
        if (handle.process != process.number) continue;
        std::shared_ptr<Inode> inode = handle.inode;
        release(handle, descriptor);
    }
    for (size_t index = 0; index < processes.size(); index++) {
        // PR_SET_PDEATHSIG
        if (processes[index]->parent == process.number) deliver(*processes[index], SIGTERM);
    }
    if (auto parent = this->process(process.parent)) deliver(*parent, SIGCHLD);
    onEnd(process);
}

void Kernel::kill(Process &process, int signal) {
    if (process.hasEnded) return;
    bool isCurrent = current == &process;
    world.say("PROCESS %d is KILLED", process.number);
    world.figures.count("kills");
    world.noteUnsyncedParents();
    if (isCurrent) exchange(process);
    process.state.isDead = true;
    // Its loops end.
    process.variables.received = SIGKILL;
    if (isCurrent) exchange(process);
    end(process, signal);
}

void Kernel::cutPower() {
    world.say("POWER CUT");
    onPowerCut();
    world.figures.count("power cuts");
    world.noteUnsyncedParents();
    for (auto &[descriptor, handle] : handles) {
        if (handle.connection) handle.connection->vanish();
        handle.connection = nullptr;
    }
    for (size_t index = 0; index < processes.size(); index++) {
        bool isCurrent = current == processes[index].get();
        if (isCurrent) exchange(*current);
        processes[index]->state.isDead = true;
        processes[index]->variables.received = SIGKILL;
        if (isCurrent) exchange(*current);
        if (!processes[index]->hasEnded) end(*processes[index], SIGKILL);
    }
    loseUnsynced();
}

void Kernel::stop(Process &process, bool isStopped) {
    if (process.hasEnded || process.isStopped == isStopped) return;
    world.say("PROCESS %d is %s", process.number, isStopped ? "STOPPED" : "CONTINUED");
    process.isStopped = isStopped;
    process.isStopTold = false;
    process.changes.push_back(isStopped ? CLD_STOPPED : CLD_CONTINUED);
    if (auto parent = this->process(process.parent)) deliver(*parent, SIGCHLD);
    auto pending = std::move(process.pending);
    process.pending.clear();
    for (int signal : pending) deliver(process, signal);
}

void Kernel::deliver(Process &process, int signal) {
    if (process.hasEnded) return;
    if (signal == SIGKILL) return kill(process, signal);
    if (signal == SIGCONT) return stop(process, false);
    if (process.isStopped) return process.pending.push_back(signal);
    auto found = process.handlers.find(signal);
    if (found == process.handlers.end()) {
        return signal == SIGCHLD ? void() : kill(process, signal);
    }
    struct sigaction action = found->second;
    if (action.sa_handler == SIG_IGN) return;
    if (action.sa_flags & (int)SA_RESETHAND) process.handlers.erase(signal);
    bool isCurrent = current == &process;
    Process *before = current;
    if (!isCurrent) {
        if (before) exchange(*before);
        current = &process;
        exchange(process);
    }
    isHandlingSignal = true;
    action.sa_handler(signal);
    isHandlingSignal = false;
    if (!isCurrent) {
        exchange(process);
        current = before;
        if (before) exchange(*before);
    }
}

// MARK: Pipes and changes

ssize_t Pipe::read(void *buffer, size_t length) {
    if (data.empty()) return writers ? failed(EAGAIN) : 0;
    size_t count = std::min(length, data.size());
    memcpy(buffer, data.data(), count);
    data.erase(0, count);
    return (ssize_t)count;
}

ssize_t Pipe::write(const void *buffer, size_t length) {
    if (!readers) return failed(EPIPE);
    data.append((const char *)buffer, length);
    return (ssize_t)length;
}

void Changes::note(const Inode *directory, uint32_t what, const std::string &name, size_t limit) {
    for (auto &[number, watch] : watches) {
        if (watch.directory.get() != directory || !(watch.mask & what)) continue;
        if (queue.size() < limit) {
            queue.push_back({number, what, name});
        } else if (queue.back().mask != IN_Q_OVERFLOW) {
            the->figures.count("changes lost");
            queue.push_back({-1, IN_Q_OVERFLOW, ""});
        }
    }
}

ssize_t Changes::read(void *buffer, size_t length) {
    if (queue.empty()) return failed(EAGAIN);
    size_t at = 0;
    while (!queue.empty()) {
        const Event &event = queue.front();
        size_t room = event.name.empty() ? 0 : (event.name.size() / 16 + 1) * 16;
        struct inotify_event head = {event.watch, event.mask, 0, (uint32_t)room};
        if (at + sizeof head + room > length) break;
        memcpy((char *)buffer + at, &head, sizeof head);
        memset((char *)buffer + at + sizeof head, 0, room);
        memcpy((char *)buffer + at + sizeof head, event.name.data(), event.name.size());
        at += sizeof head + room;
        queue.pop_front();
    }
    return (ssize_t)at;
}

void Kernel::notify(const std::string &path, uint32_t what) {
    if (processes.empty() || canary == "files-are-not-listed") return;
    auto directory = world.disk.find(Disk::parent(path));
    std::string name = path.substr(path.rfind('/') + 1);
    for (auto &[descriptor, handle] : handles) {
        if (handle.reported) handle.reported->note(directory.get(), what, name, world.scenario.changesLimit);
    }
}

}

using namespace world;

extern "C" {

int simulated_spawn(const char *const *arguments, int input, int output, int answers) {
    kernel().enter("fork");
    if (kernel().isDead || hasNoDescriptor()) return -EAGAIN;
    std::vector<std::string> words;
    for (; *arguments; arguments++) words.push_back(*arguments);
    the->figures.count("workers");
    return kernel().spawn(words, kernel().runner(), input, output, answers).number;
}

int simulated_pipe2(int ends[2], int) {
    kernel().enter("pipe2");
    if (kernel().isDead || hasNoDescriptor()) return failed(EMFILE);
    Handle handle;
    handle.kind = Handle::pipe;
    handle.stream = std::make_shared<Pipe>();
    handle.stream->readers = handle.stream->writers = 1;
    ends[0] = kernel().open(handle);
    handle.isWritten = true;
    ends[1] = kernel().open(handle);
    return 0;
}

pid_t simulated_waitpid(pid_t number, int *status, int) {
    kernel().enter("waitpid");
    auto process = kernel().process(number);
    if (kernel().isDead || !process || process->isReaped) return failed(ECHILD);
    if (!process->hasEnded) return 0;
    process->isReaped = true;
    *status = process->status;
    return number;
}

/// Stops and their ends alone.
int simulated_waitid(idtype_t, id_t number, siginfo_t *change, int) {
    kernel().enter("waitid");
    auto process = kernel().process((int)number);
    if (kernel().isDead || !process || process->isReaped) return failed(ECHILD);
    change->si_pid = 0;
    if (process->changes.empty()) return 0;
    change->si_pid = process->number;
    change->si_code = process->changes.front();
    change->si_status = change->si_code == CLD_STOPPED ? SIGSTOP : SIGCONT;
    process->changes.pop_front();
    return 0;
}

int simulated_kill(pid_t number, int signal) {
    kernel().enter("kill");
    auto process = kernel().process(number);
    if (!kernel().isDead && process) kernel().deliver(*process, signal);
    return 0;
}

pid_t simulated_getpid(void) { return kernel().runner(); }

/// Where there is only one process, it gets no signals: see world_may_cancel.
int simulated_sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
    if (before) *before = {};
    if (action && kernel().current) kernel().current->handlers[signal] = *action;
    return 0;
}

sighandler_t simulated_signal(int signal, sighandler_t handler) {
    struct sigaction action = {};
    action.sa_handler = handler;
    simulated_sigaction(signal, &action, nullptr);
    return SIG_DFL;
}

const char *simulated_getenv(const char *name) { return strcmp(name, "HOME") ? nullptr : "/home/someone"; }

int simulated_inotify_init1(int) {
    kernel().enter("inotify_init1");
    if (kernel().isDead || hasNoDescriptor()) return failed(EMFILE);
    Handle handle;
    handle.kind = Handle::changes;
    handle.reported = std::make_shared<Changes>();
    return kernel().open(handle);
}

int simulated_inotify_add_watch(int descriptor, const char *path, uint32_t mask) {
    kernel().enter("inotify_add_watch");
    Handle *handle = kernel().find(descriptor, "inotify_add_watch");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    std::string opened = "/proc/self/fd/";
    bool isOpened = std::string(path).rfind(opened, 0) == 0;
    auto directory = isOpened ? kernel().handles[atoi(path + opened.size())].inode : the->disk.find(path);
    if (!directory) return failed(ENOENT);
    Changes &changes = *handle->reported;
    for (auto &[number, watch] : changes.watches) {
        if (watch.directory != directory) continue;
        watch.mask |= mask;
        return number;
    }
    changes.watches[changes.next] = {directory, mask};
    return changes.next++;
}

int simulated_inotify_rm_watch(int descriptor, int watch) {
    kernel().enter("inotify_rm_watch");
    Handle *handle = kernel().find(descriptor, "inotify_rm_watch");
    if (handle && handle->reported) handle->reported->watches.erase(watch);
    return 0;
}

}
