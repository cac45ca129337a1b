// What the records say: an upload that the server has is never forgotten, and what is damaged never used.
#include "world.hpp"
#include <cstring>
#include <zlib.h>

namespace world {

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
    if (record.rfind("gighive-upload record 2 ", 0) != 0 || line == record.npos) return std::nullopt;
    auto length = number(record.substr(24, 10));
    if (!length || (size_t)*length != record.size() - line - 1 || record.back() != '\n' || record.find('\0') != record.npos) return std::nullopt;
    // A copy on FAT that was overwritten halfway can have its length.
    const unsigned char *content = (const unsigned char *)record.data() + line + 1;
    char sum[9];
    snprintf(sum, sizeof sum, "%08lx", (unsigned long)crc32(0, content, (unsigned)*length));
    if (record.compare(35, 8, sum) != 0) return std::nullopt;
    std::string url = textOf(record, "upload_url");
    size_t slash = url.rfind('/');
    // A delivered upload needs no resume.
    bool isOver = slash == url.npos || textOf(record, "phase") == "delivered";
    return Noted{percentDecoded(textOf(record, "file")), isOver ? "" : url.substr(slash + 1)};
}

}

/// The record, or its copy on FAT if a power cut tore it; empty if neither is whole.
std::string World::wholeRecord(const std::string &path) const {
    for (const std::string &name : {path, path + "~"}) {
        auto inode = disk.find(name);
        if (inode && !inode->isDamaged && read(inode->data)) return inode->data;
        if (!disk.isFAT) break;
    }
    return "";
}

std::vector<std::string> World::recordsOf(const File &file) const {
    std::vector<std::string> records;
    for (auto &[path, inode] : disk.names) {
        auto noted = isRecord(path) ? read(wholeRecord(path)) : std::nullopt;
        if (noted && noted->path == file.path && path != foreignRecord) records.push_back(path);
    }
    return records;
}

/// Gives it another ID, and another text in place of one.
bool World::rewriteRecord(std::string &content, const std::string &id, const std::string &from, const std::string &to) const {
    std::string json = content.substr(content.find('\n') + 1), key = "\"id\":\"";
    size_t at = json.find(key), text = json.find(from);
    if (at == json.npos || text == json.npos) return false;
    json.replace(text, from.size(), to);
    json.replace(json.find(key) + key.size(), 8, id);
    char head[64];
    unsigned long sum = crc32(0, (const unsigned char *)json.data(), (unsigned)json.size());
    snprintf(head, sizeof head, "gighive-upload record 2 %010zu %08lx\n", json.size(), sum);
    content = head + json;
    return true;
}

void World::replaceRecords() {
    for (File &file : files) {
        if (!strangerRandom.chance(scenario.faults.strangers)) continue;
        auto records = recordsOf(file);
        if (records.size() != 1 || !endsWith(records[0], ".record")) continue;
        std::string id = records[0].substr(records[0].rfind('/') + 1, 8), other = strangerRandom.hex(8);
        std::string content = wholeRecord(records[0]);
        rewriteRecord(content, other, "", "");
        say("a stranger makes record %s of %s record %s", id.c_str(), file.name.c_str(), other.c_str());
        figures.count("records of strangers");
        // A record whose writer failed or died before the sync ended is not known yet. Now it is on the disk.
        auto known = file.recorded.find(id);
        file.recorded[other] = known != file.recorded.end() ? known->second : read(wholeRecord(records[0]))->upload;
        file.recorded.erase(id);
        disk.unlink(records[0]);
        disk.place(std::string(stateDirectory) + "/" + other + ".record", content, kernel.fileTime());
        syncStateDirectory();
    }
}

bool World::mayBeStored(const File &file) const {
    for (auto &path : recordsOf(file)) {
        if (wholeRecord(path).find("\"may_be_stored\":true") != std::string::npos) return true;
    }
    return false;
}

std::string World::unfinishedRecord(const File &file) const {
    std::set<std::string> open, delivered;
    for (auto &path : recordsOf(file)) {
        std::string id = path.substr(path.rfind('/') + 1, 8);
        (textOf(wholeRecord(path), "phase") == "delivered" ? delivered : open).insert(id);
    }
    for (auto &id : open) {
        if (!delivered.count(id)) return id;
    }
    return foreignFile == &file - files.data() ? foreignRecord : "";
}

/// Whether the upload could be resumed.
bool World::isGood(const std::string &id, int file) {
    if (id.empty() || files[(size_t)file].versions.size() > 1) return false;
    Upload *upload = server.find(id);
    return upload && !upload->wasDisowned;
}

void World::noteRecord(const std::string &path) {
    if (!isRecord(path)) return;
    const std::string &data = disk.find(path)->data;
    auto noted = read(data);
    if (!noted) return fail("an invalid record: " + data);
    std::string id = path.substr(path.rfind('/') + 1, 8), phase = textOf(data, "phase");
    say("  record %s: %s, %s", id.c_str(), phase.c_str(), noted->upload.empty() ? "no upload" : noted->upload.c_str());
    for (size_t index = 0; index < files.size(); index++) {
        File &file = files[index];
        if (file.path != noted->path) continue;
        if (phase == "delivered") noteDelivery(file);
        std::string &upload = file.recorded[id];
        // Where the recording turned out to be something else, the new upload that was to replace a doubted one is forgotten, too.
        bool isUnused = scenario.faults.corrupts > 0 && server.find(upload) && server.find(upload)->data.empty();
        // On FAT, the copy of a record that cannot be read counts, and is older if it could not be written.
        bool isCopy = disk.isFAT && hasReadErrorOfRecord;
        if (phase != "delivered" && noted->upload != upload && isGood(upload, (int)index) && !isUnused && !isCopy) {
            fail("the record of " + file.name + " forgets upload " + upload + ", which the server has");
        }
        bool isForgotten = phase != "delivered" && noted->upload != upload && file.versions.size() == 1;
        const Recording *recording = isForgotten && !server.hasRefusedFinalize ? server.finalized(upload) : nullptr;
        if (recording && !recording->isCorrupt) {
            fail("the record of " + file.name + " forgets upload " + upload + ", which is a recording by now");
        }
        upload = noted->upload;
        const Faults &faults = this->faults();
        bool isIll = faults.noDescriptor > 0 || faults.noThread > 0 || faults.readError > 0 || faults.stateError > 0 || faults.diskFull > 0;
        if (phase == "failed" && !upload.empty() && server.lockedLast == upload && !isIll && !isCopy && file.versions.size() == 1) {
            fail("the record of " + file.name + " has failed because its upload was locked (409)");
        }
    }
}

void World::noteOverwritten(const std::string &path) {
    if (!isRecord(path) || canary == "fat-is-taken-for-ext4") return;
    // Torn when its writer was killed, which its copy makes good.
    if (!read(disk.find(path)->data) && !wholeRecord(path).empty()) return;
    noteRecord(path);
    std::string id = path.substr(path.rfind('/') + 1, 8);
    for (File &file : files) {
        bool isNameSafe = file.synced.count(id) && endsWith(path, ".record");
        if (isNameSafe) file.synced[id] = file.recorded[id];
    }
}

void World::noteRemoval(const std::string &path) {
    if (!endsWith(path, ".record")) return;
    std::string id = path.substr(path.rfind('/') + 1, 8);
    if (!wholeRecord(path.substr(0, path.size() - 6) + "delivered").empty()) return;
    for (size_t index = 0; index < files.size(); index++) {
        auto found = files[index].recorded.find(id);
        if (found == files[index].recorded.end() || mustCancel[index] || !isGood(found->second, (int)index)) continue;
        fail("record " + id + " of upload " + found->second + ", which the server has, is removed");
    }
}

/// Another process brings its records to the disk, with the names of the directories that lead to them.
void World::syncStateDirectory() {
    for (std::string path = stateDirectory; !path.empty(); path = Disk::parent(path)) disk.syncDirectory(path);
    noteSync(stateDirectory);
}

void World::noteSync(const std::string &directory) {
    if (directory != stateDirectory) return;
    for (File &file : files) file.synced = file.recorded;
}

void World::notePowerCut() {
    for (size_t index = 0; index < files.size(); index++) {
        File &file = files[index];
        std::map<std::string, std::string> left;
        std::set<std::string> delivered;
        for (auto &path : recordsOf(file)) {
            std::string id = path.substr(path.rfind('/') + 1, 8);
            // Of a delivered one, the record of the way there can still be beside it.
            if (!left.count(id) || endsWith(path, ".delivered")) left[id] = read(wholeRecord(path))->upload;
            if (endsWith(path, ".delivered")) delivered.insert(id);
        }
        for (auto &[id, upload] : file.synced) {
            bool isThere = left.count(id) && (left[id] == upload || left[id] == file.recorded[id]);
            if (isThere || hasUnsyncedParents || !isGood(upload, (int)index)) continue;
            // On FAT, the copy of a delivery counts as soon as it is whole; the delivery itself is noted here when it is synced.
            if (disk.isFAT && delivered.count(id) && server.find(upload)->isComplete) continue;
            fail("a power cut took record " + id + " of " + file.name + "'s upload, which had been brought to the disk");
        }
        for (auto &[id, upload] : left) say("  record %s is left, %s", id.c_str(), upload.empty() ? "no upload" : upload.c_str());
        file.recorded = file.synced = left;
        for (auto &path : recordsOf(file)) {
            if (!fileRandom.chance(faults().rot)) continue;
            damage(file, path);
            if (auto copy = disk.find(path + "~")) copy->data = copy->synced = "";
        }
    }
}

/// What a worn-out card does to a file.
void World::damage(File &file, const std::string &path) {
    Inode &inode = *disk.find(path);
    std::string id = path.substr(path.rfind('/') + 1, 8);
    std::string &data = inode.data;
    // After a power cut on FAT it can be empty, with its content in the copy.
    if (!data.empty()) {
        size_t at = (size_t)fileRandom.below((int64_t)data.size());
        switch (fileRandom.below(3)) {
        case 0: data[at] ^= (char)(1 << fileRandom.below(8)); break;
        case 1: data.resize(at); break;
        case 2: std::fill(data.begin() + (int64_t)at, data.end(), 0); break;
        }
    }
    inode.synced = data;
    inode.isDamaged = true;
    hasDamage = true;
    say("  record %s is damaged", id.c_str());
    figures.count("records damaged");
    auto known = file.recorded.find(id);
    if (known == file.recorded.end()) return;
    if (!known->second.empty()) file.mistrusted.insert(known->second);
    file.recorded.erase(known);
    file.synced.erase(id);
}

void World::checkTermination(const std::string &location) {
    Upload *upload = server.find(location.substr(location.rfind('/') + 1));
    if (!upload || upload->wasDisowned) return;
    fail("upload " + upload->id + " is called terminated, and the server has it");
}

void World::noteComplete(const Upload &upload) {
    if (scenario.destination != Destination::tus) return;
    int64_t others = 0;
    for (auto &[id, other] : server.uploads) others += id != upload.id && other.file == upload.file && other.isComplete;
    for (auto &other : server.former) others += other.file == upload.file;
    if (others) checkRepetition(files[(size_t)upload.file], false);
}

void World::noteForm(int index, int start) {
    if (start < startNumber && files[(size_t)index].repeatingStarts.count(start)) return;
    for (auto &recording : server.forms()) {
        if (recording.file == index) return checkRepetition(files[(size_t)index], scenario.faults.mayLackRecord());
    }
}

void World::checkRepetition(File &file, bool mayLackRecord) {
    // Without its record, nothing is known.
    bool isUnknown = mayLackRecord || hasReadErrorOfRecord || hasUnsyncedParents || scenario.faults.rot > 0 || file.versions.size() > 1
        || file.isSplit;
    if (!isUnknown && !file.mayRepeat) fail(file.name + " is stored once more, although nobody has asked for that");
    file.mayRepeat = false;
}

void World::noteSending() {
    for (File &file : files) {
        std::set<std::string> delivered, open;
        for (auto &path : recordsOf(file)) {
            const std::string data = wholeRecord(path);
            std::string id = path.substr(path.rfind('/') + 1, 8), phase = textOf(data, "phase");
            if (phase == "delivered") delivered.insert(id);
            if (phase == "failed" || !read(data)->upload.empty()) open.insert(id);
        }
        // One that is delivered may have the record of the way there beside it.
        for (auto &id : delivered) open.erase(id);
        if (!delivered.empty() && open.empty()) file.mayRepeat = true;
    }
}

void World::noteConflict(const Upload &upload, const Connection &connection) {
    // The first can be about the offset. Whoever has read it and asked for the offset knows that it is a lock. If that answer was
    // lost with its connection, is unknown.
    auto &last = upload.conflict;
    bool isSameProcess = last.line && last.line->start == connection.start && last.line->isOfSecond == connection.isOfSecond;
    // What is still in flight on an older connection was sent before.
    isSameProcess = isSameProcess && connection.number >= last.line->number;
    bool isKnown = isSameProcess && last.offset == (int64_t)upload.data.size() && last.retries == retriesOfStart && last.line->hasReadAll();
    if (!isKnown || clock.now - last.at >= 100 * millisecond + 4 * line().latency || kernel.isDead) return;
    fail("upload " + upload.id + " is locked, and the client tries again without waiting");
}

void World::checkDeletion(int64_t asset) {
    say("recording %lld is called deleted", (long long)asset);
    if (server.hasRefusedDeletion) return;
    for (auto &recording : server.recordings) {
        if (recording.asset == asset) fail("recording " + std::to_string(asset) + " is called deleted, and the server has it");
    }
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
    // Bytes of an upload that the server said it does not have may have been in flight. The records of the second name are not looked at.
    if (isSynced || file.isSplit || file.versions.size() > 1 || upload.isComplete || upload.wasDisowned || kernel.isDead) return;
    if (mayLackRecord(upload.length)) return;
    fail("bytes for upload " + upload.id + ", which no record " + (isRecorded ? "on the disk " : "") + "has");
}

bool World::mayLackRecord(int64_t length) const {
    // A form needs no record. One that a proxy does not let through goes over tus.
    return scenario.protocol == 0 && scenario.destination == Destination::gigHive && length < scenario.tusThreshold &&
        scenario.faults.mayLackRecord();
}

void World::noteCreation(int index) {
    // A record that cannot be read is left alone.
    if (hasReadErrorOfRecord || mayLackRecord((int64_t)files[(size_t)index].versions.back().size())) return;
    for (auto &[id, upload] : files[(size_t)index].recorded) {
        if (!isGood(upload, index)) continue;
        // To verify that the server said so, a new one may be created. Until then the record keeps the old one.
        if (server.find(upload)->doubt != Upload::none) continue;
        fail("a new upload of " + files[(size_t)index].name + ", although record " + id + " has " + upload + ", which the server has");
    }
}

}
