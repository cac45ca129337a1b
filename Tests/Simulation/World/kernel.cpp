// The system calls.
#include "kernel.hpp"
#include "libc.h"
#include "world.hpp"
#include <cstdarg>
#include <cstring>

namespace world {

// MARK: The process

void Kernel::begin() {
    isDead = false;
    step = callsSinceDeath = idlePolls = 0;
    movedAt = world.clock.now;
}

int Kernel::open(Handle handle) {
    int descriptor = nextDescriptor++;
    handles[descriptor] = std::move(handle);
    return descriptor;
}

Handle *Kernel::find(int descriptor, const char *call) {
    auto found = handles.find(descriptor);
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
    Random &random = world.kernelRandom;
    world.clock.advance(world.clock.now + 1 + random.below(8));
    if (world.start && !isSecond && world.start->death != Death::none && step >= world.start->deathStep) return die();
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
    if (step > 2'000'000) {
        world.fail("a start of more than two million system calls");
        die();
    }
}

/// The process ends here. What remains of it fails until it has noticed, and changes nothing.
void Kernel::die() {
    isDead = true;
    // Nobody makes up for what a start has not synced above the records.
    if (world.disk.hasUnsyncedDirectories()) world.hasUnsyncedParents = true;
    bool isCut = world.start && world.start->death == Death::powerCut;
    world.figures.count(isCut ? "power cuts" : "kills");
    world.say("%s at call %lld", isCut ? "POWER CUT" : "KILLED", (long long)step);
    for (auto &[descriptor, handle] : handles) {
        if (!handle.connection) continue;
        isCut ? handle.connection->vanish() : handle.connection->close();
        handle.connection = nullptr;
    }
    for (auto &[name, inode] : world.disk.names) inode->lockHolder = 0, world.reveal(*inode);
    if (!isCut) return;
    world.disk.cutPower();
    world.notePowerCut();
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
    static const char *const kinds[] = {"a file", "a directory", "an event", "a socket", "a socket"};
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

namespace {

Kernel &kernel() { return the->kernel; }
Random &chances() { return the->kernelRandom; }

/// Sets errno.
int failed(int error) {
    errno = error;
    return -1;
}

bool isInterrupted() {
    if (kernel().isDead || !chances().chance(the->faults().interrupted)) return false;
    the->figures.count("EINTR");
    errno = EINTR;
    return true;
}

/// Part of a transfer, as the seed wants it.
size_t part(size_t length) {
    if (length <= 1 || !chances().chance(the->faults().partial)) return length;
    the->figures.count("short reads and writes");
    return (size_t)chances().between(1, (int64_t)length);
}

bool hasNoDescriptor() {
    if (kernel().isDead || !chances().chance(the->faults().noDescriptor)) return false;
    the->figures.count("descriptors refused");
    return true;
}

bool hasStateError() {
    if (!chances().chance(the->faults().stateError)) return false;
    the->figures.count("errors of the state's disk");
    return true;
}

/// Linux knows no time before 1970.
int64_t unixNow() { return std::max<int64_t>(0, the->scenario.unixStart + kernel().unixOffset + the->clock.now / second); }

/// Records are never read from it, so that an error of it excuses nothing.
bool isIndex(const std::string &path) { return path.size() > 6 && path.compare(path.size() - 6, 6, "/index") == 0; }

bool isRecording(const std::string &path) { return path.rfind("/recordings/", 0) == 0; }

}

struct simulated_directory {
    std::vector<std::string> names;
    size_t next = 0;
    struct dirent entry;
};

extern "C" {

// MARK: Files

int simulated_open(const char *path, int flags, ...) {
    kernel().enter("open");
    if (kernel().isDead) return failed(EIO);
    if (isInterrupted()) return -1;
    auto inode = the->disk.find(path);
    bool isState = !isRecording(path);
    if (!isState && chances().chance(the->faults().readError)) {
        the->figures.count("read errors");
        return failed(chances().of({EIO, EACCES, EMFILE}));
    }
    if (isState && hasStateError()) {
        if ((flags & O_ACCMODE) == O_RDONLY) the->hasReadErrorOfRecord = true;
        if (flags & O_DIRECTORY) the->noteUnsynced(path);
        return failed(chances().of({EIO, EACCES, EMFILE}));
    }
    if (flags & O_CREAT) {
        if (!inode && !the->disk.hasParent(path)) return failed(ENOENT);
        if (!inode && chances().chance(the->faults().diskFull)) {
            the->figures.count("disk full");
            return failed(ENOSPC);
        }
        if (!inode) inode = the->disk.create(path, false);
    }
    if (!inode) return failed(ENOENT);
    if (inode->isDirectory && (flags & O_ACCMODE) != O_RDONLY) return failed(EISDIR);
    if ((flags & O_DIRECTORY) && !inode->isDirectory) return failed(ENOTDIR);
    if (flags & O_TRUNC) inode->data.clear();
    Handle handle;
    handle.kind = inode->isDirectory ? Handle::directory : Handle::file;
    handle.inode = inode;
    handle.path = path;
    handle.isWritten = (flags & O_ACCMODE) != O_RDONLY;
    handle.isRead = (flags & O_ACCMODE) != O_WRONLY;
    kernel().moved();
    return kernel().open(handle);
}

int simulated_close(int descriptor) {
    kernel().enter("close");
    Handle *handle = kernel().find(descriptor, "close");
    if (!handle) return -1;
    if (handle->inode && handle->inode->lockHolder == descriptor) handle->inode->lockHolder = 0;
    if (handle->connection) handle->connection->close();
    std::shared_ptr<Inode> inode = handle->inode;
    kernel().handles.erase(descriptor);
    if (inode) the->reveal(*inode);
    kernel().moved();
    if (isInterrupted()) return -1;
    return 0;
}

static ssize_t readAt(Handle &handle, void *buffer, size_t length, int64_t offset) {
    if (kernel().isDead) return failed(EIO);
    if (isInterrupted()) return -1;
    if (!handle.isRead || handle.kind != Handle::file) return failed(EBADF);
    bool fails = chances().chance(isRecording(handle.path) ? the->faults().readError : the->faults().stateError);
    if (fails) {
        the->figures.count("read errors");
        if (!isRecording(handle.path) && !isIndex(handle.path)) the->hasReadErrorOfRecord = true;
        return failed(EIO);
    }
    const std::string &data = handle.inode->data;
    if (offset >= (int64_t)data.size()) return 0;
    size_t count = part(std::min(length, data.size() - (size_t)offset));
    memcpy(buffer, data.data() + offset, count);
    if (isRecording(handle.path)) the->rewriteBehind(handle.path);
    kernel().moved();
    return (ssize_t)count;
}

ssize_t simulated_pread(int descriptor, void *buffer, size_t length, off_t offset) {
    kernel().enter("pread");
    Handle *handle = kernel().find(descriptor, "pread");
    return handle ? readAt(*handle, buffer, length, offset) : -1;
}

ssize_t simulated_read(int descriptor, void *buffer, size_t length) {
    kernel().enter("read");
    Handle *handle = kernel().find(descriptor, "read");
    if (!handle) return -1;
    ssize_t count = readAt(*handle, buffer, length, handle->offset);
    if (count > 0) handle->offset += count;
    return count;
}

static void put(std::string &data, const void *buffer, size_t length, size_t offset) {
    if (data.size() < offset + length) data.resize(offset + length);
    memcpy(data.data() + offset, buffer, length);
}

static ssize_t writeAt(Handle &handle, const void *buffer, size_t length, size_t offset, bool wasAlive) {
    if (kernel().isDead) {
        // It died in the middle of this call.
        bool isKilled = wasAlive && the->start->death == Death::kill;
        if (isKilled && handle.inode) put(handle.inode->data, buffer, (size_t)chances().between(0, (int64_t)length), offset);
        return failed(EIO);
    }
    if (isInterrupted()) return -1;
    if (!handle.isWritten) return failed(EBADF);
    if (chances().chance(the->faults().diskFull)) {
        the->figures.count("disk full");
        return failed(ENOSPC);
    }
    if (hasStateError()) return failed(EIO);
    size_t count = part(length);
    put(handle.inode->data, buffer, count, offset);
    handle.inode->modified = handle.inode->changed = unixNow() * 1'000'000'000;
    kernel().moved();
    return (ssize_t)count;
}

ssize_t simulated_pwrite(int descriptor, const void *buffer, size_t length, off_t offset) {
    bool wasAlive = !kernel().isDead;
    kernel().enter("pwrite");
    Handle *handle = kernel().find(descriptor, "pwrite");
    return handle ? writeAt(*handle, buffer, length, (size_t)offset, wasAlive) : -1;
}

int simulated_ftruncate(int descriptor, off_t length) {
    kernel().enter("ftruncate");
    Handle *handle = kernel().find(descriptor, "ftruncate");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    if (isInterrupted()) return -1;
    if (hasStateError()) return failed(EIO);
    handle->inode->data.resize((size_t)length);
    handle->inode->modified = handle->inode->changed = unixNow() * 1'000'000'000;
    kernel().moved();
    return 0;
}

ssize_t simulated_write(int descriptor, const void *buffer, size_t length) {
    Handle *handle = kernel().find(descriptor, "write");
    if (!handle) return -1;
    if (handle->kind == Handle::event) {
        // Also from a thread of the dead process; it changes nothing then.
        handle->counter++;
        return (ssize_t)length;
    }
    bool wasAlive = !kernel().isDead;
    kernel().enter("write");
    ssize_t count = writeAt(*handle, buffer, length, (size_t)handle->offset, wasAlive);
    if (count > 0) handle->offset += count;
    return count;
}

int simulated_fstat(int descriptor, struct stat *status) {
    kernel().enter("fstat");
    Handle *handle = kernel().find(descriptor, "fstat");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    memset(status, 0, sizeof *status);
    status->st_dev = 5;
    status->st_ino = handle->inode->number;
    status->st_size = (off_t)handle->inode->data.size();
    status->st_mtim.tv_sec = handle->inode->modified / 1'000'000'000;
    status->st_mtim.tv_nsec = handle->inode->modified % 1'000'000'000;
    int64_t changed = canary == "rewrites-leave-no-trace" ? 0 : handle->inode->changed;
    status->st_ctim.tv_sec = changed / 1'000'000'000;
    status->st_ctim.tv_nsec = changed % 1'000'000'000;
    status->st_mode = handle->inode->isDirectory ? S_IFDIR | 0700 : S_IFREG | 0600;
    status->st_nlink = (nlink_t)handle->inode->links;
    return 0;
}

int simulated_fsync(int descriptor) {
    kernel().enter("fsync");
    Handle *handle = kernel().find(descriptor, "fsync");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    if (isInterrupted()) return -1;
    if (hasStateError()) {
        the->noteUnsynced(handle->path);
        return failed(EIO);
    }
    if (handle->kind == Handle::directory) {
        the->disk.syncDirectory(handle->path);
        the->noteSync(handle->path);
    } else {
        the->disk.sync(*handle->inode);
    }
    kernel().moved();
    return 0;
}

int simulated_fchmod(int descriptor, mode_t) {
    kernel().enter("fchmod");
    if (!kernel().find(descriptor, "fchmod")) return -1;
    return kernel().isDead ? failed(EIO) : 0;
}

int simulated_flock(int descriptor, int operation) {
    kernel().enter("flock");
    Handle *handle = kernel().find(descriptor, "flock");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    if (isInterrupted()) return -1;
    if (operation != (LOCK_EX | LOCK_NB)) the->fail("a lock that waits");
    int holder = handle->inode->lockHolder;
    if (holder && holder != descriptor) return failed(EWOULDBLOCK);
    Time &foreign = kernel().foreignLocks[handle->path];
    if (foreign <= the->clock.now && chances().chance(the->faults().foreignLock)) {
        the->figures.count("locks held by another process");
        foreign = the->clock.now + chances().magnitude(millisecond, 20 * second);
    }
    if (foreign > the->clock.now && the->faults().foreignLock > 0) return failed(EWOULDBLOCK);
    if (canary != "locks-do-nothing") handle->inode->lockHolder = descriptor;
    return 0;
}

int simulated_posix_fadvise(int descriptor, off_t, off_t, int) {
    kernel().enter("posix_fadvise");
    return kernel().find(descriptor, "posix_fadvise") ? 0 : EBADF;
}

// MARK: Names

int simulated_mkdir(const char *path, mode_t) {
    kernel().enter("mkdir");
    if (kernel().isDead) return failed(EIO);
    if (the->disk.find(path)) return failed(EEXIST);
    if (!the->disk.hasParent(path)) return failed(ENOENT);
    if (chances().chance(the->faults().diskFull)) return failed(ENOSPC);
    the->disk.create(path, true);
    return 0;
}

int simulated_rename(const char *from, const char *to) {
    kernel().enter("rename");
    if (kernel().isDead) return failed(EIO);
    if (!the->disk.find(from)) return failed(ENOENT);
    if (hasStateError()) return failed(EIO);
    the->disk.rename(from, to);
    the->noteRecord(to);
    kernel().moved();
    return 0;
}

/// A disk that keeps no times of directories, as FAT: the index is looked through by every process.
int simulated_stat(const char *, struct stat *) { return failed(ENOSYS); }
int simulated_utimensat(int, const char *, const struct timespec[2], int) { return failed(ENOSYS); }
int simulated_futimens(int, const struct timespec[2]) { return failed(ENOSYS); }

int simulated_unlink(const char *path) {
    kernel().enter("unlink");
    if (kernel().isDead) return failed(EIO);
    if (!the->disk.find(path)) return failed(ENOENT);
    if (hasStateError()) return failed(EIO);
    the->noteRemoval(path);
    the->disk.unlink(path);
    return 0;
}

simulated_directory *simulated_opendir(const char *path) {
    kernel().enter("opendir");
    if (kernel().isDead || hasStateError()) return errno = EIO, nullptr;
    auto inode = the->disk.find(path);
    if (!inode) return errno = ENOENT, nullptr;
    auto directory = new simulated_directory;
    directory->names = {".", ".."};
    for (auto &[name, entry] : the->disk.names) {
        if (Disk::parent(name) == path) directory->names.push_back(name.substr(strlen(path) + 1));
    }
    // In no order.
    for (size_t index = directory->names.size(); index > 1; index--) {
        std::swap(directory->names[index - 1], directory->names[(size_t)chances().below((int64_t)index)]);
    }
    return directory;
}

struct dirent *simulated_readdir(simulated_directory *directory) {
    kernel().enter("readdir");
    if (kernel().isDead) return errno = EIO, nullptr;
    if (directory->next == directory->names.size()) return nullptr;
    snprintf(directory->entry.d_name, sizeof directory->entry.d_name, "%s", directory->names[directory->next++].c_str());
    return &directory->entry;
}

int simulated_closedir(simulated_directory *directory) {
    delete directory;
    return 0;
}

char *simulated_getcwd(char *buffer, size_t capacity) {
    snprintf(buffer, capacity, "/home/someone");
    return buffer;
}

uid_t simulated_geteuid(void) { return 1000; }

// MARK: Time and chance

int simulated_clock_gettime(clockid_t clock, struct timespec *time) {
    kernel().enter("clock_gettime");
    if (clock == CLOCK_REALTIME) {
        *time = {unixNow(), 0};
        return 0;
    }
    int64_t now = the->scenario.monotonicStart * 1000 + (canary == "clock-stands-still" ? 0 : the->clock.now);
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
        if (ready) return ready;
        if (kernel().isDead) {
            // Nobody can tell it to end if it got no event to wait for: its time limits do.
            if (deadline != Clock::never) the->clock.advance(deadline);
            return 0;
        }
        if (the->clock.now >= deadline) return 0;
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

// MARK: Sockets

int simulated_socket(int, int, int) {
    kernel().enter("socket");
    if (kernel().isDead) return failed(EIO);
    if (hasNoDescriptor()) return failed(EMFILE);
    Handle handle;
    handle.kind = Handle::socket;
    return kernel().open(handle);
}

int simulated_connect(int descriptor, const struct sockaddr *address, socklen_t) {
    kernel().enter("connect");
    Handle *handle = kernel().find(descriptor, "connect");
    if (!handle) return -1;
    if (kernel().isDead) return failed(ENETDOWN);
    the->connectsOfStart++;
    const Faults &faults = the->faults();
    if (chances().chance(faults.unreachable)) {
        the->figures.count("networks unreachable");
        return failed(chances().of({ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL}));
    }
    unsigned char last = address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr[15]
                                                        : ((const unsigned char *)&((const struct sockaddr_in *)address)->sin_addr)[3];
    bool isDeadAddress = the->scenario.firstAddressIsDead && last == 10 && !the->isHealthy();
    auto connection = std::make_shared<Connection>(*the, ++the->connectionNumber, the->startNumber);
    handle->connection = connection;
    handle->path = std::to_string(connection->number);
    connection->begin(!isDeadAddress && !chances().chance(faults.unanswered), the->server.isDown() || chances().chance(faults.refused));
    kernel().moved();
    the->figures.count("connects");
    return isInterrupted() ? -1 : failed(EINPROGRESS);
}

int simulated_setsockopt(int descriptor, int level, int name, const void *value, socklen_t) {
    kernel().enter("setsockopt");
    Handle *handle = kernel().find(descriptor, "setsockopt");
    if (!handle) return -1;
    if (level == IPPROTO_TCP && name == TCP_USER_TIMEOUT && handle->connection) {
        handle->connection->userTimeout = *(const unsigned int *)value * millisecond;
    }
    return 0;
}

int simulated_getsockopt(int descriptor, int, int, void *value, socklen_t *) {
    kernel().enter("getsockopt");
    Handle *handle = kernel().find(descriptor, "getsockopt");
    if (!handle) return -1;
    *(int *)value = handle->connection ? handle->connection->takeError() : ENETDOWN;
    return 0;
}

static bool isNotReady() {
    if (!chances().chance(the->faults().notReady)) return false;
    the->figures.count("EAGAIN out of turn");
    errno = EAGAIN;
    return true;
}

static ssize_t outcome(int64_t result) {
    if (result < 0) return failed((int)-result);
    if (result > 0) kernel().moved();
    return (ssize_t)result;
}

ssize_t simulated_send(int descriptor, const void *buffer, size_t length, int flags) {
    kernel().enter("send");
    Handle *handle = kernel().find(descriptor, "send");
    if (!handle) return -1;
    if (kernel().isDead || !handle->connection) return failed(EPIPE);
    if (isInterrupted() || isNotReady()) return -1;
    if (!(flags & MSG_NOSIGNAL)) the->fail("a send that can raise SIGPIPE");
    return outcome(handle->connection->send((const char *)buffer, length, (int64_t)part(length)));
}

ssize_t simulated_recv(int descriptor, void *buffer, size_t length, int) {
    kernel().enter("recv");
    Handle *handle = kernel().find(descriptor, "recv");
    if (!handle) return -1;
    if (kernel().isDead || !handle->connection) return failed(ECONNRESET);
    if (isInterrupted() || isNotReady()) return -1;
    return outcome(handle->connection->receive((char *)buffer, part(length)));
}

ssize_t simulated_sendfile(int descriptor, int file, off_t *offset, size_t length) {
    kernel().enter("sendfile");
    Handle *handle = kernel().find(descriptor, "sendfile"), *source = kernel().find(file, "sendfile");
    if (!handle || !source) return -1;
    if (kernel().isDead || !handle->connection) return failed(EPIPE);
    if (isInterrupted() || isNotReady()) return -1;
    if (!the->scenario.keepsSendfile) return failed(EINVAL);
    if (chances().chance(the->faults().readError)) {
        the->figures.count("read errors");
        return failed(EIO);
    }
    const std::string &data = source->inode->data;
    if (*offset >= (off_t)data.size()) return 0;
    size_t count = part(std::min(length, data.size() - (size_t)*offset));
    int64_t sent = handle->connection->send(data.data() + *offset, count, (int64_t)count);
    if (sent > 0) {
        *offset += sent;
        the->rewriteBehind(source->path);
    }
    the->figures.count("sendfile");
    return outcome(sent);
}

// MARK: Names of hosts

static struct addrinfo *makeAddress(int index, uint16_t port) {
    auto info = (struct addrinfo *)calloc(1, sizeof(struct addrinfo));
    bool isIPv6 = index % 2 == 1;
    if (isIPv6) {
        auto address = (struct sockaddr_in6 *)calloc(1, sizeof(struct sockaddr_in6));
        address->sin6_family = AF_INET6;
        address->sin6_port = htons(port);
        inet_pton(AF_INET6, "2001:db8::1", &address->sin6_addr);
        address->sin6_addr.s6_addr[15] = (uint8_t)(10 + index);
        info->ai_addr = (struct sockaddr *)address;
        info->ai_addrlen = sizeof *address;
    } else {
        auto address = (struct sockaddr_in *)calloc(1, sizeof(struct sockaddr_in));
        address->sin_family = AF_INET;
        address->sin_port = htons(port);
        address->sin_addr.s_addr = htonl(0xcb007100u + 10 + (uint32_t)index);
        info->ai_addr = (struct sockaddr *)address;
        info->ai_addrlen = sizeof *address;
    }
    info->ai_family = info->ai_addr->sa_family;
    info->ai_socktype = SOCK_STREAM;
    return info;
}

int simulated_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found) {
    *found = nullptr;
    struct in6_addr ignored;
    // No name is this machine.
    bool isNumeric = !host || inet_pton(AF_INET, host, &ignored) == 1 || inet_pton(AF_INET6, host, &ignored) == 1;
    if (!isNumeric && (hints->ai_flags & AI_NUMERICHOST)) return EAI_NONAME;
    if (kernel().isDead) return EAI_AGAIN;
    if (!isNumeric && chances().chance(the->faults().unresolved)) {
        the->figures.count("names not resolved");
        // If the upload ends now, that is why.
        the->server.lockedLast = "";
        return chances().of({EAI_AGAIN, EAI_AGAIN, EAI_FAIL, EAI_NONAME, EAI_SYSTEM});
    }
    struct addrinfo **at = found;
    for (int index = 0; index < the->scenario.addresses; index++) {
        int family = index % 2 ? AF_INET6 : AF_INET;
        if (hints->ai_family != AF_UNSPEC && hints->ai_family != family) continue;
        *at = makeAddress(index, (uint16_t)atoi(port));
        at = &(*at)->ai_next;
    }
    return 0;
}

void simulated_freeaddrinfo(struct addrinfo *found) {
    while (found) {
        auto next = found->ai_next;
        free(found->ai_addr);
        free(found);
        found = next;
    }
}

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

int simulated_sched_getaffinity(pid_t, size_t length, cpu_set_t *processors) {
    CPU_ZERO_S(length, processors);
    CPU_SET_S(0, length, processors);
    return 0;
}

}
