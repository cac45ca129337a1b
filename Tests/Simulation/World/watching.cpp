// A watcher at work: what records beside it, who starts and stops it, and what must come of it.
#include "watching.hpp"
#include "calls.hpp"
#include "processes.hpp"
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

namespace world {

namespace {

const char *const configuration = "/home/someone/watch.conf";
const char *const directories[] = {"/recordings/a", "/recordings/b"};

/// What is to be delivered is so in a healthy world after this time.
constexpr Time patience = 50 * hour;
/// How long a watcher with nothing to do is observed, and how often it may go on in this time.
constexpr Time idleTime = 20 * minute;
constexpr int64_t idleWakeUps = 60;
/// How often more if space is short, for each section.
constexpr int64_t spaceWakeUps = 25;

bool isHiddenName(const std::string &path) { return path[path.rfind('/') + 1] == '.'; }

}

Watching::Watching(World &world) : world(world), random(world.seed * 4 + 9) {
    healthy.isHealthy = true;
    if (random.chance(0.3)) faulty.callsAfterHiding = random.between(1, 40);
    world.start = &faulty;
    world.mustCancel.assign(world.files.size(), 0);
    world.disk.create("/", true);
    for (auto directory : directories) world.disk.create(directory, true);
    world.disk.syncDirectory("");
    world.disk.syncDirectory("/recordings");
    Kernel &kernel = world.kernel;
    world.disk.onChange = [&kernel](const std::string &path, uint32_t what) { kernel.notify(path, what); };
    kernel.onStart = [this](Process &process) { noteStart(process); };
    kernel.onEnd = [this](Process &process) { noteEnd(process); };
    kernel.onPowerCut = [this] { interrupt(); };
    world.onLabel = [this](const std::string &content, const std::string &label) { judgeLabel(content, label); };
    world.disk.isLimited = world.scenario.fillsDisk || world.scenario.keepsFree;
    if (world.disk.isLimited) world.disk.freeBlocks = world.disk.freeFiles = 1 << 20;
    settleTime = random.of({2 * second, 10 * second, 30 * second});
    // Where the other section sends everything, so does this one.
    isSecondWatched = random.chance(0.5) || world.scenario.hasOther;
    deathsLeft = random.chance(0.5) ? 0 : (int)random.between(1, 4);
    takes.resize(world.files.size());
    for (size_t index = 0; index < takes.size(); index++) {
        takes[index].file = index;
        plan(takes[index]);
    }
    int disturbances = random.chance(0.2) ? 0 : (int)random.between(1, 6);
    for (; disturbances > 0; disturbances--) {
        plans++;
        world.clock.after(random.magnitude(millisecond, 3 * hour), [this] {
            plans--;
            disturb();
        });
    }
}

void Watching::run() {
    start();
    prepare();
    world.kernel.runProcesses();
    if (world.violation.empty()) judge();
    world.clock.clear();
    world.start = nullptr;
}

// MARK: The recorders

void Watching::later(Take &take, Time delay, void (Watching::*what)(Take &)) {
    plans++;
    size_t index = take.file;
    int boot = world.kernel.boots;
    world.clock.after(delay, [this, index, boot, what] {
        plans--;
        // What was being written when the power was cut is not continued. Something new can begin.
        bool isOld = boot != world.kernel.boots && (what == &Watching::write || what == &Watching::close);
        if (!isOld) (this->*what)(takes[index]);
    });
}

Time Watching::pause() {
    switch (random.below(4)) {
    case 0: return random.magnitude(10 * millisecond, 20 * second);
    case 1: return settleTime / 2 + random.below(settleTime);
    case 2: return random.magnitude(minute, 2 * hour);
    default: return settleTime + random.below(minute);
    }
}

void Watching::plan(Take &take) {
    File &file = fileOf(take);
    file.path = std::string(directories[random.chance(0.3)]) + "/" + file.name;
    take.stagesLeft = random.chance(0.5) ? 1 : (int)random.between(2, 4);
    bool hasLinks = world.scenario.hasLinks && !world.disk.isFAT;
    if (random.chance(0.4)) take.way = hasLinks && random.chance(0.5) ? Take::linked : Take::renamed;
    later(take, random.chance(0.3) ? 0 : random.magnitude(millisecond, hour), &Watching::open);
    if (random.chance(0.15)) later(take, random.magnitude(second, 3 * hour), &Watching::exchange);
    if (random.chance(0.1)) later(take, random.magnitude(second, 3 * hour), &Watching::remove);
    if (!world.scenario.hasSidecars) return;
    noteLabelOf(take);
    for (int64_t count = random.below(4); count > 0; count--) later(take, random.magnitude(millisecond, 3 * hour), &Watching::describe);
}

std::string Watching::temporaryPath(const Take &take) {
    const File &file = world.files[take.file];
    return Disk::parent(file.path) + "/." + file.name + ".part";
}

/// What recorders do is on the disk at once.
void Watching::publish(const std::string &path) { world.disk.syncDirectory(Disk::parent(path)); }

void Watching::open(Take &take) {
    if (take.open) return;
    File &file = fileOf(take);
    auto inode = world.disk.find(file.path);
    if (inode && inode->leaseHolder) {
        // It waits for the lease to end.
        inode->isLeaseBroken = true;
        return later(take, 100 * millisecond, &Watching::open);
    }
    if (inode) {
        if (world.scenario.hasLeases) endStage(take);
        if (random.chance(0.2)) inode->data = inode->synced = "";
    } else {
        endStage(take);
        std::string path = take.way == Take::inPlace ? file.path : temporaryPath(take);
        inode = world.disk.create(path, false);
        inode->file = (int)take.file;
        world.recordings.push_back(inode);
        publish(path);
    }
    take.open = inode;
    inode->isOpenForWriting = true;
    inode->openUntil = Clock::never;
    write(take);
}

void Watching::append(Take &take, size_t length) {
    File &file = fileOf(take);
    Inode &inode = *take.open;
    inode.data += random.bytes(length);
    inode.synced = inode.data;
    inode.changed = std::max(inode.changed + 1, world.kernel.fileTime());
    inode.modified = std::max(inode.modified + 1, world.kernel.fileTime());
    if (file.versions.back().empty()) file.versions.clear();
    file.versions.push_back(inode.data);
    file.mustResume = false;
}

void Watching::write(Take &take) {
    if (!take.open) return;
    int64_t size = world.scenario.fileSizes[take.file];
    // Where open files cannot be detected, each content may be whole.
    if (!world.scenario.hasLeases) endStage(take);
    append(take, (size_t)random.magnitude(8, size));
    world.say("%s is written", fileOf(take).name.c_str());
    take.writtenAt = world.clock.now;
    if (!world.scenario.hasLeases) take.stages.push_back({take.open->data, world.clock.now});
    bool isLast = random.chance(0.6);
    later(take, random.chance(0.1) ? pause() : random.magnitude(millisecond, 10 * second), isLast ? &Watching::close : &Watching::write);
}

void Watching::close(Take &take) {
    if (!take.open) return;
    File &file = fileOf(take);
    auto inode = std::move(take.open);
    take.open = nullptr;
    inode->openUntil = 0;
    world.say("%s is closed", file.name.c_str());
    std::string temporary = temporaryPath(take);
    bool isNew = world.disk.find(temporary) == inode;
    if (isNew) {
        // What was put there in the meantime is replaced.
        auto replaced = world.disk.find(file.path);
        bool isLinked = take.way == Take::linked && !replaced;
        if (replaced) replaced->isReleased = true;
        isLinked ? world.disk.link(temporary, file.path) : world.disk.rename(temporary, file.path);
        if (isLinked) world.disk.unlink(temporary);
        publish(file.path);
    } else {
        world.kernel.notify(file.path, IN_CLOSE_WRITE);
    }
    endStage(take);
    // What is renamed into place is new there. Otherwise it has not changed since it was written.
    take.stages.push_back({inode->data, isNew ? world.clock.now : take.writtenAt});
    if (--take.stagesLeft > 0) later(take, pause(), &Watching::open);
}

void Watching::endStage(Take &take) {
    if (!take.stages.empty()) take.stages.back().until = std::min(take.stages.back().until, world.clock.now);
}

/// Another file takes its place.
void Watching::exchange(Take &take) {
    File &file = fileOf(take);
    auto inode = world.disk.find(file.path);
    if (take.open || !inode) return;
    world.say("%s is exchanged", file.name.c_str());
    world.figures.count("recordings exchanged");
    std::string path = temporaryPath(take);
    auto other = world.disk.create(path, false);
    other->file = (int)take.file;
    bool isSameLength = random.chance(0.5);
    other->data = other->synced = random.bytes(isSameLength ? inode->data.size() : (size_t)random.magnitude(8, 10'000));
    // On FAT, times are compared in steps of two seconds.
    other->modified = inode->modified + 3'000'000'000;
    if (canary == "exchanges-leave-no-trace") {
        other->data.resize(inode->data.size());
        other->synced = other->data;
        other->number = inode->number, other->modified = inode->modified, other->changed = inode->changed;
    }
    world.recordings.push_back(other);
    inode->isReleased = true;
    world.disk.rename(path, file.path);
    publish(path);
    endStage(take);
    file.versions.push_back(other->data);
    file.mustResume = false;
    take.stages.push_back({other->data, world.clock.now});
}

void Watching::remove(Take &take) {
    File &file = fileOf(take);
    auto inode = world.disk.find(file.path);
    if (take.open || !inode) return;
    world.say("%s is removed by its recorder", file.name.c_str());
    inode->isReleased = true;
    world.disk.unlink(file.path);
    publish(file.path);
    endStage(take);
}

/// Its user writes its sidecar file, changes or removes it.
void Watching::describe(Take &take) {
    std::string path = sidecarOf(take), temporary = temporaryPath(take) + ".upload";
    auto inode = world.disk.find(path);
    noteLabelOf(take);
    // What is wrong is corrected.
    bool isWrong = random.chance(0.1);
    if (isWrong) later(take, pause(), &Watching::describe);
    std::string text = isWrong ? "label\n" : sidecarText("Take " + random.hex((size_t)random.between(1, 8)));
    bool isRenamed = random.chance(0.5);
    if (inode && random.chance(0.3)) {
        world.disk.unlink(path);
    } else {
        if (isRenamed || !inode) inode = world.disk.create(isRenamed ? temporary : path, false);
        inode->data = inode->synced = text;
        // On FAT, times are compared in steps of two seconds.
        inode->modified = inode->changed = std::max(inode->modified + 3'000'000'000, world.kernel.fileTime());
        isRenamed ? world.disk.rename(temporary, path) : world.kernel.notify(path, IN_CLOSE_WRITE);
    }
    publish(path);
    noteLabelOf(take);
    world.figures.count("sidecars changed");
    world.say("%s says %s", path.c_str(), take.labels.back().text.c_str());
}

/// What holds from now on.
void Watching::noteLabelOf(Take &take) {
    auto inode = world.disk.find(sidecarOf(take));
    size_t begin = sidecarText("").size() - 1;
    bool isWhole = inode && inode->data.size() > begin;
    // A wrong one says nothing that could be sent.
    std::string text = isWhole ? inode->data.substr(begin, inode->data.size() - begin - 1) : inode ? "\n"
        : world.scenario.destination == Destination::gigHive ? Scenario::label : "";
    if (!take.labels.empty() && take.labels.back().text == text) return;
    if (!take.labels.empty()) take.labels.back().until = world.clock.now;
    take.labels.push_back({text, world.clock.now});
}

/// What was being written is left as it is.
void Watching::interrupt() {
    for (Take &take : takes) {
        if (!take.open) continue;
        auto inode = std::move(take.open);
        take.open = nullptr;
        bool isThere = world.disk.find(fileOf(take).path) == inode;
        endStage(take);
        if (isThere) take.stages.push_back({inode->data, take.writtenAt});
        if (world.disk.find(temporaryPath(take)) != inode) continue;
        inode->isReleased = true;
        world.disk.unlink(temporaryPath(take));
        publish(fileOf(take).path);
    }
}

// MARK: The user

void Watching::configure() {
    const Scenario &scenario = world.scenario;
    auto seconds = [](Time time) { return std::to_string(time / second) + "s\n"; };
    std::string text;
    switch (scenario.destination) {
    case Destination::gigHive: {
        static const char *const protocols[] = {"auto", "multipart", "tus"};
        text = "server = http://" + world.server.host + "/\nlabel = " + Scenario::label + "\norg-name = The Band\nprotocol = "
            + protocols[scenario.protocol] + "\nthreshold = " + std::to_string(scenario.tusThreshold) + "\n";
        break;
    }
    case Destination::multipart: text = "multipart-url = http://" + world.server.host + "/upload?kind=plain\n"; break;
    case Destination::tus: text = "tus-url = http://" + world.server.host + "/files/\n"; break;
    }
    text += "settle = " + seconds(settleTime);
    if (scenario.removal != Removal::none) text += scenario.removal == Removal::deletes ? "after = remove\n" : "after = move=/sent\n";
    if (scenario.keepsFree) text += "keep-free = " + std::to_string(World::wantedBlocks * Disk::blockLength) + "\n";
    if (scenario.removal != Removal::none || scenario.keepsFree) {
        if (scenario.trustsServer) text += "trust-server = yes\n";
        if (scenario.trustsSettle) text += "trust-settle = yes\n";
    }
    if (scenario.computesDigest) text += "digest = yes\n";
    text += "jobs = " + std::to_string(scenario.jobs) + "\n";
    // What only the watcher's groups and workers are compared by.
    if (changesOfOptions) text += "stall-timeout = " + std::to_string(30 + changesOfOptions) + "s\n";
    for (auto directory : directories) {
        bool isSecond = directory != directories[0];
        if (!isSecond || isSecondWatched) text += std::string("[watch ") + directory + "]\n";
    }
    if (scenario.hasOther) {
        text += "[watch /recordings]\nmultipart-url = http://" + world.server.host + "/upload?kind=plain\nafter = "
            + (scenario.otherRemoves ? "remove\n" : "keep\n");
    }
    world.disk.place(configuration, text, world.kernel.fileTime());
}

Process *Watching::watcher() {
    Process *process = world.kernel.process(watcherNumber);
    return process && !process->hasEnded ? process : nullptr;
}

void Watching::start() {
    if (watcher() || isAsked) return;
    configure();
    world.startNumber++;
    startedAt = world.clock.now;
    if (canary == "watchers-forget") {
        for (auto &take : takes) {
            for (auto &path : world.recordsOf(fileOf(take))) {
                if (path.find(".delivered") != path.npos) world.disk.unlink(path);
            }
        }
        world.syncStateDirectory();
    }
    world.figures.count("starts of a watcher");
    watcherNumber = world.kernel.spawn({"gighive-upload", "watch", std::string("--config=") + configuration}, 0).number;
}

void Watching::noteStart(Process &process) {
    process.state.diesOfPowerCut = random.chance(0.4);
    if (healthySince >= 0 || deathsLeft == 0 || !random.chance(0.4)) return;
    deathsLeft--;
    process.state.deathStep = random.magnitude(1, 5000);
}

void Watching::noteEnd(Process &process) {
    if (process.parent) {
        if (process.status == SIGKILL) faulty.callsAfterHiding = 0;
        return;
    }
    if (isAsked && process.status != 0) world.fail("a watcher that was asked to end ended with status " + std::to_string(process.status));
    if (isAsked) return;
    // What began before everything was healthy may have failed, or was asked to end.
    if (healthySince >= 0 && startedAt > healthySince) return world.fail("the watcher ended by itself with status " + std::to_string(process.status));
    plans++;
    world.clock.after(random.magnitude(10 * millisecond, 10 * minute), [this] {
        plans--;
        start();
    });
}

void Watching::disturb() {
    Kernel &kernel = world.kernel;
    Process *watcher = this->watcher(), *worker = nullptr;
    for (auto &process : kernel.processes) {
        if (process->parent && !process->hasEnded) worker = process.get();
    }
    Take &take = takes[(size_t)random.below((int64_t)takes.size())];
    auto inode = world.disk.find(fileOf(take).path);
    switch (random.below(world.scenario.keepsFree ? 11 : 9)) {
    case 0: return watcher ? kernel.kill(*watcher, SIGKILL) : void();
    case 1: return worker ? kernel.kill(*worker, SIGKILL) : void();
    case 2: return watcher ? kernel.deliver(*watcher, SIGTERM) : void();
    case 3: return kernel.cutPower();
    case 4: changesOfOptions++; [[fallthrough]];
    case 5:
        if (changesOfOptions && !world.scenario.hasOther && random.chance(0.5)) isSecondWatched = !isSecondWatched;
        configure();
        world.say("RELOAD");
        world.figures.count("reloads");
        return watcher ? kernel.deliver(*watcher, SIGHUP) : void();
    case 6:
        if (!inode || inode->leaseHolder) return;
        world.say("%s gets another mode", fileOf(take).name.c_str());
        inode->changed = std::max(inode->changed + 1, kernel.fileTime());
        fileOf(take).versions.push_back(inode->data);
        return kernel.notify(fileOf(take).path, IN_ATTRIB);
    case 7:
        if (!world.disk.isFAT) return;
        world.say("the kernel forgets inode numbers");
        world.figures.count("inode numbers forgotten");
        // Not those of what is open.
        for (auto &[path, inode] : world.disk.names) {
            bool isOpen = inode->openUntil > world.clock.now || std::any_of(kernel.handles.begin(), kernel.handles.end(), [&](auto &handle) {
                return handle.second.inode == inode;
            });
            if (!isOpen) world.disk.renumber(*inode);
        }
        return;
    case 8: return worker ? stop(*worker) : void();
    default: return takeSpace();
    }
}

/// A signal stops it for a time, and its watcher says so.
void Watching::stop(Process &process) {
    Kernel &kernel = world.kernel;
    int number = process.number;
    kernel.stop(process, true);
    world.figures.count("processes stopped");
    plans++;
    world.clock.after(random.magnitude(second, 3 * hour), [this, &kernel, number] {
        plans--;
        kernel.stop(*kernel.process(number), false);
    });
    world.clock.after(minute, [this, &kernel, number] {
        const Process &process = *kernel.process(number);
        bool mustBeTold = process.isStopped && process.parent == watcherNumber && watcher() && !world.scenario.faults.oversleep;
        if (mustBeTold && !process.isStopTold) world.fail("nobody says that process " + std::to_string(number) + " is stopped");
    });
}

/// Other programs take space, or free it.
void Watching::takeSpace() {
    world.disk.freeBlocks = random.chance(0.3) ? 1 << 20 : World::wantedBlocks - random.magnitude(1, 40);
    world.say("%lld blocks are free", (long long)world.disk.freeBlocks);
    world.figures.count("space taken or freed");
    if (!world.isSpaceShort()) world.spaceFreedAt = world.clock.now;
}

void Watching::prepare() {
    if (plans == 0) return becomeHealthy();
    world.clock.after(minute, [this] { prepare(); });
}

/// From now on, nothing goes wrong and nobody changes anything.
void Watching::becomeHealthy() {
    world.say("A HEALTHY WORLD");
    healthySince = world.clock.now;
    world.start = &healthy;
    world.server.becomeHealthy();
    for (auto &process : world.kernel.processes) process->state.deathStep = INT64_MAX;
    // That of the process that runs.
    world.kernel.deathStep = INT64_MAX;
    for (auto &[path, inode] : world.disk.names) {
        if (inode->file >= 0 && (isOnServer(inode->data) || world.isOnOther(inode->data))) early.insert(inode->data);
    }
    isSecondWatched = true;
    if (world.scenario.keepsFree) takeSpace();
    configure();
    start();
    reload();
    // What was refused is tried again.
    world.clock.after(random.magnitude(minute, 3 * hour), [this] { reload(); });
    if (world.scenario.fillsDisk) later(takes[0], random.magnitude(second, hour), &Watching::fill);
    look();
}

void Watching::look() {
    std::string rest = this->rest();
    Time now = world.clock.now;
    Process *process = watcher();
    if (!rest.empty() && now - healthySince > patience) return world.fail(rest);
    if (!rest.empty() || !process) doneSince = -1;
    if (doneSince < 0 && rest.empty() && process) {
        doneSince = now;
        wakeUpsBefore = process->wakeUps;
    }
    bool isObserved = doneSince >= 0 && now - doneSince >= idleTime;
    if (!isObserved) return world.clock.after(10 * second, [this] { look(); });
    int64_t wakeUps = process->wakeUps - wakeUpsBefore;
    if (wakeUps > idleWakeUps + (world.scenario.keepsFree ? 3 * spaceWakeUps : 0)) world.fail("a watcher with nothing to do wakes up " + std::to_string(wakeUps) + " times in 20 minutes");
    world.say("the watcher woke up %lld times", (long long)wakeUps);
    isAsked = world.kernel.isStopping = true;
    world.kernel.deliver(*process, SIGTERM);
    world.clock.after(10 * second, [this] {
        if (watcher()) world.fail("a watcher that was asked to end does not end");
    });
}

void Watching::reload() {
    auto process = watcher();
    bool isReady = process && process->handlers.count(SIGHUP);
    isReady ? world.kernel.deliver(*process, SIGHUP) : world.clock.after(minute, [this] { reload(); });
}

/// A recorder takes what is free, and another one begins.
void Watching::fill(Take &take) {
    world.fillDisk();
    take.stagesLeft = 1;
    open(take);
}

// MARK: The judge

void World::noteLog(const std::string &text) {
    say("  [%d] %.*s", kernel.runner(), (int)text.size() - 1, text.c_str());
    for (auto &process : kernel.processes) {
        bool isNamed = text.find("has stopped process " + std::to_string(process->number)) != text.npos;
        process->isStopTold = process->isStopTold || isNamed;
    }
}

void World::noteEvent(const std::string &line) {
    say("  [%d] %.*s", kernel.runner(), (int)line.size() - 1, line.c_str());
    if (line.find("\"event\":\"retry\"") != line.npos) retriesOfStart++;
    if (line.find("\"again\":\"never\"") == line.npos) return;
    for (File &file : files) file.mustResume = file.mustResume || line.find("\"" + file.path + "\"") != line.npos;
}

bool Watching::isOnServer(const std::string &content) const {
    auto &lost = world.server.lost;
    return world.isOnServer(content) || std::count(lost.begin(), lost.end(), content);
}

/// Whether what was delivered may have no record, or none that can be read.
bool Watching::mayLackRecord() const {
    const Faults &faults = world.scenario.faults;
    return faults.mayLackRecord() || world.hasReadErrorOfRecord || world.hasUnsyncedParents || faults.rot > 0;
}

std::string Watching::rest() {
    if (plans > 0) return "recorders do not come to an end";
    for (auto &[path, inode] : world.disk.names) {
        // On FAT, a power cut can free what a file has and leave its name.
        if (inode->file < 0 || !isRecording(path) || inode->data.empty()) continue;
        if (isHiddenName(path) && world.otherNames.count(path)) continue;
        if (isHiddenName(path)) return path + " is left behind";
        bool isOnMain = isOnServer(inode->data);
        if (isOnMain && world.isOnOther(inode->data)) {
            // What was delivered earlier may be kept for good, as after an error of the disk.
            bool mayStay = world.scenario.removal == Removal::none || early.count(inode->data);
            if (world.scenario.keepsFree && world.isSpaceShort()) mayStay = early.count(inode->data) && mayLackRecord();
            if (mayStay || !world.mustBeRemoved(world.files[(size_t)inode->file])) continue;
            return path + " is not removed";
        }
        bool isPlain = isOnMain || world.scenario.destination != Destination::gigHive;
        const File &file = world.files[(size_t)inode->file];
        if (isPlain && (file.mustResume || world.mayBeStored(file))) continue;
        return path + " is not delivered" + (isOnMain ? " by the other section" : "");
    }
    return "";
}

/// - Parameter mayRepeat: whether the server recognizes what it has.
void Watching::judge(const std::string &content, int count, bool mayRepeat) {
    if (!count) return;
    bool isSettled = false;
    std::string name;
    for (auto &take : takes) {
        for (auto &stage : take.stages) {
            if (stage.content != content) continue;
            name = fileOf(take).name;
            mayRepeat = mayRepeat || fileOf(take).isSplit;
            Time until = std::min(stage.until, world.clock.now);
            isSettled = isSettled || until - stage.since >= settleTime;
        }
    }
    if (!isSettled) return world.fail(name.empty() ? "the server has what was never a whole recording" : "the server has " + name + " before it had settled");
    if (count > 1 && !mayRepeat && !mayLackRecord()) world.fail("the server has " + name + " " + std::to_string(count) + " times");
}

/// A label was in force while the recording had this content.
void Watching::judgeLabel(const std::string &content, const std::string &label) {
    if (!world.scenario.hasSidecars) return;
    for (auto &take : takes) {
        noteLabelOf(take);
        for (auto &stage : take.stages) {
            if (stage.content != content) continue;
            take.isOtherwiseDescribed = take.isOtherwiseDescribed || take.labels.back().text != label;
            // The second name of a recording has no sidecar.
            bool isRight = fileOf(take).isSplit || std::any_of(take.labels.begin(), take.labels.end(), [&](const Label &known) {
                return known.text == label && known.until >= stage.since;
            });
            if (!isRight) world.fail(fileOf(take).name + " is sent as " + label + ", which nobody said of it");
        }
    }
}

void Watching::judge() {
    // What has left took its sidecar along, unless it was described anew.
    for (auto &take : takes) {
        const File &file = fileOf(take);
        bool isGone = !world.disk.find(file.path) && file.removedAt > healthySince && !early.count(file.removed);
        if (isGone && !take.isOtherwiseDescribed && world.disk.find(sidecarOf(take))) world.fail(sidecarOf(take) + " is left behind");
    }
    std::map<std::string, int> stored, others;
    for (auto &recording : world.server.recordings) stored[recording.content] += !recording.isCorrupt;
    if (world.scenario.destination == Destination::tus) {
        for (auto &[id, upload] : world.server.uploads) stored[upload.data] += upload.isComplete;
        for (auto &upload : world.server.former) stored[upload.data]++;
    }
    for (auto &recording : world.server.others) others[recording.content]++;
    for (auto &[content, count] : stored) judge(content, count, world.scenario.destination == Destination::gigHive);
    for (auto &[content, count] : others) judge(content, count, false);
    world.judgeRecordings();
}

}

using namespace world;

extern "C" {

int32_t world_has_watcher(uint64_t seed) { return Scenario::hasWatcher(seed); }

int32_t world_is_watched(void) { return the->scenario.isWatched; }

void world_watch(int32_t (*program)(void)) {
    the->kernel.program = program;
#if __has_feature(address_sanitizer)
    // A watcher frees not everything before it ends.
    __lsan::ScopedDisabler disabler;
#endif
    Watching(*the).run();
}

}
