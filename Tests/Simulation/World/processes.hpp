// Several processes that take turns, each with a stack of its own, and what they tell each other.
#pragma once
#include "kernel.hpp"
#include "libc.h"
#include <algorithm>
#include <deque>
#include <ucontext.h>

namespace world {

struct Pipe {
    std::string data;
    int readers = 0, writers = 0;

    bool isReady(short events) const { return (events & POLLOUT) || !data.empty() || !writers; }
    ssize_t read(void *buffer, size_t length);
    ssize_t write(const void *buffer, size_t length);
};

/// What inotify(7) reports.
struct Changes {
    struct Watch {
        std::shared_ptr<Inode> directory;
        uint32_t mask;
    };
    struct Event {
        int watch;
        uint32_t mask;
        std::string name;
    };
    std::map<int, Watch> watches;
    std::deque<Event> queue;
    int next = 1;

    void note(const Inode *directory, uint32_t what, const std::string &name, size_t limit);
    ssize_t read(void *buffer, size_t length);
};

struct Process {
    int number = 0, parent = 0;
    std::vector<std::string> words;
    std::vector<char *> arguments;
    /// Its first four descriptors; -1 for the log, or for none.
    int streams[4] = {-1, -1, -1, -1};
    std::map<int, struct sigaction> handlers;
    /// What is exchanged when it runs.
    ProcessState state;
    simulated_variables variables{};
    simulated_watchers_variables watchersVariables{};
    ucontext_t context;
    char *stack = nullptr;
    /// Until when it waits, unless something happens.
    Time deadline = 0;
    /// Whether others see it as ended, with the status of wait(2), and whether it runs no more.
    bool hasEnded = false, isOver = false, isReaped = false;
    int status = 0;
    /// Whether a signal has stopped it, what it gets when it continues, and what wait(2) has to say of that.
    bool isStopped = false;
    std::vector<int> pending;
    std::deque<int> changes;
    /// Whether its watcher has said so.
    bool isStopTold = false;
    /// How often a wait of it has ended without anything having happened.
    int64_t wakeUps = 0;

    /// Whether it sends to a plain endpoint.
    bool isForPlain() const {
        return std::any_of(words.begin(), words.end(), [](auto &word) { return word.rfind("--multipart-url=", 0) == 0; });
    }
};

}
