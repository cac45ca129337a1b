#pragma once
#include "clock.hpp"
#include "random.hpp"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace world {

struct Inode {
    uint64_t number = 0;
    bool isDirectory = false;
    /// What processes see.
    std::string data;
    /// What was there at the last fsync.
    std::string synced;
    /// The first byte that was written or cut off since then. A power cut is sure to leave what comes before it.
    size_t touched = SIZE_MAX;
    /// Nanoseconds since 1970.
    int64_t modified = 0, changed = 0;
    /// A directory's, when its names were last brought to the disk.
    int64_t syncedModified = 0, syncedChanged = 0;
    /// Whether it was rewritten with its modification time restored, by a writer that has not finished.
    bool isDisguised = false;
    int links = 0;
    /// The open file that has the lock (flock), 0 for none.
    int lockHolder = 0;
    /// Not what was written.
    bool isDamaged = false;
    // Of a recording
    /// Which one; negative for what is none.
    int file = -1;
    /// Whether this machine may lose it: it was removed with good reason, or by another program.
    bool isReleased = false;
    /// Whether it may be where delivered recordings are moved.
    bool isMoved = false;
    /// The open file that has a lease on it, 0 for none. Whoever opens the file breaks the lease, and waits for its end.
    int leaseHolder = 0;
    bool isLeaseBroken = false;
    /// Until when another program has it open, and whether for writing.
    int64_t openUntil = 0;
    bool isOpenForWriting = false;
};

/// A file system that keeps its promises, and not more: what was not brought to the disk can be lost, torn, or there.
class Disk {
public:
    explicit Disk(Random random) : random(random) {}

    std::map<std::string, std::shared_ptr<Inode>> names;
    /// What is free, in blocks and in files; whether that is all there is.
    int64_t freeBlocks = 1000, freeFiles = 1000;
    bool isLimited = false;
    static constexpr int64_t blockLength = 4096;
    static int64_t blocks(size_t length) { return ((int64_t)length + blockLength - 1) / blockLength; }
    /// Changes the length, or fails for lack of space.
    bool resize(Inode &inode, size_t length);
    void write(Inode &inode, const void *bytes, size_t length, size_t offset);
    /// Whether a power cut keeps name changes in order (a journal), or any subset of them.
    bool hasJournal = true;
    /// Whether it is FAT: a rename and a removal are several changes, and what a file had is freed before its name is gone.
    bool isFAT = false;
    /// A canary: fsync does nothing for files and their names.
    bool forgetsSyncs = false;
    /// A canary: ballast takes no space.
    bool isBallastHollow = false;
    /// What is changed now gets this as its time.
    std::function<int64_t()> now = [] { return 0; };
    /// Called with a path and what inotify(7) says of a change there.
    std::function<void(const std::string &, uint32_t)> onChange = [](const std::string &, uint32_t) {};

    std::shared_ptr<Inode> find(const std::string &path) const;
    std::shared_ptr<Inode> create(const std::string &path, bool isDirectory);
    /// A file that has been there for long.
    std::shared_ptr<Inode> place(const std::string &path, std::string data, int64_t modified);
    bool hasParent(const std::string &path) const;
    void rename(const std::string &from, const std::string &to);
    void link(const std::string &from, const std::string &to);
    void unlink(const std::string &path);
    void sync(Inode &inode);
    void syncDirectory(const std::string &path);
    /// Whether the name of a directory that the path begins with is not on the disk.
    bool hasUnsyncedDirectories(const std::string &path) const;
    /// FAT: a name that leads to the clusters of another file becomes a file of its own.
    std::shared_ptr<Inode> split(const std::string &path);

    /// FAT: it gets another inode number.
    void renumber(Inode &inode);

    /// What is left is what is on the disk.
    void cutPower();
    int tornFiles = 0;

    static std::string parent(const std::string &path) { return path.substr(0, path.rfind('/')); }

private:
    struct Change {
        enum { link, unlink, rename, free } kind;
        std::string name, to;
        std::shared_ptr<Inode> inode;
    };

    void apply(const Change &change);
    /// A name in its directory has changed.
    void touchParent(const std::string &path);
    void tear(Inode &inode);
    /// A name of it is gone.
    void release(Inode &inode, const std::string &path);

    Random random;
    uint64_t nextNumber = 11;
    std::map<std::string, std::shared_ptr<Inode>> durable;
    /// Changes of names that are not on the disk yet, oldest first.
    std::vector<Change> pending;
};

}
