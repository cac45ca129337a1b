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
struct Changes;
struct Pipe;
struct Process;

/// An open file description.
struct Handle {
    enum Kind { file, directory, event, socket, pipe, changes } kind = file;
    std::shared_ptr<Inode> inode;
    std::string path;
    int64_t offset = 0;
    bool isRead = false, isWritten = false;
    uint64_t counter = 0;
    std::shared_ptr<Connection> connection;
    std::shared_ptr<Pipe> stream;
    std::shared_ptr<Changes> reported;
    /// The process that has it; 0 where there is only one.
    int process = 0;
    /// Belongs to a thread that outlives the start.
    bool isThreads = false;
};

/// What is known of the process that runs.
struct ProcessState {
    bool isDead = false;
    int64_t step = 0;
    /// The call at which it dies, and whether of a power cut.
    int64_t deathStep = INT64_MAX;
    bool diesOfPowerCut = false;
    int64_t callsSinceDeath = 0;
    /// Polls since something moved.
    int64_t idlePolls = 0;
    Time movedAt = 0;
    /// How far its clock runs ahead: the waits of a dead process are over at once.
    Time ahead = 0;
};

/// The processes: their descriptors, and whether they still live. Where one starts no other, there is one, without an entry.
class Kernel : public ProcessState {
public:
    explicit Kernel(World &world);
    ~Kernel();

    World &world;
    std::map<int, Handle> handles;
    /// How many descriptors of the recordings' directory are open: only removals open it.
    int removals = 0;
    /// For a canary: the next wait is over at once.
    bool skipsWait = false;

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

    // MARK: Several processes

    std::vector<std::unique_ptr<Process>> processes;
    /// The one that runs; nullptr if there is only one, or none of them runs.
    Process *current = nullptr;
    /// What a process runs; returns its exit code.
    int32_t (*program)(void) = nullptr;
    std::function<void(Process &)> onStart, onEnd;
    std::function<void()> onPowerCut;
    /// Whether the last process to end is not followed by another one.
    bool isStopping = false;

    /// - Parameters: the number of the process that waits for it, 0 for none, and what it has as its descriptors 0, 1 and 3, or -1.
    Process &spawn(std::vector<std::string> words, int parent, int input = -1, int output = -1, int answers = -1);
    Process *process(int number);
    /// Lets them run until the last one has ended.
    void runProcesses();
    /// Lets others run. Returns when something may have changed.
    void wait(Time until);
    void deliver(Process &process, int signal);
    /// A signal stops it, or has it continue.
    void stop(Process &process, bool isStopped);
    void kill(Process &process, int signal);
    /// All processes are gone, and what was not on the disk.
    void cutPower();
    /// A name in a directory has changed, or the file that has it.
    void notify(const std::string &path, uint32_t what);
    /// The number of the process that runs.
    int runner() const;
    /// What the descriptor holds is let go of.
    void release(Handle &handle, int descriptor);
    /// Whether a handler runs. The event that it raises may be closed by then.
    bool isHandlingSignal = false;
    /// How often a process has gone on after a wait.
    int64_t continued = 0;
    [[noreturn]] void runCurrent();

private:
    /// What is left is what is on the disk.
    void loseUnsynced();
    void exchange(Process &process);
    void resume(Process &process);
    void end(Process &process, int status);
    int nextDescriptor = 1 << 20;
};

}
