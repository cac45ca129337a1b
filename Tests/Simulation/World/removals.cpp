// Recordings that leave this machine: what other programs do to them, and whether the server has each that is gone.
#include "calls.hpp"
#include "processes.hpp"

namespace world {

namespace {

constexpr const char *target = "/sent/";

bool isMoved(const std::string &path) { return path.rfind(target, 0) == 0; }

bool isHere(const std::string &path) { return isRecording(path) || isMoved(path); }

/// The name of a recording while it is removed.
bool isHidden(const std::string &path) {
    return isRecording(path) && path.find("/.gighive-upload-") != path.npos && !isBallast(path);
}

}

// MARK: Other programs

Inode &World::putRecording(File &file, std::string content) {
    auto inode = disk.create(file.path, false);
    inode->data = inode->synced = content;
    inode->file = (int)(&file - files.data());
    recordings.push_back(inode);
    file.versions.push_back(std::move(content));
    return *inode;
}

void World::meddle() {
    if (!otherRandom.chance(faults().meddles)) return;
    File &file = files[(size_t)otherRandom.below((int64_t)files.size())];
    // Other changes before the delivery are made elsewhere.
    if (!file.hasDelivery || file.versions.size() > 20) return;
    auto inode = disk.find(file.path);
    // What it does is on the disk at once, and so is what came before.
    disk.syncDirectory("/recordings");
    const char *what = nullptr;
    bool isTraceless = canary == "exchanges-leave-no-trace";
    auto content = [&] {
        bool isSameLength = otherRandom.chance(0.5) || isTraceless;
        return otherRandom.bytes(isSameLength ? file.content().size() : (size_t)otherRandom.magnitude(1, 10'000));
    };
    auto name = [&](const char *kind) {
        std::string path = "/recordings/" + std::string(kind) + " " + std::to_string(otherNames.size()) + ".mp4";
        otherNames.insert(path);
        return path;
    };
    switch (inode ? otherRandom.below(6) : 0) {
    case 0: {
        what = inode ? "exchanged" : "recorded again";
        if (inode) disk.unlink(file.path), inode->isReleased = true;
        Inode &other = putRecording(file, content());
        if (inode && isTraceless) other.number = inode->number, other.modified = inode->modified, other.changed = inode->changed;
        break;
    }
    case 1: {
        // Whoever opens it for writing waits.
        if (inode->leaseHolder) return;
        std::string data = content();
        bool isDisguised = scenario.hasLeases && hasStableInodes() && data.size() == inode->data.size() && otherRandom.chance(0.5);
        what = isDisguised ? "rewritten in place, its modification time restored" : "rewritten in place";
        inode->data = inode->synced = data;
        inode->changed = std::max(inode->changed + 1, kernel.fileTime());
        if (isDisguised) inode->isDisguised = true;
        // On FAT, times are compared in steps of two seconds.
        if (!isDisguised) inode->modified += 3'000'000'000;
        file.versions.push_back(data);
        reveal(*inode);
        break;
    }
    case 2:
        what = "removed";
        disk.unlink(file.path);
        inode->isReleased = true;
        break;
    case 3:
        what = "renamed";
        disk.rename(file.path, name("final"));
        break;
    case 4:
        if (!scenario.hasLinks || disk.isFAT) return;
        what = "given another name";
        disk.link(file.path, name("kept"));
        break;
    case 5:
        what = "opened";
        inode->isOpenForWriting = otherRandom.chance(0.5);
        if (inode->leaseHolder) inode->isLeaseBroken = true;
        if (!inode->leaseHolder) inode->openUntil = clock.now + otherRandom.magnitude(millisecond, hour);
        break;
    }
    disk.syncDirectory("/recordings");
    say("%s is %s by another program", file.name.c_str(), what);
    figures.count("recordings others meddled with");
    file.isMeddledWith = true;
    // Its status has changed, at least.
    file.versions.push_back(file.content());
    // Nobody sends what is there now.
    file.isDelivered = true;
}

void World::endLease(Inode &inode) {
    if (inode.isLeaseBroken && !kernel.current) inode.openUntil = clock.now + otherRandom.magnitude(millisecond, minute);
    inode.leaseHolder = 0;
    inode.isLeaseBroken = false;
}

void World::noteDelivery(File &file) {
    file.hasDelivery = true;
    if (!otherRandom.chance(faults().losesRecordings)) return;
    for (auto at = server.recordings.begin(); at != server.recordings.end();) {
        bool isOfFile = scenario.destination == Destination::gigHive
            && std::count(file.versions.begin(), file.versions.end(), at->content);
        bool keepsRow = isOfFile && otherRandom.chance(0.5);
        if (isOfFile) {
            say("GigHive loses %s %lld", keepsRow ? "the file of recording" : "recording", (long long)at->asset);
            figures.count(keepsRow ? "files lost by the server" : "recordings lost by the server");
            server.lost.push_back(at->content);
            at->hasFile = false;
        }
        at = isOfFile && !keepsRow ? server.recordings.erase(at) : std::next(at);
    }
}

void World::addForeignRecord() {
    if (foreignFile >= 0 || !otherRandom.chance(faults().foreignUploads)) return;
    size_t index = (size_t)otherRandom.below((int64_t)files.size());
    std::string known = unfinishedRecord(files[index]), id = otherRandom.hex(8);
    std::string content = wholeRecord(std::string(stateDirectory) + "/" + known + ".record");
    // Without an address at the server, which it would share.
    if (content.find("\"upload_url\":\"") != content.npos || !rewriteRecord(content, id, "http://" + server.host, "http://other.example")) return;
    say("an upload of %s to another server, record %s, is not finished", files[index].name.c_str(), id.c_str());
    figures.count("unfinished uploads to others");
    foreignFile = (int)index;
    foreignRecord = std::string(stateDirectory) + "/" + id + ".record";
    disk.place(foreignRecord, content, kernel.fileTime());
    syncStateDirectory();
}

void World::fillDisk() {
    std::string state = stateDirectory;
    auto journal = disk.find(state + "/removals");
    bool isReserved = disk.find(state + "/spare.lock") && journal && journal->data.size() >= 4096;
    // Fewer files are what a power cut has left.
    for (int part = 0; part < 8; part++) {
        auto ballast = disk.find(state + "/ballast." + std::to_string(part));
        isReserved = isReserved && ballast && !ballast->data.empty();
    }
    if (!isReserved || kernel.isDead) return;
    say("the disk is full");
    figures.count("disks filled");
    disk.freeBlocks = otherRandom.below(3);
    // There is a lock, a record and more for each file. FAT does not count files.
    if (files.size() == 1 && !disk.isFAT && otherRandom.chance(0.5)) disk.freeFiles = 0;
}

// MARK: What leaves this machine

bool World::isOnServer(const std::string &content) const {
    for (auto &recording : server.recordings) {
        if (recording.content == content && recording.hasFile) return true;
    }
    // Only GigHive can be asked whether it still has it. Of another server, it is enough that it had it.
    for (auto &[id, upload] : server.uploads) {
        if (scenario.destination == Destination::tus && upload.isComplete && upload.data == content) return true;
    }
    for (auto &upload : server.former) {
        if (scenario.destination == Destination::tus && upload.data == content) return true;
    }
    // The other process may have deleted it while this one read the answer.
    return hadSecond && std::count(deleted.begin(), deleted.end(), content);
}

bool World::isOnOther(const std::string &content) const {
    return !scenario.hasOther
        || std::any_of(server.others.begin(), server.others.end(), [&](auto &recording) { return recording.content == content; });
}

void World::checkRemoval(Inode &inode, const std::string &path) {
    const File &file = files[(size_t)inode.file];
    const std::string what = path + " (" + file.name + ") is removed";
    bool isByOther = scenario.hasOther && kernel.current && kernel.current->isForPlain();
    // The other section cannot ask whether GigHive still has it. Nor can one that trusts the server and may not look at the file.
    bool isTold = isByOther || (scenario.trustsServer && server.hidden.count(sha256(inode.data)));
    bool wasThere = isTold && std::count(server.lost.begin(), server.lost.end(), inode.data);
    if (!wasThere && !isOnServer(inode.data)) return fail(what + ", and the server does not have it");
    if (!isOnOther(inode.data)) return fail(what + ", and another section has not sent it");
    if ((isByOther || scenario.destination != Destination::gigHive) && !scenario.trustsServer) return fail(what + ", and nobody could ask the server");
    if (!scenario.hasLeases && !scenario.trustsSettle) return fail(what + ", and nobody knows who has it open");
    if (scenario.hasLeases && inode.openUntil > clock.now) return fail(what + ", and another program has it open");
    // One that may be stored does not need a file that has changed since.
    std::string unfinished = file.versions.size() == 1 ? unfinishedRecord(file) : "";
    // A power cut during a rename can leave it under two names on FAT. The upload of one does not need the other.
    auto other = disk.find(file.path);
    bool hasCopy = disk.isFAT && other && other.get() != &inode && other->data == inode.data;
    if (!hasCopy && !unfinished.empty()) return fail(what + ", and the unfinished upload " + unfinished + " needs it");
    if (!kernel.current) return;
    bool isCleaner = kernel.current->words[1] == "clean";
    if (!isCleaner && (isByOther ? !scenario.otherRemoves : scenario.removal == Removal::none)) return fail(what + ", and is to be kept");
    // What others have freed a moment ago, or what else was removed, the process need not know of.
    bool mayBeFree = clock.now - spaceFreedAt < hour || scenario.removal != Removal::none || scenario.otherRemoves;
    // The program's own records, and its ballast of 512 KiB, come and go between its look at the space and the removal.
    constexpr int64_t ownBlocks = 128 + 16;
    if (isCleaner && disk.freeBlocks >= wantedBlocks + ownBlocks && !mayBeFree) fail(what + ", and there is space");
}

void World::noteLabel(const std::string &content, const std::string &label) {
    if (!onLabel) return;
    labels[content].insert(label);
    onLabel(content, label);
}

/// Only the sidecar file of which the server was told goes with its recording.
void World::checkSidecar(const std::string &path) {
    if (!isSidecar(path) || isMoved(path)) return;
    const File &file = files[(size_t)fileOf(path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 8))];
    std::string text = disk.find(path)->data;
    for (auto &label : labels[file.removed]) {
        if (text == sidecarText(label)) return figures.count("sidecars removed");
    }
    fail(path + " is removed, and the server was not told what it says");
}

void World::noteUnlink(const std::string &path) {
    auto inode = disk.find(path);
    checkSidecar(path);
    if (inode->file < 0 || inode->isReleased || inode->links > 1) return;
    checkRemoval(*inode, path);
    figures.count("recordings removed");
    say("%s is removed", path.c_str());
    inode->isReleased = true;
    files[(size_t)inode->file].isDelivered = true;
    files[(size_t)inode->file].removed = inode->data;
    files[(size_t)inode->file].removedAt = clock.now;
}

void World::noteNewName(const std::string &from, const std::string &to) {
    auto inode = disk.find(from);
    checkSidecar(from);
    if (inode->file < 0) return;
    say("%s gets the name %s", from.c_str(), to.c_str());
    if (disk.find(to)) return fail(to + " is replaced by " + from);
    inode->changed = std::max(inode->changed + 1, kernel.fileTime());
    if (isHidden(to)) kernel.dieAfter(start->callsAfterHiding);
    if (!isMoved(to)) return;
    checkRemoval(*inode, from);
    figures.count("recordings moved");
    inode->isMoved = true;
    files[(size_t)inode->file].isDelivered = true;
    files[(size_t)inode->file].removed = inode->data;
    files[(size_t)inode->file].removedAt = clock.now;
}

void World::checkIsRemoved(const File &file) {
    auto inode = disk.find(file.path);
    bool isThere = inode && file.versions.size() == 1 && !file.isMeddledWith;
    if (isThere && file.keptBy != startNumber) fail(file.name + " is neither removed nor kept");
}

bool World::mustBeRemoved(const File &file) const {
    auto inode = disk.find(file.path);
    return inode && file.versions.size() == 1 && !file.isMeddledWith && isOnServer(inode->data)
        && unfinishedRecord(file).empty() && inode->links == 1
        // Without its SHA-256, a new status time is a change.
        && scenario.destination == Destination::gigHive
        // GigHive can have it again, under a number that no record has.
        && !scenario.deletes && server.lost.empty() && !hasDamage && (scenario.hasLeases || scenario.trustsSettle)
        && (scenario.hasNoReplace || (scenario.hasLinks && !disk.isFAT));
}

void World::noteKept(int index, const char *reason) {
    File &file = files[(size_t)index];
    file.keptBy = startNumber;
    say("%s is kept: %s", file.name.c_str(), reason);
    figures.count("removals refused");
    if (isHealthy() && !kernel.isDead && mustBeRemoved(file)) fail(file.name + " is kept in a healthy world: " + reason);
}

void World::noteDeath() {
    std::set<Inode *> there;
    for (auto &[path, inode] : disk.names) {
        if (!isHere(path)) continue;
        // A rename that was interrupted, so that the file has both names.
        if (disk.isFAT && inode->links > 1 && inode->file >= 0) {
            recordings.push_back(disk.split(path));
            files[(size_t)inode->file].isSplit = true;
        }
        there.insert(inode.get());
        if (!isHidden(path)) continue;
        figures.count("removals interrupted");
        // With the state directory, the journal is gone.
        if (!hasUnsyncedParents || disk.find(stateDirectory)) continue;
        otherNames.insert(path);
        files[(size_t)inode->file].isDelivered = true;
    }
    for (auto &inode : recordings) {
        inode->leaseHolder = 0;
        inode->isLeaseBroken = false;
        inode->openUntil = 0;
        if (inode->isReleased || there.count(inode.get())) continue;
        if (!disk.isFAT) fail("a power cut took " + files[(size_t)inode->file].name);
        // A rename on FAT is not one change.
        figures.count("recordings lost by FAT");
        inode->isReleased = true;
        files[(size_t)inode->file].isDelivered = true;
    }
}

void World::judgeRecordings() {
    if (kernel.isDead) return;
    std::set<Inode *> there;
    for (auto &[path, inode] : disk.names) {
        if (!isHere(path)) continue;
        if (isHidden(path) && !otherNames.count(path)) {
            if (isHealthy()) fail(path + " is left behind");
        } else if (inode->file >= 0) {
            std::string name = path.substr(path.rfind('/') + 1);
            bool isRight = otherNames.count(path) || isNumbered(name, files[(size_t)inode->file].name);
            if (!isRight || (isMoved(path) && !inode->isMoved)) fail(path + " is in the wrong place");
        } else if (!isBallast(path) && !isSidecar(path) && !inode->isDirectory) {
            fail(path + " should not be there");
        }
        there.insert(inode.get());
    }
    for (auto &inode : recordings) {
        if (!inode->isReleased && !there.count(inode.get())) fail(files[(size_t)inode->file].name + " is gone");
    }
}

}
