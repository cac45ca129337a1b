#include "world.hpp"
#include <cerrno>
#include <cstring>

namespace world {

// MARK: The line

Time Connection::travel(Time &last, size_t count) {
    const LineTraits &line = world.line();
    Time arrival = world.clock.now + line.latency + (line.jitter ? world.lineRandom.below(line.jitter) : 0);
    // Nothing overtakes on one connection.
    last = std::max(last, arrival) + (Time)count * second / line.rate;
    return last;
}

void Connection::begin(bool isAnswered, bool isRefused) {
    auto self = shared_from_this();
    Random &random = world.lineRandom;
    const Faults &faults = world.faults();
    if (random.chance(faults.reset)) (random.chance(0.7) ? resetsAtUp : resetsAtDown) = random.magnitude(1, 300 << 10);
    if (random.chance(faults.severed)) (random.chance(0.7) ? seversAtUp : seversAtDown) = random.magnitude(1, 300 << 10);
    if (random.chance(faults.stalled)) stallsAtUp = random.magnitude(1, 100 << 10);
    if (!isAnswered) {
        world.figures.count("connects unanswered");
        return;
    }
    Time trip = 2 * world.line().latency;
    if (isRefused) {
        world.figures.count("connects refused");
        world.clock.after(trip, [self] { self->reset(ECONNREFUSED); });
    } else {
        world.clock.after(trip, [self] { self->establish(); });
    }
}

void Connection::establish() {
    isEstablished = true;
    world.say("connection %d established", number);
    if (world.server.isDown()) return reset(ECONNREFUSED);
    isServerOpen = true;
    world.server.accept(shared_from_this());
    if (!isClientOpen) tellServer(true);
}

void Connection::arriveUp() {
    if (isSevered) return inFlight.clear();
    auto self = shared_from_this();
    const Segment &first = inFlight.front();
    if (!first.isEnd && stallsAtUp >= 0 && up + (int64_t)first.bytes.size() >= stallsAtUp) {
        stallsAtUp = -1;
        Random &random = world.lineRandom;
        // About as long as the client waits: what it has given up then arrives beside its next try.
        Time limit = random.of({world.scenario.stallLimit, world.scenario.responseLimit}) * millisecond;
        stalledUntil = world.clock.now + random.magnitude(millisecond, 2 * minute);
        if (random.chance(0.5)) stalledUntil = world.clock.now + limit + random.magnitude(millisecond, 5 * second);
        world.figures.count("lines stalled");
    }
    if (world.clock.now < stalledUntil) {
        world.clock.at(stalledUntil, [self] { self->arriveUp(); });
        return;
    }
    Segment segment = std::move(inFlight.front());
    inFlight.pop_front();
    segment.isEnd ? tellServer(segment.isOrderly) : takeUp(segment.bytes);
}

void Connection::takeUp(const std::string &bytes) {
    auto self = shared_from_this();
    int64_t before = up;
    up += (int64_t)bytes.size();
    int64_t count = (int64_t)bytes.size();
    bool isReset = resetsAtUp >= 0 && up >= resetsAtUp, isCut = seversAtUp >= 0 && up >= seversAtUp;
    if (isReset) count = std::min(count, std::max<int64_t>(0, resetsAtUp - before));
    if (isCut) count = std::min(count, std::max<int64_t>(0, seversAtUp - before));
    if (!isServerOpen) {
        // Nobody there: the kernel over there says so.
        return resetInOrder();
    }
    if (count > 0 && session) {
        auto receiver = session;
        receiver->receive(std::string_view(bytes).substr(0, (size_t)count));
    }
    if (isReset) return resetBoth();
    if (isCut) return sever();
    int64_t length = (int64_t)bytes.size();
    world.clock.after(world.line().latency, [self, length] {
        if (self->isSevered) return;
        self->unacknowledged -= length;
        self->lastAcknowledgement = self->world.clock.now;
    });
}

void Connection::arriveDown(const std::string &bytes) {
    if (isSevered) return;
    if (!isClientOpen) return tellServer(false);
    if (isBroken) return;
    int64_t before = down;
    down += (int64_t)bytes.size();
    bool isReset = resetsAtDown >= 0 && down >= resetsAtDown, isCut = seversAtDown >= 0 && down >= seversAtDown;
    int64_t count = (int64_t)bytes.size();
    if (isReset) count = std::min(count, std::max<int64_t>(0, resetsAtDown - before));
    if (isCut) count = std::min(count, std::max<int64_t>(0, seversAtDown - before));
    inbox.append(bytes, 0, (size_t)count);
    if (isReset) return resetBoth();
    if (isCut) sever();
}

void Connection::reset(int number) {
    if (isSevered || isBroken || !isClientOpen) return;
    error = number;
    isBroken = true;
    if (world.faults().resetsDropInbox) inbox.clear();
    world.say("connection %d: %s", this->number, strerror(number));
}

/// Something in between ends it for both.
void Connection::resetBoth() {
    world.figures.count("connections reset");
    reset(ECONNRESET);
    tellServer(false);
}

void Connection::sever() {
    world.figures.count("lines severed");
    world.say("connection %d severed", number);
    isSevered = true;
    noticeSilence();
}

/// TCP_USER_TIMEOUT
void Connection::noticeSilence() {
    if (!userTimeout) return;
    auto self = shared_from_this();
    world.clock.after(userTimeout, [self] {
        bool isSilent = self->world.clock.now - self->lastAcknowledgement >= self->userTimeout;
        if (!self->isSevered || !self->isClientOpen || self->isBroken || !self->unacknowledged || !isSilent) return;
        self->error = ETIMEDOUT;
        self->isBroken = true;
    });
}

void Connection::tellServer(bool orderly) {
    if (!isServerOpen) return;
    auto receiver = session;
    if (!orderly) isServerOpen = false;
    if (receiver) orderly ? receiver->peerClosed() : receiver->reset();
}

// MARK: The client's end

bool Connection::isWritable() const {
    if (hasFailed()) return true;
    int64_t free = world.line().sendBuffer - unacknowledged;
    return isEstablished && free * 2 >= unacknowledged && free > 0;
}

int Connection::takeError() {
    int taken = error;
    error = 0;
    return taken;
}

int64_t Connection::send(const char *bytes, size_t count, int64_t atMost) {
    if (error) return -takeError();
    if (isBroken) return -EPIPE;
    if (!isEstablished) return -EAGAIN;
    int64_t room = std::min(atMost, world.line().sendBuffer - unacknowledged);
    int64_t taken = std::min((int64_t)count, room);
    if (taken <= 0) return count == 0 ? 0 : -EAGAIN;
    auto self = shared_from_this();
    if (!unacknowledged) lastAcknowledgement = world.clock.now;
    unacknowledged += taken;
    if (isSevered) {
        noticeSilence();
        return taken;
    }
    for (int64_t at = 0; at < taken;) {
        int64_t length = std::min(taken - at, world.line().segment);
        inFlight.push_back({std::string(bytes + at, (size_t)length)});
        world.clock.at(travel(lastUp, (size_t)length), [self] { self->arriveUp(); });
        at += length;
    }
    return taken;
}

int64_t Connection::receive(char *space, size_t count) {
    if (!inbox.empty()) {
        size_t length = std::min(count, inbox.size());
        memcpy(space, inbox.data(), length);
        inbox.erase(0, length);
        given += (int64_t)length;
        return (int64_t)length;
    }
    if (error) return -takeError();
    if (hasEnded || isBroken) return 0;
    return -EAGAIN;
}

void Connection::close() {
    if (!isClientOpen) return;
    isClientOpen = false;
    bool orderly = inbox.empty();
    inbox.clear();
    if (isSevered || isBroken || !isEstablished) return;
    auto self = shared_from_this();
    inFlight.push_back({"", true, orderly});
    world.clock.at(travel(lastUp, 1), [self] { self->arriveUp(); });
}

void Connection::vanish() {
    isClientOpen = false;
    isSevered = true;
}

// MARK: The server's end

void Connection::reply(std::string bytes) {
    replied += (int64_t)bytes.size();
    if (!isServerOpen || isSevered) return;
    auto self = shared_from_this();
    bool inPieces = world.lineRandom.chance(world.faults().partial / 4);
    while (!bytes.empty()) {
        size_t length = inPieces ? (size_t)world.lineRandom.magnitude(1, (int64_t)bytes.size()) : bytes.size();
        std::string piece = bytes.substr(0, length);
        bytes.erase(0, length);
        world.clock.at(travel(lastDown, length), [self, piece = std::move(piece)] { self->arriveDown(piece); });
    }
}

void Connection::finish() {
    if (!isServerOpen) return;
    isServerOpen = false;
    auto self = shared_from_this();
    world.clock.at(travel(lastDown, 1), [self] {
        if (!self->isSevered) self->hasEnded = true;
    });
}

void Connection::abort() {
    if (!isServerOpen) return;
    isServerOpen = false;
    resetInOrder();
}

void Connection::resetInOrder() {
    auto self = shared_from_this();
    world.clock.at(std::max(lastDown, world.clock.now + world.line().latency), [self] { self->reset(ECONNRESET); });
}

}
