// The system calls for files and their names.
#include "calls.hpp"
#include "processes.hpp"
#include <cstdarg>
#include <cstring>
#include <linux/magic.h>

using namespace world;

struct simulated_directory {
    std::string path;
    std::vector<std::string> names;
    size_t next = 0;
    /// -1 if it has none.
    int descriptor = -1;
    struct dirent entry;
};

extern "C" {

// MARK: Files

/// What the kernel says; null where /proc is not mounted or does not have it.
static std::shared_ptr<Inode> kernelFile(const std::string &path) {
    auto inode = std::make_shared<Inode>();
    if (path == bootPath) {
        inode->data = kernel().bootID();
    } else if (path == "/proc/sys/net/ipv4/tcp_available_congestion_control" && chances().below(3)) {
        inode->data = chances().below(2) ? "reno bbr cubic\n" : "reno cubic bbr2\n";
    } else {
        return nullptr;
    }
    inode->synced = inode->data;
    return inode;
}

static bool isRemovalsDirectory(const Handle &handle) { return handle.path == "/recordings" && !kernel().current; }

/// Without `..`.
static std::string resolved(std::string path) {
    for (size_t at; (at = path.find("/..")) != path.npos;) {
        size_t before = at ? path.rfind('/', at - 1) : 0;
        path.erase(before, at + 3 - before);
        if (path.empty()) path = "/";
    }
    return path;
}

int simulated_open(const char *given, int flags, ...) {
    kernel().enter("open");
    std::string path = resolved(given);
    if (kernel().isDead) return failed(EIO);
    if (isInterrupted()) return -1;
    auto inode = isOfKernel(path) ? kernelFile(path) : the->disk.find(path);
    if (canary == "spares-look-unused" && (flags & O_ACCMODE) == O_RDONLY && path == std::string(stateDirectory) + "/spares") inode = nullptr;
    bool isState = !isRecording(path);
    if (!isState && chances().chance(the->faults().readError)) {
        the->figures.count("read errors");
        return failed(chances().of({EIO, EACCES, EMFILE}));
    }
    if (isState && hasStateError()) {
        if ((flags & O_ACCMODE) == O_RDONLY && !isHint(path)) the->hasReadErrorOfRecord = true;
        if (flags & O_DIRECTORY) the->noteUnsynced(path);
        return failed(chances().of({EIO, EACCES, EMFILE}));
    }
    if (isRecording(path) && (flags & (O_CREAT | O_TRUNC)) && !isBallast(path)) the->fail("a recording opened to be written");
    if (flags & O_CREAT) {
        if (!inode && !the->disk.hasParent(path)) return failed(ENOENT);
        if (!inode && chances().chance(the->faults().diskFull)) {
            the->figures.count("disk full");
            return failed(ENOSPC);
        }
        if (!inode && the->disk.isLimited && the->disk.freeFiles < 1) return failed(ENOSPC);
        if (!inode) inode = the->disk.create(path, false);
    }
    if (!inode) return failed(ENOENT);
    if (!(flags & O_PATH) && inode->leaseHolder && kernel().handles[inode->leaseHolder].process != kernel().runner()) {
        inode->isLeaseBroken = true;
        return failed(EAGAIN);
    }
    if (inode->isDirectory && (flags & O_ACCMODE) != O_RDONLY) return failed(EISDIR);
    if ((flags & O_DIRECTORY) && !inode->isDirectory) return failed(ENOTDIR);
    if (flags & O_TRUNC) the->disk.resize(*inode, 0);
    Handle handle;
    handle.kind = inode->isDirectory ? Handle::directory : Handle::file;
    handle.inode = inode;
    handle.path = path;
    handle.isWritten = (flags & O_ACCMODE) != O_RDONLY;
    handle.isRead = (flags & O_ACCMODE) != O_WRONLY;
    if (isRemovalsDirectory(handle)) {
        kernel().removals++;
        kernel().dieAfter(the->start->callsInRemoval);
    }
    kernel().moved();
    return kernel().open(handle);
}

/// The path of what is in an open directory.
static std::string below(int directory, const char *path) {
    if (directory == AT_FDCWD) return path;
    Handle *handle = kernel().find(directory, "a path");
    if (!handle) return "";
    return strcmp(path, ".") ? handle->path + "/" + path : handle->path;
}

int simulated_openat(int directory, const char *path, int flags, ...) {
    return simulated_open(below(directory, path).c_str(), flags, 0600);
}

/// Some kernels do not have it.
long simulated_syscall(long, int directory, const char *path, const void *how, size_t) {
    if (chances().chance(the->faults().stateError)) return failed(ENOSYS);
    uint64_t flags;
    memcpy(&flags, how, sizeof flags);
    return simulated_openat(directory, path, (int)flags);
}

int simulated_close(int descriptor) {
    kernel().enter("close");
    Handle *handle = kernel().find(descriptor, "close");
    if (!handle) return -1;
    kernel().release(*handle, descriptor);
    if (handle->inode && handle->isWritten) kernel().notify(handle->path, IN_CLOSE_WRITE);
    if (isRemovalsDirectory(*handle)) kernel().removals--;
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
        if (!isRecording(handle.path) && !isHint(handle.path)) the->hasReadErrorOfRecord = true;
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
    // An event that could not be had.
    if (descriptor < 0) return failed(EBADF);
    Handle *handle = kernel().find(descriptor, "read");
    if (!handle) return -1;
    if (handle->kind == Handle::event) {
        if (!handle->counter) return failed(EAGAIN);
        memcpy(buffer, &handle->counter, sizeof handle->counter);
        handle->counter = 0;
        return sizeof handle->counter;
    }
    if (handle->stream || handle->reported) {
        if (kernel().isDead) return failed(EIO);
        if (isInterrupted()) return -1;
        kernel().moved();
        return handle->stream ? handle->stream->read(buffer, part(length)) : handle->reported->read(buffer, length);
    }
    ssize_t count = readAt(*handle, buffer, length, handle->offset);
    if (count > 0) handle->offset += count;
    return count;
}

static ssize_t writeAt(Handle &handle, const void *buffer, size_t length, size_t offset, bool wasAlive) {
    if (kernel().isDead) {
        // It died in the middle of this call.
        bool isKilled = wasAlive && (kernel().current ? !kernel().diesOfPowerCut : the->start->death == Death::kill);
        if (isKilled && handle.inode) the->disk.write(*handle.inode, buffer, (size_t)chances().between(0, (int64_t)length), offset);
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
    if (!the->disk.resize(*handle.inode, std::max(handle.inode->data.size(), offset + count))) return failed(ENOSPC);
    the->disk.write(*handle.inode, buffer, count, offset);
    handle.inode->modified = handle.inode->changed = kernel().fileTime();
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
    if (!the->disk.resize(*handle->inode, (size_t)length)) return failed(ENOSPC);
    handle->inode->modified = handle->inode->changed = kernel().fileTime();
    kernel().moved();
    return 0;
}

ssize_t simulated_write(int descriptor, const void *buffer, size_t length) {
    bool isStandard = kernel().current && descriptor >= 0 && descriptor < 3;
    if (isStandard && kernel().current->streams[descriptor] < 0) {
        kernel().enter("write");
        if (!kernel().isDead) the->noteLog(std::string((const char *)buffer, length));
        return (ssize_t)length;
    }
    bool isClosed = kernel().isHandlingSignal && !kernel().handles.count(descriptor);
    if (descriptor < 0 || isClosed) return failed(EBADF);
    Handle *handle = kernel().find(descriptor, "write");
    if (!handle) return -1;
    if (handle->kind == Handle::event) {
        // Also from a thread of the dead process; it changes nothing then.
        handle->counter++;
        return (ssize_t)length;
    }
    bool wasAlive = !kernel().isDead;
    kernel().enter("write");
    if (handle->kind == Handle::pipe) {
        // What a dead process still says, nobody hears.
        if (kernel().isDead) return (ssize_t)length;
        if (isInterrupted()) return -1;
        the->noteEvent(std::string((const char *)buffer, length));
        return handle->stream ? handle->stream->write(buffer, length) : failed(EPIPE);
    }
    ssize_t count = writeAt(*handle, buffer, length, (size_t)handle->offset, wasAlive);
    if (count > 0) handle->offset += count;
    return count;
}

static struct timespec timeOf(int64_t nanoseconds) {
    int64_t seconds = nanoseconds / 1'000'000'000 - (nanoseconds % 1'000'000'000 < 0);
    return {seconds, nanoseconds - seconds * 1'000'000'000};
}

static void fill(struct stat &status, const Inode &inode) {
    memset(&status, 0, sizeof status);
    status.st_dev = 5;
    status.st_ino = inode.number;
    status.st_size = (off_t)inode.data.size();
    status.st_mtim = timeOf(inode.modified);
    bool isHidden = canary == "rewrites-leave-no-trace" && !inode.isDirectory;
    status.st_ctim = timeOf(isHidden ? 0 : inode.changed);
    status.st_mode = inode.isDirectory ? S_IFDIR | 0700 : S_IFREG | 0600;
    status.st_nlink = (nlink_t)inode.links;
}

int simulated_fstat(int descriptor, struct stat *status) {
    kernel().enter("fstat");
    Handle *handle = kernel().find(descriptor, "fstat");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    fill(*status, *handle->inode);
    return 0;
}

int simulated_fstatfs(int descriptor, struct statfs *status) {
    kernel().enter("fstatfs");
    Handle *handle = kernel().find(descriptor, "fstatfs");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    *status = {};
    bool isDisguised = canary == "fat-is-taken-for-ext4" && handle->kind == Handle::directory;
    status->f_type = the->hasStableInodes() || isDisguised ? EXT4_SUPER_MAGIC : MSDOS_SUPER_MAGIC;
    return 0;
}

int simulated_statvfs(const char *, struct statvfs *status) {
    kernel().enter("statvfs");
    if (kernel().isDead) return failed(EIO);
    *status = {};
    status->f_frsize = 4096;
    status->f_bavail = (fsblkcnt_t)std::max<int64_t>(0, the->disk.freeBlocks);
    status->f_files = 1 << 20;
    status->f_favail = (fsfilcnt_t)std::max<int64_t>(0, the->disk.freeFiles);
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
        bool isNew = handle->inode->data != handle->inode->synced;
        bool isForgotten = canary == "journals-are-not-synced" && handle->path == std::string(stateDirectory) + "/removals";
        if (!isForgotten) the->disk.sync(*handle->inode);
        if (the->disk.isFAT && isNew) the->noteOverwritten(handle->path);
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
    int holder = handle->inode->lockHolder;
    if (operation == LOCK_UN) {
        if (holder == descriptor) handle->inode->lockHolder = 0;
        return 0;
    }
    if (!(operation & LOCK_NB)) the->fail("a lock that waits");
    if (holder && holder != descriptor) return failed(EWOULDBLOCK);
    if (handle->kind == Handle::directory) return handle->inode->lockHolder = descriptor, 0;
    Time &other = kernel().otherLocks[handle->path];
    if (other <= the->clock.now && chances().chance(the->faults().otherLock)) {
        the->figures.count("locks held by another process");
        other = the->clock.now + chances().magnitude(millisecond, 20 * second);
    }
    if (other > the->clock.now && the->faults().otherLock > 0) return failed(EWOULDBLOCK);
    if (canary != "locks-do-nothing") handle->inode->lockHolder = descriptor;
    return 0;
}

/// No file has a hole.
off_t simulated_lseek(int descriptor, off_t offset, int) {
    kernel().enter("lseek");
    return kernel().find(descriptor, "lseek") ? offset : failed(EBADF);
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

static int renamed(const std::string &from, const std::string &to, unsigned int flags) {
    if (kernel().isDead) return failed(EIO);
    if (!the->disk.find(from)) return failed(ENOENT);
    if (flags == RENAME_NOREPLACE && the->disk.find(to)) return failed(EEXIST);
    if (hasStateError()) return failed(EIO);
    the->noteNewName(from, to);
    the->disk.rename(from, to);
    the->noteRecord(to);
    kernel().moved();
    return 0;
}

int simulated_rename(const char *from, const char *to) {
    kernel().enter("rename");
    return renamed(from, to, 0);
}

int simulated_stat(const char *given, struct stat *status) {
    kernel().enter("stat");
    if (kernel().isDead) return failed(EIO);
    std::string path = resolved(given);
    auto inode = the->disk.find(path);
    if (!inode) return failed(ENOENT);
    if (hasStateError()) return failed(EIO);
    fill(*status, *inode);
    return 0;
}

/// There are no symbolic links here.
int simulated_lstat(const char *path, struct stat *status) { return simulated_stat(path, status); }

int simulated_fstatat(int directory, const char *path, struct stat *status, int) {
    return simulated_stat(below(directory, path).c_str(), status);
}

int simulated_renameat2(int fromDirectory, const char *from, int toDirectory, const char *to, unsigned int flags) {
    kernel().enter("renameat2");
    std::string source = below(fromDirectory, from);
    // Only whether both are in the same mount is wanted to be known.
    if (!strcmp(from, ".")) return failed(EBUSY);
    if (isRecording(source) && !the->scenario.hasNoReplace) return failed(EINVAL);
    return renamed(source, below(toDirectory, to), flags);
}

int simulated_renameat(int fromDirectory, const char *from, int toDirectory, const char *to) {
    return simulated_rename(below(fromDirectory, from).c_str(), below(toDirectory, to).c_str());
}

/// FAT has no hard links.
int simulated_linkat(int fromDirectory, const char *from, int toDirectory, const char *to, int) {
    kernel().enter("linkat");
    if (kernel().isDead) return failed(EIO);
    std::string source = below(fromDirectory, from), target = below(toDirectory, to);
    if (!the->scenario.hasLinks || the->disk.isFAT) return failed(EPERM);
    if (!the->disk.find(source)) return failed(ENOENT);
    if (the->disk.find(target)) return failed(EEXIST);
    if (hasStateError()) return failed(EIO);
    the->noteNewName(source, target);
    the->disk.link(source, target);
    kernel().moved();
    return 0;
}

/// Leases, which network file systems do not have.
int simulated_fcntl(int descriptor, int command, ...) {
    kernel().enter("fcntl");
    if (command == F_GETFL || command == F_SETFL || command == F_SETLK) return kernel().isDead ? failed(EIO) : 0;
    va_list arguments;
    va_start(arguments, command);
    int kind = va_arg(arguments, int);
    va_end(arguments);
    Handle *handle = kernel().find(descriptor, "fcntl");
    if (!handle) return -1;
    if (kernel().isDead) return failed(EIO);
    if (!the->scenario.hasLeases) return failed(EINVAL);
    Inode &inode = *handle->inode;
    bool isHolder = inode.leaseHolder == descriptor, isOpen = inode.openUntil > the->clock.now;
    if (command == F_SETSIG) return 0;
    if (command == F_GETLEASE) {
        // It waits for the lease to end.
        if (isHolder && inode.isLeaseBroken && !kernel().current) inode.openUntil = the->clock.now + minute;
        return isHolder && !inode.isLeaseBroken ? F_WRLCK : F_UNLCK;
    }
    if (kind == F_UNLCK) return isHolder ? the->endLease(inode), 0 : 0;
    int handles = 0;
    for (auto &[number, other] : kernel().handles) handles += other.inode == handle->inode;
    bool isRefused = kind == F_RDLCK ? isOpen && inode.isOpenForWriting : isOpen || handles > 1;
    if (canary == "recorders-are-not-seen" && kernel().current && kind == F_RDLCK) isRefused = false;
    if (isRefused && canary != "leases-see-nobody") {
        the->figures.count("leases refused");
        return failed(EAGAIN);
    }
    inode.leaseHolder = descriptor;
    return 0;
}

int simulated_unlink(const char *path) {
    kernel().enter("unlink");
    if (kernel().isDead) return failed(EIO);
    if (!the->disk.find(path)) return failed(ENOENT);
    if (hasStateError()) return failed(EIO);
    the->noteRemoval(path);
    the->noteUnlink(path);
    the->disk.unlink(path);
    return 0;
}

int simulated_unlinkat(int directory, const char *path, int) {
    return simulated_unlink(below(directory, path).c_str());
}

simulated_directory *simulated_opendir(const char *path) {
    kernel().enter("opendir");
    if (kernel().isDead || hasStateError()) return errno = EIO, nullptr;
    auto inode = the->disk.find(path);
    if (!inode) return errno = ENOENT, nullptr;
    auto directory = new simulated_directory;
    directory->path = path;
    directory->names = {".", ".."};
    for (auto &[name, entry] : the->disk.names) {
        bool isUnseen = canary == "files-are-not-listed" && isRecording(name) && !entry->isDirectory;
        if (Disk::parent(name) == path && !isUnseen) directory->names.push_back(name.substr(strlen(path) + 1));
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
    const std::string &name = directory->names[directory->next++];
    snprintf(directory->entry.d_name, sizeof directory->entry.d_name, "%s", name.c_str());
    auto inode = the->disk.find(directory->path + "/" + name);
    directory->entry.d_type = !inode ? DT_UNKNOWN : inode->isDirectory ? DT_DIR : DT_REG;
    return &directory->entry;
}

simulated_directory *simulated_fdopendir(int descriptor) {
    Handle *handle = kernel().find(descriptor, "fdopendir");
    auto directory = handle ? simulated_opendir(handle->path.c_str()) : nullptr;
    if (directory) directory->descriptor = descriptor;
    return directory;
}

int simulated_dirfd(simulated_directory *directory) { return directory->descriptor; }

char *simulated_realpath(const char *path, char *buffer) { return strcpy(buffer, path); }

int simulated_closedir(simulated_directory *directory) {
    if (directory->descriptor >= 0) simulated_close(directory->descriptor);
    delete directory;
    return 0;
}

char *simulated_getcwd(char *buffer, size_t capacity) {
    snprintf(buffer, capacity, "/home/someone");
    return buffer;
}

uid_t simulated_geteuid(void) { return 1000; }

}
