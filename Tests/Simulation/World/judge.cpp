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

void World::judgeDelivery(int index) {
    const File &file = files[(size_t)index];
    auto isFile = [&](const std::string &content) {
        for (size_t version = file.versionAtStart; version < file.versions.size(); version++) {
            if (file.versions[version] == content) return true;
        }
        return false;
    };
    int64_t count = 0;
    switch (scenario.destination) {
    case Destination::gigHive:
        for (auto &recording : server.recordings) count += isFile(recording.content);
        // A file that changed meanwhile can be there as what it was and as what it is.
        if (count < 1 || (count > 1 && file.versions.size() == 1)) {
            fail(file.name + " is called delivered and is on the server " + std::to_string(count) + " times");
        }
        break;
    case Destination::multipart:
        for (auto &recording : server.recordings) count += recording.start == startNumber && isFile(recording.content);
        if (count != 1) fail(file.name + " is called delivered and was stored " + std::to_string(count) + " times");
        break;
    case Destination::tus:
        for (auto &[id, upload] : server.uploads) count += upload.file == index && upload.isComplete && isFile(upload.data);
        // What the server had when it said so, and lost since, was there.
        for (auto &upload : server.former) count += upload.file == index && isFile(upload.data);
        // One whose answer was lost may be there besides.
        if (count < 1) fail(file.name + " is called delivered and is not on the server");
        break;
    }
}

// MARK: What the records say

namespace {

struct Noted {
    std::string path, upload;
};

/// A text of a record's JSON, read without the product's reader.
std::string textOf(const std::string &json, const std::string &name) {
    std::string key = "\"" + name + "\":\"";
    size_t at = json.find(key);
    if (at == json.npos) return "";
    at += key.size();
    std::string text;
    while (at < json.size() && json[at] != '"') {
        if (json[at] == '\\' && at + 1 < json.size()) at++;
        text += json[at++];
    }
    return text;
}

std::string percentDecoded(const std::string &text) {
    std::string bytes;
    for (size_t at = 0; at < text.size(); at++) {
        if (text[at] == '%' && at + 2 < text.size()) {
            bytes += (char)strtol(text.substr(at + 1, 2).c_str(), nullptr, 16);
            at += 2;
        } else {
            bytes += text[at];
        }
    }
    return bytes;
}

bool endsWith(const std::string &text, const std::string &end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool isRecord(const std::string &path) { return endsWith(path, ".record") || endsWith(path, ".delivered"); }

/// A whole record, or nothing.
std::optional<Noted> read(const std::string &record) {
    size_t line = record.find('\n');
    if (record.rfind("gighive-upload record 1 ", 0) != 0 || line == record.npos) return std::nullopt;
    auto length = number(record.substr(24, 10));
    if (!length || (size_t)*length != record.size() - line - 1 || record.back() != '\n' || record.find('\0') != record.npos) return std::nullopt;
    std::string url = textOf(record, "upload_url");
    size_t slash = url.rfind('/');
    // What is delivered needs no going on.
    bool isOver = slash == url.npos || textOf(record, "phase") == "delivered";
    return Noted{percentDecoded(textOf(record, "file")), isOver ? "" : url.substr(slash + 1)};
}

}

std::vector<std::string> World::recordsOf(const File &file) const {
    std::vector<std::string> records;
    for (auto &[path, inode] : disk.names) {
        auto noted = isRecord(path) && !inode->isDamaged ? read(inode->data) : std::nullopt;
        if (noted && noted->path == file.path) records.push_back(path);
    }
    return records;
}

/// Could the upload go on?
bool World::isGood(const std::string &id, int file) {
    if (id.empty() || files[(size_t)file].versions.size() > 1) return false;
    Upload *upload = server.find(id);
    return upload && !upload->wasDisowned;
}

void World::noteRecord(const std::string &path) {
    if (!isRecord(path)) return;
    const std::string &data = disk.find(path)->data;
    auto noted = read(data);
    if (!noted) return fail("a record that is none: " + data);
    std::string id = path.substr(path.rfind('/') + 1, 8), phase = textOf(data, "phase");
    say("  record %s: %s, %s", id.c_str(), phase.c_str(), noted->upload.empty() ? "no upload" : noted->upload.c_str());
    for (size_t index = 0; index < files.size(); index++) {
        File &file = files[index];
        if (file.path != noted->path) continue;
        std::string &upload = file.recorded[id];
        if (phase != "delivered" && noted->upload != upload && isGood(upload, (int)index)) {
            fail("the record of " + file.name + " forgets upload " + upload + ", which the server has");
        }
        upload = noted->upload;
    }
}

void World::noteRemoval(const std::string &path) {
    if (!endsWith(path, ".record")) return;
    std::string id = path.substr(path.rfind('/') + 1, 8);
    auto delivered = disk.find(path.substr(0, path.size() - 6) + "delivered");
    if (delivered && !delivered->isDamaged && read(delivered->data)) return;
    for (size_t index = 0; index < files.size(); index++) {
        auto found = files[index].recorded.find(id);
        if (found == files[index].recorded.end() || mustCancel[index] || !isGood(found->second, (int)index)) continue;
        fail("record " + id + " of upload " + found->second + ", which the server has, is removed");
    }
}

void World::noteSync(const std::string &) {
    for (File &file : files) file.synced = file.recorded;
}

void World::notePowerCut() {
    for (size_t index = 0; index < files.size(); index++) {
        File &file = files[index];
        std::map<std::string, std::string> left;
        for (auto &path : recordsOf(file)) {
            std::string id = path.substr(path.rfind('/') + 1, 8);
            // Of a delivered one, the record of the way there can still be beside it.
            if (!left.count(id) || endsWith(path, ".delivered")) left[id] = read(disk.find(path)->data)->upload;
        }
        for (auto &[id, upload] : file.synced) {
            bool isThere = left.count(id) && (left[id] == upload || left[id] == file.recorded[id]);
            if (isThere || hasUnsyncedParents || !isGood(upload, (int)index)) continue;
            fail("a power cut took record " + id + " of " + file.name + "'s upload, which had been brought to the disk");
        }
        for (auto &[id, upload] : left) say("  record %s is left, %s", id.c_str(), upload.empty() ? "no upload" : upload.c_str());
        file.recorded = file.synced = left;
        for (auto &path : recordsOf(file)) {
            if (fileRandom.chance(faults().rot)) damage(file, path);
        }
    }
}

/// What a worn-out card does to a file.
void World::damage(File &file, const std::string &path) {
    Inode &inode = *disk.find(path);
    std::string id = path.substr(path.rfind('/') + 1, 8);
    std::string &data = inode.data;
    size_t at = (size_t)fileRandom.below((int64_t)data.size());
    switch (fileRandom.below(3)) {
    case 0: data[at] ^= (char)(1 << fileRandom.below(8)); break;
    case 1: data.resize(at); break;
    case 2: std::fill(data.begin() + (int64_t)at, data.end(), 0); break;
    }
    inode.synced = data;
    inode.isDamaged = true;
    say("  record %s is damaged", id.c_str());
    figures.count("records damaged");
    auto known = file.recorded.find(id);
    if (known == file.recorded.end()) return;
    if (!known->second.empty()) file.mistrusted.insert(known->second);
    file.recorded.erase(known);
    file.synced.erase(id);
}

void World::checkTrust(const std::string &upload) {
    for (const File &file : files) {
        if (!file.mistrusted.count(upload)) continue;
        bool isKnown = false;
        for (auto &[id, recorded] : file.recorded) isKnown = isKnown || recorded == upload;
        if (!isKnown) fail("a damaged record was trusted: it had upload " + upload);
    }
}

void World::checkIsRecorded(const Upload &upload) {
    const File &file = files[(size_t)upload.file];
    bool isRecorded = false, isSynced = false;
    for (auto &[id, known] : file.recorded) isRecorded = isRecorded || known == upload.id;
    for (auto &[id, known] : file.synced) isSynced = isSynced || known == upload.id;
    // Of one that the server said it does not have, bytes can have been under way.
    if (isSynced || file.versions.size() > 1 || upload.isComplete || upload.wasDisowned || kernel.isDead) return;
    fail("bytes for upload " + upload.id + ", which no record " + (isRecorded ? "on the disk " : "") + "has");
}

void World::noteCreation(int index) {
    // A record that cannot be read is left alone.
    if (hasReadErrorOfRecord) return;
    for (auto &[id, upload] : files[(size_t)index].recorded) {
        if (!isGood(upload, index)) continue;
        fail("a new upload of " + files[(size_t)index].name + ", although record " + id + " has " + upload + ", which the server has");
    }
}

// MARK: How a start ended

void World::judgeStart() {
    for (size_t index = 0; index < files.size(); index++) {
        if (!files[index].isDelivered && !kernel.isDead) judgeOutcome((int)index, outcomes[index]);
    }
    judgeEffort();
    for (auto &recording : server.recordings) {
        bool isKnown = recording.isCorrupt;
        for (auto &file : files) {
            for (auto &version : file.versions) isKnown = isKnown || version == recording.content;
            isKnown = isKnown || file.versions.size() > 1;
        }
        if (!isKnown) fail("a recording on the server that is none of the files");
    }
}

void World::judgeOutcome(int index, int outcome) {
    const File &file = files[(size_t)index];
    const Faults &faults = scenario.faults;
    bool hasChanged = file.versions.size() > 1;
    auto allow = [&](bool isAllowed) {
        if (!isAllowed) fail(file.name + " ended for no reason with: " + messages[(size_t)index]);
    };
    // Once more, when the user has cancelled what was begun with another file, or the server has something else.
    bool isForUser = (outcome == WORLD_CHANGED && hasChanged) || (outcome == WORLD_INTEGRITY && faults.corrupts > 0);
    if (start == &scenario.starts.back()) isForUser = false;
    if (isHealthy() && outcome != WORLD_DELIVERED && !isForUser) {
        return fail(file.name + " failed in a healthy world: " + messages[(size_t)index]);
    }
    switch (outcome) {
    case WORLD_DELIVERED_BEFORE: return allow(start->resumes);
    case WORLD_NOT_THE_SERVER: return allow(faults.portal > 0);
    case -1:
        // A record may say that it was delivered, or be missing: resume then has nothing to do with it.
        if (start->resumes) return;
        return fail(file.name + " neither delivered nor failed");
    case WORLD_DELIVERED: return;
    case WORLD_FAILED: return allow(!isHealthy());
    case WORLD_CANCELLED: return allow(start->cancelAfter >= 0);
    case WORLD_CHANGED: return allow(hasChanged);
    case WORLD_FILE: return allow(hasChanged || faults.readError > 0 || faults.noDescriptor > 0);
    case WORLD_STATE: return allow(faults.stateError > 0 || faults.diskFull > 0 || faults.foreignLock > 0);
    case WORLD_CONFLICT: return allow(faults.foreignLock > 0);
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
