#include "calls.hpp"
#include <cstdarg>
#include <cstring>

namespace world {

World *the = nullptr;

void Figures::count(const char *name, int64_t by) {
    if (!entries) return;
    for (int index = 0; index < capacity; index++) {
        Entry &entry = entries[index];
        if (!entry.name[0]) strncpy(entry.name, name, sizeof entry.name - 1);
        if (strcmp(entry.name, name)) continue;
        entry.value += by;
        return;
    }
}

const char *const stateDirectory = "/home/someone/.local/state/gighive-upload";

World::World(uint64_t seed, bool traces)
    : seed(seed), traces(traces), scenario(seed), lineRandom(seed * 4 + 1), serverRandom(seed * 4 + 2),
      kernelRandom(seed * 4 + 3), fileRandom(seed * 4 + 4), rewriteRandom(seed * 4 + 6),
      strangerRandom(seed * 4 + 7), otherRandom(seed * 4 + 8), disk(Random(seed * 4 + 5)), kernel(*this), server(*this) {
    disk.isFAT = !hasStableInodes();
    disk.hasJournal = scenario.hasJournal && !disk.isFAT;
    disk.now = [this] { return kernel.fileTime(); };
    disk.create("/recordings", true);
    disk.create("/sent", true);
    disk.create("/home", true);
    disk.create("/home/someone", true);
    disk.syncDirectory("");
    disk.syncDirectory("/home");
    makeFiles();
    makePlan();
    disk.forgetsSyncs = canary == "disk-forgets-syncs";
    disk.isBallastHollow = canary == "ballast-is-hollow";
}

void World::makeFiles() {
    for (size_t index = 0; index < scenario.fileSizes.size(); index++) {
        File file;
        file.name = "take " + std::to_string(index + 1) + ".mp4";
        file.path = "/recordings/" + file.name;
        if (scenario.isWatched) {
            file.versions.push_back("");
            files.push_back(std::move(file));
            continue;
        }
        file.versions.push_back(fileRandom.bytes((size_t)scenario.fileSizes[index]));
        recordings.push_back(disk.place(file.path, file.content(), 1'700'000'000'123'456'789 + (int64_t)index));
        recordings.back()->file = (int)index;
        files.push_back(std::move(file));
    }
}

void World::makePlan() {
    static std::string url;
    static const char *const paths[] = {"/", "/upload?kind=plain", "/files/"};
    plan.destination = (int)scenario.destination;
    url = "http://" + server.host + paths[plan.destination];
    plan.url = url.c_str();
    plan.protocol = scenario.protocol;
    plan.tus_threshold = scenario.tusThreshold;
    plan.chunk_length = scenario.chunkLength;
    plan.overrides_method = scenario.overridesMethod;
    plan.defers_length = scenario.defersLength;
    plan.computes_digest = scenario.computesDigest;
    plan.file_count = (int)files.size();
    plan.jobs = scenario.jobs;
    plan.one_by_one = scenario.isOneByOne;
    plan.retries = scenario.retries;
    plan.retry_milliseconds = scenario.retryMilliseconds;
    plan.retry_maximum_delay_milliseconds = scenario.retryMaximumDelay;
    plan.connect_milliseconds = scenario.connectLimit;
    plan.stall_milliseconds = scenario.stallLimit;
    plan.response_milliseconds = scenario.responseLimit;
    plan.state_directory = stateDirectory;
    plan.rate_limit = scenario.rateLimit;
    plan.proxy = scenario.hasProxy ? "http://proxy.example:3128" : nullptr;
    plan.refreshes = scenario.refreshes;
    plan.deletes = scenario.deletes;
    plan.trusts_server = scenario.trustsServer;
    plan.trusts_settle = scenario.trustsSettle;
    plan.target = "/sent";
    plan.user = server.traits.authenticates ? "someone" : nullptr;
}

const Faults &World::faults() const {
    static const Faults none;
    return isHealthy() ? none : scenario.faults;
}

const LineTraits &World::line() const {
    static const LineTraits good;
    return isHealthy() ? good : scenario.line;
}

int World::fileOf(const std::string &name) const {
    for (size_t index = 0; index < files.size(); index++) {
        if (isNumbered(name, files[index].name)) return (int)index;
    }
    return -1;
}

// MARK: Telling

void World::say(const char *format, ...) {
    mix((uint64_t)clock.now);
    if (!traces) return;
    va_list arguments;
    va_start(arguments, format);
    printf("%12.6f  ", (double)clock.now / 1e6);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

void World::fail(const std::string &what) {
    if (!violation.empty()) return;
    violation = what;
    say("VIOLATION: %s", what.c_str());
}

// MARK: Starts

bool World::beginStart() {
    if (!violation.empty() || startNumber == (int)scenario.starts.size()) return false;
    bool isDone = true;
    for (File &file : files) isDone = isDone && file.isDelivered;
    if (isDone && (scenario.removal == Removal::none || isHealthy())) return false;
    const Start &next = scenario.starts[(size_t)startNumber++];
    if (next.isHealthy) start = &next;
    clock.advance(clock.now + next.pause);
    replaceRecords();
    addForeignRecord();
    disk.freeBlocks = disk.freeFiles = scenario.fillsDisk ? 1 << 20 : 1000;
    disk.isLimited = scenario.fillsDisk;
    if (next.isHealthy) server.becomeHealthy();
    start = &next;
    mustCancel.assign(files.size(), 0);
    for (size_t index = 0; index < outcomes.size(); index++) {
        if (outcomes[index] == WORLD_CHANGED) mustCancel[index] = 1;
    }
    isActive.assign(files.size(), false);
    hadSecond = false;
    deleted.clear();
    bool mustResume = false;
    for (File &file : files) mustResume = mustResume || file.mustResume;
    plan.resumes = mustResume ? WORLD_RESUMES_AND_SENDS : next.resumes ? WORLD_RESUMES : WORLD_SENDS;
    // A run that only sends may finish what a resuming run started.
    for (File &file : files) file.mayRepeat = file.mayRepeat || plan.resumes != WORLD_SENDS;
    noteSending();
    for (File &file : files) {
        if (file.mayRepeat) file.repeatingStarts.insert(startNumber);
    }
    plan.total_milliseconds = next.totalLimit;
    plan.removal = !next.removes ? WORLD_KEEPS : scenario.removal == Removal::moves ? WORLD_MOVES : WORLD_DELETES;
    plan.cleans = next.cleans;
    plan.password = server.password.c_str();
    outcomes.assign(files.size(), -1);
    messages.assign(files.size(), "");
    for (File &file : files) file.versionAtStart = file.versions.size() - 1;
    kernel.begin();
    startedAt = clock.now;
    oversleptOfStart = 0;
    retriesOfStart = connectsOfStart = 0;
    requestsBefore = server.requestCount;
    if (scenario.fillsDisk && next.isHealthy) clock.after(otherRandom.magnitude(1, 10 * second), [this] { fillDisk(); });
    figures.count("starts");
    say("START %d%s", startNumber, next.isHealthy ? " in a healthy world" : "");
    for (size_t index = 0; index < files.size(); index++) {
        if (!fileRandom.chance(faults().fileChanges)) continue;
        int file = (int)index;
        clock.after(fileRandom.magnitude(1, minute), [this, file] { changeFile(file); });
    }
    return true;
}

void World::changeFile(int index) {
    File &file = files[(size_t)index];
    if (isHealthy() || file.isDelivered) return;
    auto inode = disk.find(file.path);
    // It is being removed, or its removal is being checked.
    if (!inode || inode->leaseHolder) return;
    std::string content = file.content();
    int kind = (int)fileRandom.below(4);
    switch (kind) {
    case 0: content = fileRandom.bytes(content.size()); break;
    case 1: {
        // Not by thousands of requests.
        int64_t most = scenario.chunkLength ? 40 * scenario.chunkLength : INT64_MAX;
        content += fileRandom.bytes((size_t)std::min(fileRandom.magnitude(1, 10'000), most));
        break;
    }
    case 2: content.resize((size_t)fileRandom.between(1, (int64_t)content.size())); break;
    case 3: break;
    }
    static const char *const kinds[] = {"rewritten", "longer", "shorter", "touched"};
    say("%s is %s", file.name.c_str(), kinds[kind]);
    figures.count("recordings changed in the meantime");
    inode->data = inode->synced = content;
    inode->modified += 1'000'000'000 + fileRandom.below(1'000'000'000);
    inode->changed = std::max(inode->changed + 1, inode->modified);
    file.versions.push_back(content);
}

void World::rewriteBehind(const std::string &path) {
    if (!rewriteRandom.chance(faults().rewrites)) return;
    auto inode = disk.find(path);
    for (File &file : files) {
        if (file.path != path || file.isDelivered || kernel.isDead || !inode) continue;
        // Each is kept.
        if (file.versions.size() > 20 || file.content().size() > 1 << 20) continue;
        std::string content = file.content();
        bool isRewritten = rewriteRandom.chance(0.7);
        if (isRewritten) {
            size_t from = (size_t)rewriteRandom.below((int64_t)content.size());
            size_t end = rewriteRandom.chance(0.5) ? content.size() : (size_t)rewriteRandom.between((int64_t)from + 1, (int64_t)content.size());
            if (rewriteRandom.chance(0.3)) from = 0;
            content.replace(from, end - from, rewriteRandom.bytes(end - from));
            inode->isDisguised = true;
        }
        say("%s is %s", file.name.c_str(), isRewritten ? "rewritten in place, its modification time restored" : "given another mode");
        figures.count(isRewritten ? "rewrites in disguise" : "changes of the status alone");
        inode->data = inode->synced = content;
        inode->changed += 1'000'000 + rewriteRandom.below(1'000'000'000);
        file.versions.push_back(content);
    }
}

void World::reveal(Inode &inode) {
    if (!inode.isDisguised) return;
    for (auto &[descriptor, handle] : kernel.handles) {
        if (handle.inode.get() == &inode && !kernel.isDead) return;
    }
    inode.isDisguised = false;
    // On FAT, times are compared in steps of two seconds.
    inode.modified += 3'000'000'000;
}

bool World::isTimeForSecond() const {
    return secondSender && !hadSecond && start && start->secondAfter >= 0 && clock.now >= startedAt + start->secondAfter;
}

void World::runSecond() {
    hadSecond = true;
    secondOutcomes.assign(files.size(), -1);
    noteSending();
    secondSender();
    // What the other process has delivered, this one may still have before it.
    noteSending();
}

void World::endStart() {
    kernel.finishThreads();
    if (!kernel.handles.empty()) fail("descriptors left open: " + kernel.openDescriptors());
    kernel.handles.clear();
    judgeStart();
    figures.count("virtual seconds", (clock.now - startedAt) / second);
    figures.count("system calls", kernel.step);
    say("END of start %d", startNumber);
}

void World::noteUnsynced(const std::string &directory) {
    bool isParent = std::string(stateDirectory).rfind(directory + "/", 0) == 0;
    if (isParent) hasUnsyncedParents = true;
}

void World::noteUnsyncedParents() {
    if (disk.hasUnsyncedDirectories(stateDirectory)) hasUnsyncedParents = true;
}

std::vector<int> &World::endsOfProcess() { return kernel.isSecond ? secondOutcomes : outcomes; }

void World::uploadEnded(int index, int outcome, const char *message) {
    say("%s: %s", files[(size_t)index].name.c_str(), outcome == WORLD_DELIVERED ? "DELIVERED" : message);
    bool isDelivered = outcome == WORLD_DELIVERED || outcome == WORLD_DELIVERED_BEFORE;
    mix((uint64_t)outcome);
    std::vector<int> &ended = endsOfProcess();
    if (ended[(size_t)index] >= 0) return fail("an upload that ended twice");
    ended[(size_t)index] = outcome;
    if (kernel.isSecond) {
        // The first one may still remove what it has delivered, when another program has put another recording there, or has changed it.
        const File &file = files[(size_t)index];
        std::set<std::string> stored;
        for (auto &content : file.versions) {
            if (isOnServer(content)) stored.insert(content);
        }
        bool isSame = !file.isMeddledWith && stored.size() < 2;
        bool isWorkedOn = isActive[(size_t)index] && outcome == WORLD_DELIVERED && isSame;
        if (isWorkedOn && !scenario.faults.mayLackRecord()) fail("two processes work on the same upload");
        if (isActive[(size_t)index]) figures.count("second processes turned away");
    } else {
        isActive[(size_t)index] = false;
    }
    messages[(size_t)index] = message;
    if (kernel.isDead || !isDelivered) return;
    bool isBefore = outcome == WORLD_DELIVERED_BEFORE;
    // What was delivered in this start has been judged, and may be deleted by now.
    if (!isBefore || !files[(size_t)index].isDelivered) judgeDelivery(index, isBefore);
    if (!isBefore && plan.removal != WORLD_KEEPS) checkIsRemoved(files[(size_t)index]);
    files[(size_t)index].isDelivered = true;
    figures.count(isBefore ? "delivered before" : "delivered");
    if (!isBefore && startNumber > 1) figures.count("delivered by a later start");
}

}

using namespace world;

extern "C" {

static uint64_t seedOfWorld;
extern Figures::Entry *world_figures;
Figures::Entry *world_figures = nullptr;

void world_create(uint64_t seed, int32_t traces) {
    delete the;
    the = nullptr;
    seedOfWorld = seed;
    the = new World(seed, traces);
    the->figures.entries = world_figures;
}

const world_plan *world_get_plan(void) { return &the->plan; }
const char *world_file_path(int32_t index) { return the->files[(size_t)index].path.c_str(); }
int32_t world_file_is_delivered(int32_t index) { return the->files[(size_t)index].isDelivered; }
int32_t world_begin_start(void) { return the->beginStart() ? the->startNumber : 0; }
void world_end_start(void) { the->endStart(); }

void world_may_cancel(int32_t descriptor) {
    if (the->start->cancelAfter < 0) return;
    World *world = the;
    int start = the->startNumber;
    the->clock.after(the->start->cancelAfter, [world, start, descriptor] {
        if (world->startNumber != start || world->kernel.isDead) return;
        world->say("SIGINT");
        world->figures.count("interrupted by the user");
        world->kernel.raise(descriptor);
    });
}

void world_upload_retries(int32_t index, const char *message) {
    if (canary == "locks-are-not-waited-for" && strstr(message, "locked")) {
        the->kernel.skipsWait = true;
        return;
    }
    the->retriesOfStart++;
    the->figures.count("retries");
    the->say("%s: tries again after: %s", the->files[(size_t)index].name.c_str(), message);
}

void world_upload_recorded(int32_t index) {
    if (!the->kernel.isSecond) the->isActive[(size_t)index] = true;
}

void world_set_second_sender(void (*send)(void)) { the->secondSender = send; }
const char *world_password(void) { return the->server.password.c_str(); }
int32_t world_must_cancel(int32_t index) { return the->mustCancel[(size_t)index]; }

int32_t world_file_at(const char *path) {
    for (size_t index = 0; index < the->files.size(); index++) {
        if (the->files[index].path == path) return (int32_t)index;
    }
    return -1;
}

void world_upload_progress(int32_t index, int64_t delivered, int64_t total) {
    if (delivered < 0 || delivered > total) the->fail("progress of " + std::to_string(delivered) + " of " + std::to_string(total));
    (void)index;
}

void world_upload_again(int32_t index) { the->endsOfProcess()[(size_t)index] = -1; }
void world_upload_ended(int32_t index, int32_t outcome, const char *message) { the->uploadEnded(index, outcome, message); }
void world_note(const char *line) { the->say("  %s", line); }
void world_recording_kept(int32_t index, const char *reason) { the->noteKept(index, reason); }
int32_t world_file_is_there(int32_t index) { return the->disk.find(the->files[(size_t)index].path) != nullptr; }
int32_t world_asks(void) { return canary != "nobody-asks"; }
int32_t world_traces(void) { return the->traces; }
int32_t world_has_diagnostics(void) { return the->traces || the->seed % 8 == 1; }
const char *world_violation(void) { return the->violation.empty() ? nullptr : the->violation.c_str(); }
uint64_t world_hash(void) { return the->hash; }
void world_recording_deleted(int64_t asset) { the->checkDeletion(asset); }
int32_t world_is_dead(void) { return the->kernel.isDead; }
void world_upload_terminated(const char *location) { the->checkTermination(location); }

}
