#include "disk.hpp"
#include <sys/inotify.h>

namespace world {

std::shared_ptr<Inode> Disk::find(const std::string &path) const {
    auto found = names.find(path);
    return found == names.end() ? nullptr : found->second;
}

bool Disk::hasParent(const std::string &path) const {
    std::string directory = parent(path);
    if (directory.empty()) return true;
    auto found = find(directory);
    return found && found->isDirectory;
}

std::shared_ptr<Inode> Disk::create(const std::string &path, bool isDirectory) {
    auto inode = std::make_shared<Inode>();
    freeFiles--;
    inode->number = nextNumber++;
    inode->isDirectory = isDirectory;
    inode->links = 1;
    inode->modified = inode->changed = now();
    names[path] = inode;
    touchParent(path);
    pending.push_back({Change::link, path, "", inode});
    onChange(path, isDirectory ? IN_CREATE | IN_ISDIR : IN_CREATE);
    return inode;
}

std::shared_ptr<Inode> Disk::place(const std::string &path, std::string data, int64_t modified) {
    auto inode = create(path, false);
    pending.pop_back();
    inode->data = std::move(data);
    inode->modified = inode->changed = modified;
    inode->synced = inode->data;
    durable[path] = inode;
    return inode;
}

void Disk::rename(const std::string &from, const std::string &to) {
    auto inode = find(from);
    auto replaced = find(to);
    if (replaced) release(*replaced, to);
    names.erase(from);
    names[to] = inode;
    touchParent(from);
    touchParent(to);
    onChange(from, IN_MOVED_FROM);
    onChange(to, IN_MOVED_TO);
    if (!isFAT) return pending.push_back({Change::rename, from, to, inode});
    if (replaced) pending.push_back({Change::free, to, "", replaced});
    pending.push_back({Change::link, to, "", inode});
    pending.push_back({Change::unlink, from, "", nullptr});
}

bool Disk::resize(Inode &inode, size_t length) {
    int64_t more = blocks(length) - blocks(inode.data.size());
    if (isLimited && more > 0 && more > freeBlocks) return false;
    freeBlocks -= more;
    inode.data.resize(length);
    inode.touched = std::min(inode.touched, length);
    return true;
}

void Disk::write(Inode &inode, const void *bytes, size_t length, size_t offset) {
    if (inode.data.size() < offset + length) inode.data.resize(offset + length);
    memcpy(inode.data.data() + offset, bytes, length);
    inode.touched = std::min(inode.touched, offset);
}

void Disk::release(Inode &inode, const std::string &path) {
    inode.links--;
    bool isHollow = isBallastHollow && path.find("ballast.") != path.npos;
    if (inode.links || isHollow) return;
    freeFiles++;
    freeBlocks += blocks(inode.data.size());
}

void Disk::link(const std::string &from, const std::string &to) {
    auto inode = find(from);
    inode->links++;
    inode->changed = std::max(inode->changed + 1, now());
    names[to] = inode;
    touchParent(to);
    onChange(to, IN_CREATE);
    pending.push_back({Change::link, to, "", inode});
}

void Disk::unlink(const std::string &path) {
    auto inode = find(path);
    release(*inode, path);
    if (inode->links) inode->changed = std::max(inode->changed + 1, now());
    names.erase(path);
    touchParent(path);
    onChange(path, IN_DELETE);
    if (isFAT) pending.push_back({Change::free, path, "", inode});
    pending.push_back({Change::unlink, path, "", nullptr});
}

void Disk::touchParent(const std::string &path) {
    if (auto directory = find(parent(path))) directory->modified = directory->changed = now();
}

void Disk::sync(Inode &inode) {
    if (!forgetsSyncs) inode.synced = inode.data, inode.touched = SIZE_MAX;
}

void Disk::syncDirectory(const std::string &path) {
    std::vector<Change> rest;
    size_t last = 0;
    for (size_t index = 0; index < pending.size(); index++) {
        if (parent(pending[index].name) == path) last = index + 1;
    }
    for (size_t index = 0; index < pending.size(); index++) {
        bool isHere = parent(pending[index].name) == path;
        // A journal is written in order.
        bool isForgotten = forgetsSyncs && !(pending[index].inode && pending[index].inode->isDirectory);
        if (!isForgotten && (isHere || (hasJournal && index < last))) {
            // Whoever has it open still has what was freed. Its name is brought to the disk, too.
            if (pending[index].kind != Change::free) apply(pending[index]);
        } else {
            rest.push_back(pending[index]);
        }
    }
    pending = std::move(rest);
    auto directory = find(path);
    if (directory) directory->syncedModified = directory->modified, directory->syncedChanged = directory->changed;
}

bool Disk::hasUnsyncedDirectories(const std::string &path) const {
    for (const Change &change : pending) {
        bool isPart = path == change.name || path.rfind(change.name + "/", 0) == 0;
        if (isPart && change.inode && change.inode->isDirectory) return true;
    }
    return false;
}

void Disk::apply(const Change &change) {
    switch (change.kind) {
    case Change::link: durable[change.name] = change.inode; break;
    case Change::unlink: durable.erase(change.name); break;
    case Change::free:
        change.inode->data.clear();
        change.inode->synced.clear();
        break;
    case Change::rename:
        durable.erase(change.name);
        durable[change.to] = change.inode;
        break;
    }
}

void Disk::cutPower() {
    if (hasJournal) {
        size_t count = (size_t)random.between(0, (int64_t)pending.size());
        for (size_t index = 0; index < count; index++) apply(pending[index]);
    } else {
        for (const Change &change : pending) {
            if (random.chance(0.5)) apply(change);
        }
    }
    pending.clear();
    // What is below a directory that is not there is not there either.
    for (auto at = durable.begin(); at != durable.end();) {
        std::string directory = parent(at->first);
        bool isThere = directory.empty() || durable.count(directory);
        at = isThere ? std::next(at) : durable.erase(at);
    }
    names = durable;
    for (auto &[name, inode] : names) {
        inode->lockHolder = 0;
        if (inode->data != inode->synced) tear(*inode);
        if (inode->isDirectory && random.chance(0.5)) inode->modified = inode->syncedModified, inode->changed = inode->syncedChanged;
        inode->links = 0;
        // It has no inodes. Their numbers are those of this start of the machine.
        if (isFAT) inode->number = nextNumber++;
    }
    for (auto &[name, inode] : names) inode->links++;
}

void Disk::renumber(Inode &inode) { inode.number = nextNumber++; }

std::shared_ptr<Inode> Disk::split(const std::string &path) {
    auto inode = find(path);
    auto copy = std::make_shared<Inode>(*inode);
    inode->links--;
    copy->links = 1;
    copy->number = nextNumber++;
    names[path] = durable[path] = copy;
    return copy;
}

/// What is left of what was written and not synced: all of it, none of it, a part, or the length without the content.
void Disk::tear(Inode &inode) {
    tornFiles++;
    int64_t length = (int64_t)inode.data.size();
    int64_t kept = (int64_t)std::min({inode.touched, inode.synced.size(), inode.data.size()});
    switch (random.below(5)) {
    case 0: break;
    case 1: inode.data = inode.synced; break;
    case 2: inode.data.resize((size_t)random.between(kept, length)); break;
    case 3: std::fill(inode.data.begin() + random.between(kept, length), inode.data.end(), 0); break;
    case 4: inode.data.resize((size_t)kept); break;
    }
    inode.synced = inode.data;
    inode.touched = SIZE_MAX;
}

}
