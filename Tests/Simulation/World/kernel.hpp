#pragma once
#include "clock.hpp"
#include "random.hpp"
#include "disk.hpp"
#include <functional>
#include <map>
#include <set>
#include <memory>
#include <string>
#include <vector>

namespace world {

class Connection;
class World;

/// An open file description.
struct Handle {
    enum Kind { file, directory, event, socket } kind = file;
    std::shared_ptr<Inode> inode;
    std::string path;
    int64_t offset = 0;
    bool isRead = false, isWritten = false;
    uint64_t counter = 0;
    std::shared_ptr<Connection> connection;
    /// Belongs to a thread that outlives the start.
    bool isThreads = false;
};

/// The state of the one process: its descriptors, and whether it still lives.
class Kernel {
public:
    explicit Kernel(World &world) : world(world) {}

    World &world;
    std::map<int, Handle> handles;
    bool isDead = false;
    int64_t step = 0;
    /// The call at which it dies.
    int64_t deathStep = 0;
    /// How many descriptors of the recordings' directory are open: only removals open it.
    int removals = 0;
    int64_t callsSinceDeath = 0;
    /// Polls since something moved.
    int64_t idlePolls = 0;
    Time movedAt = 0;
    /// For a canary: the next wait is over at once, because the process's clock runs that far ahead.
    bool skipsWait = false;
    Time ahead = 0;

    int open(Handle handle);
    Handle *find(int descriptor, const char *call);
    /// Every call comes by here: time passes, and the process may die.
    void enter(const char *call);
    void moved();
    void die();
    void begin();
    /// So many calls from now; 0 for never.
    void dieAfter(int64_t calls);
    /// Lets threads come to their end.
    void finishThreads();
    std::string openDescriptors() const;
    void raise(int descriptor);

    /// Another process runs while this one waits.
    bool isSecond = false;
    void runSecond();
    std::vector<std::function<void()>> threads;
    std::map<std::string, Time> otherLocks;
    int64_t unixOffset = 0;
    /// What files get as their time, in nanoseconds since 1970.
    int64_t fileTime() const;
    /// What /proc says of this start of the machine.
    std::string bootID() const;
    int boots = 1;

private:
    int nextDescriptor = 1 << 20;
};

}
