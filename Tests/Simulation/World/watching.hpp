// A watcher at work: what records beside it, who starts and stops it, and what must come of it.
#pragma once
#include "world.hpp"

namespace world {

struct Process;

class Watching {
public:
    explicit Watching(World &world);
    void run();

private:
    /// A whole content of a recording, and how long nobody wrote to it.
    struct Stage {
        std::string content;
        Time since, until = Clock::never;
    };
    /// What its sidecar file says, or the default, and when.
    struct Label {
        std::string text;
        Time since, until = Clock::never;
    };
    /// One recording as its recorder sees it.
    struct Take {
        size_t file = 0;
        std::vector<Stage> stages;
        std::vector<Label> labels;
        /// Whether it was sent as described before.
        bool isOtherwiseDescribed = false;
        /// What it is written to; null unless it is open.
        std::shared_ptr<Inode> open;
        /// How it gets its name: it is written there, renamed or linked into place.
        enum { inPlace, renamed, linked } way = inPlace;
        int stagesLeft = 0;
        /// When it was last written to.
        Time writtenAt = 0;
    };

    // MARK: The recorders

    void plan(Take &take);
    void later(Take &take, Time delay, void (Watching::*what)(Take &));
    void open(Take &take);
    void write(Take &take);
    void close(Take &take);
    void exchange(Take &take);
    void remove(Take &take);
    void describe(Take &take);
    std::string sidecarOf(const Take &take) { return fileOf(take).path + ".upload"; }
    void noteLabelOf(Take &take);
    void endStage(Take &take);
    void interrupt();
    File &fileOf(const Take &take) { return world.files[take.file]; }
    std::string temporaryPath(const Take &take);
    void append(Take &take, size_t length);
    void publish(const std::string &path);
    Time pause();

    // MARK: The user

    void configure();
    void start();
    void noteStart(Process &process);
    void noteEnd(Process &process);
    void disturb();
    void prepare();
    void becomeHealthy();
    void reload();
    void fill(Take &take);
    void takeSpace();
    void stop(Process &process);
    void look();
    Process *watcher();

    // MARK: The judge

    bool isOnServer(const std::string &content) const;
    bool mayLackRecord() const;
    void judgeLabel(const std::string &content, const std::string &label);
    /// What is to be done; empty if that is nothing.
    std::string rest();
    void judge();
    void judge(const std::string &content, int count, bool mayRepeat);

    World &world;
    Random random;
    Start faulty, healthy;
    std::vector<Take> takes;
    /// What the server had when everything became healthy.
    std::set<std::string> early;
    Time settleTime = 0, startedAt = 0, healthySince = -1, doneSince = -1;
    /// What recorders and users still have in mind.
    int plans = 0;
    int64_t wakeUpsBefore = 0;
    int watcherNumber = 0, deathsLeft = 0, changesOfOptions = 0;
    bool isSecondWatched = false, isAsked = false;
};

}
