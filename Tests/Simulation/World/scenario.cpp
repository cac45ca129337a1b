#include "scenario.hpp"
#include <algorithm>

namespace world {

Scenario::Scenario(uint64_t seed) : isWatched(hasWatcher(seed)), isFAT(seed % 8 == 0) {
    Random random(seed * 0x2545f4914f6cdd1d + 1);
    random.next();
    drawRequest(random);
    drawServer(random);
    drawFaults(random);
    drawStarts(random);
    drawHabits(Random(seed * 0x2545f4914f6cdd1d + 2));
    drawRewrites(Random(seed * 0x2545f4914f6cdd1d + 3));
    drawDirectories(Random(seed * 0x2545f4914f6cdd1d + 4));
    drawPatience(Random(seed * 0x2545f4914f6cdd1d + 5));
    drawRemovals(Random(seed * 0x2545f4914f6cdd1d + 6));
    drawGateways(Random(seed * 0x2545f4914f6cdd1d + 8));
    if (isWatched) drawWatching(Random(seed * 0x2545f4914f6cdd1d + 7));
}

/// What a watcher meets. Its recorders do what else happens to recordings.
void Scenario::drawWatching(Random random) {
    isFAT = random.chance(0.2);
    fileSizes.assign((size_t)random.between(1, 3), 0);
    // No two have the same content by chance.
    for (int64_t &size : fileSizes) size = random.magnitude(8, 64 << 10);
    jobs = (int)random.between(1, 3);
    isLarge = meetsLimit = deletes = refreshes = hasProxy = false;
    fillsDisk = random.chance(0.3);
    server.authenticates = false;
    faults.meddles = faults.foreignUploads = faults.strangers = faults.fileChanges = faults.rewrites = faults.clockJump = 0;
    hasLeases = random.chance(0.7);
    hasLinks = random.chance(0.8);
    // A watcher sends nothing before the clock is set.
    unixStart = 1'800'000'000;
    monotonicStart = random.magnitude(1, 1'000'000'000);
    if (random.chance(0.2)) changesLimit = (size_t)random.between(1, 3);
    keepsFree = random.chance(0.3);
    if (keepsFree && removal == Removal::none) {
        trustsServer = random.chance(destination == Destination::gigHive ? 0.3 : 0.85);
        trustsSettle = random.chance(hasLeases ? 0.3 : 0.85);
    }
    // Those of a tus server say nothing that it keeps.
    hasSidecars = random.chance(0.4) && destination != Destination::tus;
    hasOther = random.chance(0.3) && destination != Destination::multipart;
    otherRemoves = random.chance(0.5) && trustsServer;
    fillsDisk = fillsDisk && (removal != Removal::none || keepsFree);
}

/// From a separate random stream, too.
void Scenario::drawRewrites(Random random) {
    if (random.chance(0.15)) faults.rewrites = random.of({0.02, 0.1, 0.4});
}

/// From a separate random stream, too.
void Scenario::drawDirectories(Random random) {
    if (random.chance(0.2)) faults.strangers = random.of({0.1, 0.5});
}

/// From a separate random stream, too. Retries without a delay are not made for hours.
void Scenario::drawPatience(Random random) {
    if (random.chance(0.15)) retryMilliseconds = random.magnitude(1000, retryMaximumDelay < 5000 ? 5000 : 6 * 3'600'000);
    // There is a pause of 10 s before a lost recording is sent again.
    if (server.losesOneUpload && retryMilliseconds) retryMilliseconds = std::max<int64_t>(retryMilliseconds, 30'000);
}

/// From a separate random stream, too.
void Scenario::drawRemovals(Random random) {
    if (!random.chance(0.35)) return;
    removal = random.of({Removal::deletes, Removal::deletes, Removal::moves});
    trustsServer = random.chance(destination == Destination::gigHive ? 0.3 : 0.85);
    hasLeases = random.chance(0.6);
    trustsSettle = random.chance(hasLeases ? 0.3 : 0.85);
    hasLinks = random.chance(0.8);
    hasNoReplace = random.chance(0.85);
    if (random.chance(0.6)) faults.meddles = random.of({0.003, 0.02, 0.1});
    if (random.chance(0.3)) faults.losesRecordings = random.of({0.1, 0.5});
    if (random.chance(0.2)) faults.foreignUploads = random.of({0.3, 0.8});
    fillsDisk = random.chance(0.3);
    for (Start &start : starts) {
        start.removes = random.chance(start.isHealthy ? 0.9 : 0.75);
        start.cleans = random.chance(0.3);
        if (start.isHealthy || !random.chance(0.6)) continue;
        start.death = random.of({Death::kill, Death::powerCut});
        random.chance(0.4) ? start.callsInRemoval = random.magnitude(1, 256) : start.callsAfterHiding = random.between(1, 40);
    }
}

/// From a separate random stream, too: what is between a tus server and its clients.
void Scenario::drawGateways(Random random) {
    int64_t kind = random.below(60);
    bool mayUseTus = destination == Destination::tus || (destination == Destination::gigHive && protocol != 1);
    if (kind > 2 || !mayUseTus || isWatched) return;
    if (kind == 0 && !hasProxy) {
        server.address = random.chance(0.5) ? ServerTraits::internal : ServerTraits::withoutPort;
        server.locationIsRelative = false;
    }
    if (kind == 1) server.needsCookie = true;
    if (kind != 2) return;
    // 256 KiB take less than the limit, the whole file more.
    const int64_t shortest = 256 << 10;
    fileSizes = {random.between(4 * shortest, 12 * shortest)};
    rateLimit = random.magnitude(100'000, 1'000'000);
    server.requestLimit = random.between(9 * shortest / 4, fileSizes[0] * 4 / 5) * second / rateLimit;
    server.spools = true;
    server.speaksTus = true;
    server.contentLimit = INT64_MAX;
    if (random.chance(0.5)) tusThreshold = 16 << 20;
    isLarge = meetsLimit = false;
    jobs = 1;
    chunkLength = 0;
    // Each length costs two of them, or one.
    retries = std::max<int64_t>(retries, 10);
    retryMilliseconds = 0;
    line.rate = 100'000'000;
    line.latency = std::min<Time>(line.latency, 100 * millisecond);
    line.sendBuffer = 256 << 10;
}

/// From a separate random stream, and always all of it, so that additions here do not change other draws.
void Scenario::drawHabits(Random random) {
    faults.somebodyElse = random.chance(0.3) ? random.of({0.02, 0.1, 0.4}) : 0;
    server.hasBareErrors = random.chance(0.1);
    deletes = random.chance(0.3) && destination == Destination::gigHive;
    bool hasConflictLocks = random.chance(0.4), locksOffset = random.chance(0.5);
    Time lockLinger = random.magnitude(100 * millisecond, 40 * second);
    server.closesSilently = random.chance(0.1);
    // A kept connection that is lost under more than 512 KiB of a request may be the network's fault: that counts as a try.
    // A form is a little longer than its file.
    if (server.closesSilently && largestFile() > (508 << 10)) retries = std::max<int64_t>(retries, 1);
    server.removesComplete = random.chance(0.3) && destination == Destination::tus;
    // The next start must be able to send the recording again.
    server.losesOneUpload = random.chance(0.1) && destination == Destination::gigHive;
    if (server.losesOneUpload) retries = std::max<int64_t>(retries, 1);
    if (!hasConflictLocks) return;
    server.hasConflictLocks = true;
    server.locksOffset = locksOffset;
    server.locks = ServerTraits::refuses;
    server.spools = false;
    server.lockLinger = lockLinger;
}

int64_t Scenario::largestFile() const { return *std::max_element(fileSizes.begin(), fileSizes.end()); }

void Scenario::drawRequest(Random &random) {
    destination = random.of({Destination::gigHive, Destination::gigHive, Destination::tus, Destination::tus, Destination::multipart});
    protocol = destination == Destination::gigHive ? (int)random.of({0, 0, 1, 2, 2}) : 0;
    tusThreshold = random.chance(0.7) ? 1 : random.magnitude(1, 200 << 10);
    size_t count = random.chance(0.85) ? 1 : (size_t)random.between(2, 4);
    for (size_t index = 0; index < count; index++) {
        int64_t size = random.chance(0.02) ? random.of({1ll, 65535ll, 65536ll, 65537ll, 131072ll, 524288ll, 524289ll})
                       : random.chance(0.01)  ? random.magnitude(256 << 10, 2 << 20)
                                             : random.magnitude(1, 200 << 10);
        fileSizes.push_back(size);
    }
    // Some files are so large that requests overlap, or meet a limit of the server.
    isLarge = random.chance(0.004);
    meetsLimit = !isLarge && random.chance(0.03);
    if (isLarge) fileSizes = {random.between(8 << 20, 13 << 20)};
    if (meetsLimit) fileSizes = {random.between(64 << 10, 600 << 10)};
    jobs = (int)random.between(1, (int64_t)fileSizes.size());
    int64_t largest = largestFile();
    isOneByOne = jobs == 1 && random.chance(0.5);
    if (!isLarge && !meetsLimit && random.chance(0.6)) chunkLength = std::max(random.magnitude(1, largest), largest / 40 + 1);
    overridesMethod = random.chance(0.1);
    defersLength = random.chance(0.2);
    computesDigest = random.chance(0.3);
    retries = random.of({0, 1, 2, 5, 5, 5, 20});
    retryMaximumDelay = random.of({0, 100, 5000, 60'000, 60'000});
    if (random.chance(0.3)) connectLimit = random.between(100, 60'000);
    if (random.chance(0.3)) stallLimit = random.between(500, 60'000);
    if (random.chance(0.3)) responseLimit = random.between(1000, 200'000);
    hasNumericHost = random.chance(0.3);
    hasProxy = random.chance(0.1);
    // Slow, and not slower than a simulation has patience for.
    if (random.chance(0.1)) rateLimit = std::max(random.magnitude(500, 10'000'000), largest / 100);
    refreshes = random.chance(0.5);
    addresses = hasNumericHost ? 1 : (int)random.between(1, 4);
    firstAddressIsDead = addresses > 1 && random.chance(0.1);
    // A board without a clock starts in 1970.
    if (random.chance(0.1)) unixStart = random.between(0, 1000);
    monotonicStart = random.magnitude(1, 1'000'000'000);
}

void Scenario::drawServer(Random &random) {
    server.speaksTus = destination == Destination::tus || protocol == 2 || random.chance(0.85);
    server.optionsStatus = random.of({204, 204, 200});
    server.createsWithUpload = random.chance(0.5);
    server.refusesContentAtCreation = random.chance(0.1);
    server.defersLength = random.chance(0.5);
    server.terminates = random.chance(0.8);
    server.checks = random.chance(0.25);
    server.spools = random.chance(0.3);
    server.stores = random.of({ServerTraits::everything, ServerTraits::requests, ServerTraits::nothing});
    server.locks = random.of({ServerTraits::none, ServerTraits::refuses, ServerTraits::takesOver});
    server.lockLinger = random.chance(0.5) ? 0 : random.magnitude(millisecond, 40 * second);
    server.locationIsRelative = random.chance(0.3);
    server.announcesExpiry = random.chance(0.3);
    if (random.chance(0.2)) server.expiresAfter = random.magnitude(minute, 30 * day);
    if (random.chance(0.4)) server.finalizeDelay = random.magnitude(millisecond, 10 * second);
    server.saysPending = random.chance(0.2);
    server.authenticates = random.chance(0.5);
    if (random.chance(0.3)) server.requestsAConnection = (int)random.between(1, 10);
    server.announcesLastRequest = random.chance(0.7);
    server.idleLimit = random.of({1 * second, 5 * second, 75 * second});
    server.readLimit = random.of({5 * second, 20 * second, 60 * second});
    server.longestAnswer = random.chance(0.5) ? 0 : random.magnitude(millisecond, 2 * second);
    if (random.chance(0.2)) server.digestion = random.magnitude(second, 40 * second);
    server.framing = random.of({ServerTraits::length, ServerTraits::chunked, ServerTraits::untilClose});
    server.closesRefusals = random.chance(0.5);
    server.compresses = random.chance(0.2);
    server.redirects = random.chance(0.08);
    if (server.authenticates && random.chance(0.1)) server.newPasswordAfter = (int)random.magnitude(1, 30);
    server.expectation = random.of({ServerTraits::continues, ServerTraits::ignores, ServerTraits::refusesExpectation});
    line.latency = random.chance(0.5) ? random.magnitude(20, 2000) : random.magnitude(millisecond, 600 * millisecond);
    if (isLarge) line.latency = random.magnitude(5 * millisecond, 100 * millisecond);
    line.jitter = random.chance(0.5) ? 0 : line.latency;
    line.rate = random.chance(0.7) ? 100'000'000 : random.magnitude(50'000, 10'000'000);
    line.sendBuffer = random.chance(0.5) ? 2 << 20 : random.magnitude(2 << 10, 256 << 10);
    if (isLarge) line.rate = 100'000'000, line.sendBuffer = 2 << 20;
    line.segment = isLarge ? 256 << 10 : random.chance(0.6) ? 256 << 10 : random.magnitude(512, 64 << 10);
    hasJournal = random.chance(0.6);
    keepsSendfile = random.chance(0.8);
}

void Scenario::drawFaults(Random &random) {
    if (random.chance(0.05)) return;
    // Few kinds, or many.
    double share = random.of({0.08, 0.2, 0.5});
    auto draw = [&](double &rate, std::initializer_list<double> rates) {
        if (random.chance(share)) rate = random.of(rates);
    };
    draw(faults.interrupted, {0.01, 0.2});
    draw(faults.partial, {0.1, 0.8});
    draw(faults.notReady, {0.05, 0.4});
    draw(faults.hiddenReadiness, {0.2});
    draw(faults.oversleep, {0.001, 0.02});
    draw(faults.clockJump, {0.002});
    draw(faults.noThread, {0.1});
    draw(faults.noDescriptor, {0.02, 0.2});
    draw(faults.readError, {0.002, 0.05});
    draw(faults.stateError, {0.01, 0.1});
    draw(faults.diskFull, {0.01, 0.1});
    draw(faults.rot, {0.5});
    draw(faults.otherLock, {0.1, 0.5});
    draw(faults.unresolved, {0.05, 0.5});
    draw(faults.refused, {0.05, 0.5});
    draw(faults.unreachable, {0.05, 0.3});
    draw(faults.unanswered, {0.05, 0.3});
    draw(faults.reset, {0.05, 0.3, 0.8});
    draw(faults.severed, {0.05, 0.3});
    draw(faults.stalled, {0.1, 0.5});
    faults.resetsDropInbox = random.chance(0.3);
    draw(faults.refusedRequest, {0.03, 0.3});
    draw(faults.strangeRefusal, {0.01, 0.05});
    draw(faults.droppedBefore, {0.03, 0.3});
    draw(faults.droppedAfter, {0.03, 0.3});
    draw(faults.failedAfter, {0.03, 0.2});
    draw(faults.hangs, {0.02, 0.1});
    draw(faults.slow, {0.05, 0.2});
    draw(faults.crashes, {0.02, 0.1});
    draw(faults.interim, {0.1, 0.5});
    draw(faults.closesIdle, {0.1, 0.5});
    draw(faults.portal, {0.02, 0.1});
    if (random.chance(share * 0.2)) faults.corrupts = 0.5;
    draw(faults.fileChanges, {0.2});
    if (meetsLimit) server.contentLimit = random.magnitude(64 << 10, 512 << 10);
}

void Scenario::drawStarts(Random &random) {
    int count = (int)random.between(1, 4);
    for (int index = 0; index < count; index++) {
        Start start;
        if (random.chance(0.5)) {
            start.death = random.of({Death::kill, Death::powerCut});
            start.deathStep = random.magnitude(1, 3000);
        } else if (random.chance(0.2)) {
            start.cancelAfter = random.magnitude(1, 100 * second);
        }
        start.resumes = index > 0 && random.chance(0.25);
        // To a plain endpoint, two processes are two recordings.
        if (destination != Destination::multipart && random.chance(0.06)) start.secondAfter = random.magnitude(1, 10 * second);
        if (random.chance(0.05)) start.totalLimit = random.magnitude(100, 600'000);
        if (index > 0) start.pause = random.magnitude(millisecond, random.chance(0.1) ? 3 * day : 30 * minute);
        starts.push_back(start);
    }
    Start last;
    last.isHealthy = true;
    last.pause = 5 * minute;
    starts.push_back(last);
    starts.push_back(last);
}

}
