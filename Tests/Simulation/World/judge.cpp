// The invariant: the server has exactly the file, or the caller has an error and a record that resumes.
#include "world.hpp"
#include <cstring>

namespace world {

// MARK: What the server has

void World::checkStored(const Upload &upload, size_t from) {
    const File &file = files[(size_t)upload.file];
    for (auto &version : file.versions) {
        if (upload.data.size() <= version.size() && !version.compare(from, upload.data.size() - from, upload.data, from)) return;
    }
    // A file that changes while it is read can be read as a mixture; then it must not be called delivered.
    if (file.versions.size() > 1) return;
    fail("the server was sent bytes of " + file.name + " that it does not have at " + std::to_string(from));
}

/// `before`: an earlier start delivered the file, and its record says so.
void World::judgeDelivery(int index, bool before) {
    const File &file = files[(size_t)index];
    // An upload that is resumed by its ID was delivered as the file was then.
    size_t first = before && plan.resumes != WORLD_SENDS ? 0 : file.versionAtStart;
    auto isFile = [&](const std::string &content) {
        for (size_t version = first; version < file.versions.size(); version++) {
            if (file.versions[version] == content) return true;
        }
        return false;
    };
    int64_t count = 0;
    switch (scenario.destination) {
    case Destination::gigHive:
        for (auto &recording : server.recordings) count += isFile(recording.content);
        // What the other process has sent and deleted, this one may have been told before.
        if (hadSecond && !count) count = std::any_of(deleted.begin(), deleted.end(), isFile);
        if (!count) count = std::any_of(server.lost.begin(), server.lost.end(), isFile);
        // A file that changed in the meantime can be there in its old and in its new form.
        if (count < 1 || (count > 1 && file.versions.size() == 1)) {
            fail(file.name + " is called delivered and is on the server " + std::to_string(count) + " times");
        }
        break;
    case Destination::multipart: {
        // Files of a byte can be the same.
        for (auto &recording : server.recordings) {
            count += (before || recording.start == startNumber) && recording.file == index && isFile(recording.content);
        }
        // A file has two records if one could not be read for a moment, and a start that resumes uploads by their IDs sends both.
        bool mayBeSeveral = before || (plan.resumes != WORLD_SENDS && recordsOf(file).size() > 1);
        if (mayBeSeveral ? count < 1 : count != 1) {
            fail(file.name + " is called delivered and was stored " + std::to_string(count) + " times");
        }
        break;
    }
    case Destination::tus:
        for (auto &[id, upload] : server.uploads) count += upload.file == index && upload.isComplete && isFile(upload.data);
        // What the server had when it said so, and lost since, was there.
        for (auto &upload : server.former) count += upload.file == index && isFile(upload.data);
        // One whose response was lost may be there, too.
        if (count < 1) fail(file.name + " is called delivered and is not on the server");
        break;
    }
}

// MARK: How a start ended

void World::judgeStart() {
    for (size_t index = 0; index < files.size(); index++) {
        if (!files[index].isDelivered && !kernel.isDead) judgeOutcome((int)index, outcomes[index]);
    }
    judgeEffort();
    judgeRecordings();
    for (auto &recording : server.recordings) {
        bool isKnown = recording.isCorrupt;
        for (auto &file : files) {
            for (auto &version : file.versions) isKnown = isKnown || version == recording.content;
            isKnown = isKnown || file.versions.size() > 1;
        }
        if (!isKnown) fail("a recording on the server that matches none of the files");
    }
}

void World::judgeOutcome(int index, int outcome) {
    const File &file = files[(size_t)index];
    const Faults &faults = scenario.faults;
    bool hasChanged = file.versions.size() > 1;
    auto allow = [&](bool isAllowed) {
        if (!isAllowed) fail(file.name + " ended for no reason with: " + messages[(size_t)index]);
    };
    // Once more, if the user has cancelled an upload of another file, or the server has something different.
    bool isForUser = (outcome == WORLD_CHANGED && hasChanged) || (outcome == WORLD_INTEGRITY && faults.corrupts > 0);
    files[(size_t)index].mustResume = false;
    if (outcome == WORLD_MAY_BE_STORED) isForUser = files[(size_t)index].mustResume = isHealthy();
    if (start == &scenario.starts.back()) isForUser = false;
    if (isHealthy() && outcome != WORLD_DELIVERED && !isForUser) {
        return fail(file.name + " failed in a healthy world: " + messages[(size_t)index]);
    }
    switch (outcome) {
    case WORLD_MAY_BE_STORED: return;
    case WORLD_NOT_THE_SERVER: return allow(faults.portal > 0);
    case -1:
        // A record may say that it was delivered, or be missing: resume then has nothing to do with it.
        if (start->resumes) return;
        return fail(file.name + " neither delivered nor failed");
    case WORLD_DELIVERED: return;
    case WORLD_FAILED: return allow(!isHealthy());
    case WORLD_CANCELLED: return allow(start->cancelAfter >= 0);
    case WORLD_CHANGED: return allow(hasChanged);
    case WORLD_FILE:
        // A removal that was interrupted is not undone while the journal cannot be read.
        return allow(hasChanged || faults.readError > 0 || faults.noDescriptor > 0 || (file.hasDelivery && faults.mayLackRecord()));
    case WORLD_STATE: return allow(faults.stateError > 0 || faults.diskFull > 0 || faults.otherLock > 0);
    case WORLD_CONFLICT: return allow(faults.otherLock > 0);
    case WORLD_RESOURCES: return allow(faults.noThread > 0 || faults.noDescriptor > 0);
    case WORLD_INTEGRITY: return allow(hasChanged || faults.corrupts > 0);
    default: return allow(false);
    }
}

/// Neither too long nor too often.
void World::judgeEffort() {
    int64_t chunks = 0, largest = 20'000;
    for (auto &file : files) {
        int64_t length = scenario.chunkLength ? scenario.chunkLength : 4 << 20;
        for (auto &version : file.versions) largest = std::max<int64_t>(largest, (int64_t)version.size());
        for (auto &version : file.versions) chunks += (int64_t)version.size() / std::min(length, scenario.server.contentLimit / 2) + 1;
    }
    int64_t requests = server.requestCount - requestsBefore;
    int64_t most = 100 + 6 * (retriesOfStart + chunks + 10 * (int64_t)files.size());
    if (requests > most) fail(std::to_string(requests) + " requests, where " + std::to_string(most) + " are a lot");
    Time each = (2 * scenario.connectLimit + scenario.stallLimit + scenario.responseLimit) * millisecond + hour + minute;
    Time longest = (requests + connectsOfStart + retriesOfStart + 4 * (int64_t)files.size()) * each;
    if (scenario.rateLimit) longest += (requests + 2) * largest * second / scenario.rateLimit;
    Time took = clock.now - startedAt - oversleptOfStart;
    if (took > longest) fail("a start of " + std::to_string(took / second) + " s");
}

}
