#pragma once
#include "include/World.h"
#include "clock.hpp"
#include "disk.hpp"
#include "http.hpp"
#include "kernel.hpp"
#include "network.hpp"
#include "random.hpp"
#include "scenario.hpp"
#include "server.hpp"
#include <algorithm>
#include <set>
#include <map>

namespace world {

/// What is broken on purpose; empty if nothing is.
extern std::string canary;

/// What happened how often, over all seeds of a process.
class Figures {
public:
    static constexpr int capacity = 128;
    struct Entry {
        char name[40];
        int64_t value;
    };

    void count(const char *name, int64_t by = 1);
    Entry *entries = nullptr;
};

/// A recording on the machine's disk, and everything that it has been.
struct File {
    std::string path, name;
    std::vector<std::string> versions;
    bool isDelivered = false;
    /// Whether a record has said so.
    bool hasDelivery = false;
    /// Whether another program did something to it after that.
    bool isMeddledWith = false;
    /// What was removed or moved last, and when.
    std::string removed;
    Time removedAt = 0;
    /// Whether a power cut on FAT has made two files of it.
    bool isSplit = false;
    /// The last start that said why it is not removed.
    int keptBy = 0;
    /// Its upload by the names of its records: as they are, and as they were last brought to the disk.
    std::map<std::string, std::string> recorded, synced;
    /// Uploads of records that were damaged since.
    std::set<std::string> mistrusted;
    /// The user must look, and resume it: the server may have stored it.
    bool mustResume = false;
    /// Whether the user asked to send it even if the server may have it.
    bool mayRepeat = false;
    /// The starts that were asked to store it once more. Their forms can arrive when the next start has begun.
    std::set<int> repeatingStarts;
    size_t versionAtStart = 0;
    const std::string &content() const { return versions.back(); }
};

class World {
public:
    World(uint64_t seed, bool traces);
    /// Events hold connections, and these use the server when they end.
    ~World() { clock.clear(); }

    const uint64_t seed;
    const bool traces;
    Scenario scenario;
    Random lineRandom, serverRandom, kernelRandom, fileRandom, rewriteRandom, strangerRandom, otherRandom;
    Clock clock;
    Figures figures;
    Disk disk;
    Kernel kernel;
    Server server;
    std::vector<File> files;
    /// The content of what was deleted on the server during this start.
    std::vector<std::string> deleted;
    world_plan plan{};

    const Faults &faults() const;
    const LineTraits &line() const;
    /// Whether files keep their inode numbers; otherwise it is FAT.
    bool hasStableInodes() const { return !scenario.isFAT && canary != "fat-is-taken-for-ext4"; }
    bool isHealthy() const { return start && start->isHealthy; }

    // MARK: Starts

    bool beginStart();
    void endStart();
    std::vector<int> &endsOfProcess();
    void uploadEnded(int index, int outcome, const char *message);
    int startNumber = 0, connectionNumber = 0;
    bool isTimeForSecond() const;
    void runSecond();
    void (*secondSender)() = nullptr;
    std::vector<bool> isActive;
    std::vector<int> mustCancel;
    const Start *start = nullptr;
    /// A record could not be read once, so that there may be two of one file.
    bool hasReadErrorOfRecord = false;
    /// Whether a parent of the state directory may be missing on disk.
    bool hasUnsyncedParents = false;
    int retriesOfStart = 0, requestsBefore = 0, connectsOfStart = 0;
    Time startedAt = 0, oversleptOfStart = 0;

    // MARK: Judging

    std::string violation;
    void fail(const std::string &what);
    /// What the server has of a file must be what the file has, or had, there.
    void checkStored(const Upload &upload, size_t from);
    /// A tus server has got the last byte of it.
    void noteComplete(const Upload &upload);
    /// A plain endpoint stores another form of this file.
    void noteForm(int index, int start);
    /// What a client sends more than the creation for must be in a record that survives a power cut.
    void checkIsRecorded(const Upload &upload);
    bool mayLackRecord(int64_t length) const;
    /// Whether a record was ever damaged. One that nobody can read may need any file.
    bool hasDamage = false;
    /// What only a damaged record can have told must not be used.
    void checkTrust(const std::string &upload);
    /// The user was told that the server has the upload no more.
    void checkTermination(const std::string &location);
    /// The user was told that the recording is deleted.
    void checkDeletion(int64_t asset);
    /// A PATCH at the right offset met the lock of another one, told by 409.
    void noteConflict(const Upload &upload, const Connection &connection);
    /// The user sends the files: what a record calls delivered, once more.
    void noteSending();
    /// A new upload was created for the file.
    void noteCreation(int file);
    /// A record has got its name.
    void noteRecord(const std::string &path);
    /// FAT: the file was synced where it is.
    void noteOverwritten(const std::string &path);
    /// A record is about to be removed.
    void noteRemoval(const std::string &path);
    /// The names in a directory were brought to the disk.
    void noteSync(const std::string &directory);
    void syncStateDirectory();
    void noteUnsynced(const std::string &directory);
    /// Nobody makes up for what a start has not synced above the records.
    void noteUnsyncedParents();
    /// What is left of the records after a power cut.
    void notePowerCut();
    int fileOf(const std::string &name) const;

    /// A part of the recording has been read: somebody may rewrite it in place and restore its modification time, or change
    /// nothing but its status.
    void rewriteBehind(const std::string &path);
    /// Whoever opens it from now on sees by its modification time that it was rewritten: one process can notice only what happens
    /// while it has the file open.
    void reveal(Inode &inode);

    // MARK: Removals

    /// The recordings on this machine, also those that other programs have put there.
    std::vector<std::shared_ptr<Inode>> recordings;
    /// Names that other programs have given.
    std::set<std::string> otherNames;
    /// The record of an unfinished upload to another server, and of which file it is; negative for none.
    std::string foreignRecord;
    int foreignFile = -1;
    /// Another program exchanges, rewrites, renames, links, opens or removes a delivered recording, or puts another one in its place.
    void meddle();
    void endLease(Inode &inode);
    /// A record says that the file is delivered.
    void noteDelivery(File &file);
    /// The name of a recording is about to be removed, or another one to be given.
    void noteUnlink(const std::string &path);
    void noteNewName(const std::string &from, const std::string &to);
    /// The server takes this content under this label. Called for watchers, too.
    void noteLabel(const std::string &content, const std::string &label);
    std::function<void(const std::string &content, const std::string &label)> onLabel;
    /// Under which labels the server was given what it took.
    std::map<std::string, std::set<std::string>> labels;
    void checkSidecar(const std::string &path);
    void noteKept(int index, const char *reason);
    /// A start that removes what it delivers has delivered it.
    void checkIsRemoved(const File &file);
    void noteDeath();
    bool isOnServer(const std::string &content) const;
    /// Whether the endpoint of the other section has it, if there is one.
    bool isOnOther(const std::string &content) const;
    /// Whether nothing speaks against the removal of a delivered recording.
    bool mustBeRemoved(const File &file) const;
    /// What a watcher keeps free, and when other programs last freed space.
    static constexpr int64_t wantedBlocks = 3000;
    Time spaceFreedAt = -hour;
    bool isSpaceShort() const { return disk.freeBlocks < wantedBlocks; }
    /// A recorder takes what is free, but not what is reserved for removals.
    void fillDisk();
    std::vector<std::string> recordsOf(const File &file) const;
    void judgeRecordings();
    /// A process writes to the log.
    void noteLog(const std::string &text);
    /// A process tells another one.
    void noteEvent(const std::string &line);
    /// Whether a record says that a plain endpoint may have the file.
    bool mayBeStored(const File &file) const;

    // MARK: Telling

    void say(const char *format, ...) __attribute__((format(printf, 2, 3)));
    uint64_t hash = 0xcbf29ce484222325;
    void mix(uint64_t value) { hash = (hash ^ value) * 0x100000001b3; }

private:
    void makeFiles();
    void makePlan();
    void changeFile(int index);
    /// Between two starts a process of another version is at work, which knows nothing of the index.
    void replaceRecords();
    void judgeDelivery(int index, bool before);
    void judgeStart();
    void damage(File &file, const std::string &path);
    bool isGood(const std::string &upload, int file);
    Inode &putRecording(File &file, std::string content);
    bool rewriteRecord(std::string &content, const std::string &id, const std::string &from, const std::string &to) const;
    void addForeignRecord();
    void checkRemoval(Inode &inode, const std::string &path);
    std::string unfinishedRecord(const File &file) const;
    void judgeOutcome(int index, int outcome);
    void judgeEffort();
    void checkRepetition(File &file, bool mayLackRecord);
    std::string wholeRecord(const std::string &path) const;

    std::vector<int> outcomes, secondOutcomes;
    bool hadSecond = false;
    std::vector<std::string> messages;
};

extern World *the;
extern const char *const stateDirectory;

}
