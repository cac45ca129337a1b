#pragma once
#include "clock.hpp"
#include "random.hpp"
#include <string>
#include <vector>

namespace world {

/// How often things go wrong. Each seed has a choice of them, so that each is also met alone.
struct Faults {
    // A system call
    double interrupted = 0, partial = 0, notReady = 0, hiddenReadiness = 0;
    double oversleep = 0, clockJump = 0;
    double noThread = 0, noDescriptor = 0;
    // The disk, a call
    double readError = 0, stateError = 0, diskFull = 0;
    double otherLock = 0;
    /// A record is damaged, a power cut.
    double rot = 0;
    // The network, a connection or lookup
    double unresolved = 0, refused = 0, unreachable = 0, unanswered = 0;
    double reset = 0, severed = 0, stalled = 0;
    /// Whether unread data is lost with a reset.
    bool resetsDropInbox = false;
    // The server, a request
    double refusedRequest = 0, strangeRefusal = 0, droppedBefore = 0, droppedAfter = 0, failedAfter = 0, hangs = 0, slow = 0;
    double crashes = 0, interim = 0, closesIdle = 0;
    /// A page from something else answers instead of the server.
    double portal = 0;
    /// A firewall or proxy refuses in the server's place.
    double somebodyElse = 0;
    /// GigHive stores something else.
    double corrupts = 0;
    // The recording, a start
    double fileChanges = 0;
    // Each read of it
    double rewrites = 0;
    /// A record gets another ID, past the index; a file, between two starts.
    double strangers = 0;
    /// Another program does something to a recording; a call during a removal.
    double meddles = 0;
    /// GigHive loses a recording before it is asked about it.
    double losesRecordings = 0;
    /// There is an unfinished upload of a file to another server; between two starts.
    double foreignUploads = 0;

    /// Whether a form may be sent without a record, which it can.
    bool mayLackRecord() const { return stateError > 0 || diskFull > 0 || noDescriptor > 0 || otherLock > 0; }
};

/// What the server is like, healthy or not.
struct ServerTraits {
    bool speaksTus = true;
    int optionsStatus = 204;
    bool createsWithUpload = false, refusesContentAtCreation = false, defersLength = false, terminates = false, checks = false;
    /// Whether a proxy spools the whole request.
    bool spools = false;
    /// Which received bytes survive a crash of the server: none, those of complete requests, or all.
    enum { nothing, requests, everything } stores = everything;
    enum { none, refuses, takesOver } locks = none;
    Time lockLinger = 0;
    /// Whether a lock is reported by 409 instead of 423 (Bunny, Supabase).
    bool hasConflictLocks = false;
    /// Whether HEAD waits for the lock, too.
    bool locksOffset = true;
    /// The longest request content; longer ones are refused from the head.
    int64_t contentLimit = INT64_MAX;
    bool locationIsRelative = false;
    bool announcesExpiry = false;
    Time expiresAfter = 30 * day;
    /// How long after the last byte the finalize call says "not yet".
    Time finalizeDelay = 0;
    /// Says "pending" instead.
    bool saysPending = false;
    /// Whether its database fails during one finalize call, when the upload's file is already moved away.
    bool losesOneUpload = false;
    bool authenticates = false;
    int requestsAConnection = INT32_MAX;
    bool announcesLastRequest = true;
    Time idleLimit = 75 * second;
    Time readLimit = 60 * second;
    Time longestAnswer = 0;
    Time digestion = 0;
    enum { length, chunked, untilClose } framing = length;
    bool closesRefusals = true;
    /// Whether responses are compressed, if the client accepts that.
    bool compresses = false;
    /// Whether it redirects requests (307, 308).
    bool redirects = false;
    /// After how many requests another password holds; never if negative.
    int newPasswordAfter = -1;
    enum { continues, ignores, refusesExpectation } expectation = continues;
    /// Whether its errors lack Tus-Resumable, so that they prove nothing.
    bool hasBareErrors = false;
    /// Whether it closes the connection shortly after each response, without notice.
    bool closesSilently = false;
    /// Whether a complete upload is moved out of tus (404).
    bool removesComplete = false;
    /// Which address its Locations have, behind a proxy that does not tell it the right one.
    enum { own, internal, withoutPort } address = own;
    /// Whether a load balancer finds the machine with an upload by its cookie alone.
    bool needsCookie = false;
    /// How long a proxy lets the content of a request take. It keeps nothing of what takes longer. 0 for no limit.
    Time requestLimit = 0;
};

/// What the line is like.
struct LineTraits {
    Time latency = 1 * millisecond, jitter = 0;
    /// Bytes a second.
    int64_t rate = 100'000'000;
    int64_t sendBuffer = 256 << 10;
    int64_t segment = 64 << 10;
};

enum class Destination { gigHive, multipart, tus };
enum class Death { none, kill, powerCut };
/// What becomes of delivered recordings (`--after`).
enum class Removal { none, deletes, moves };
/// What a disk keeps of the times of directories: nothing, two seconds (FAT), or ticks of the kernel's clock.

/// One start of the program.
struct Start {
    bool isHealthy = false;
    Death death = Death::none;
    /// The system call at which it dies, counted from 1.
    int64_t deathStep = 0;
    /// When it is told to end, from its start; never if negative.
    Time cancelAfter = -1;
    /// The idle time before.
    Time pause = 0;
    /// Whether it resumes what the records have, instead of sending the files.
    bool resumes = false;
    /// When another process sends the same files, from its start; never if negative.
    Time secondAfter = -1;
    /// What the whole may take; 0 for no limit.
    int64_t totalLimit = 0;
    /// Whether it removes what it delivers.
    bool removes = false;
    /// Whether the command `clean` follows.
    bool cleans = false;
    /// The system call at which it dies, counted from the beginning of a removal, or from when its recording is hidden; 0 for none.
    int64_t callsInRemoval = 0, callsAfterHiding = 0;
    bool diesInRemoval() const { return callsInRemoval || callsAfterHiding; }
};

/// Everything that is drawn from a seed in advance.
struct Scenario {
    explicit Scenario(uint64_t seed);

    static constexpr const char *label = "A night out";
    static bool hasWatcher(uint64_t seed) { return seed % 128 == 11 || seed % 128 == 84; }
    /// Whether a watcher sends the recordings.
    const bool isWatched;
    /// Whether files do not keep their inode numbers.
    bool isFAT;
    /// How many changes of directories wait to be read before some are lost.
    size_t changesLimit = 16384;

    Destination destination = Destination::gigHive;
    int protocol = 0;
    int64_t tusThreshold = 0;
    int64_t chunkLength = 0;
    bool overridesMethod = false, defersLength = false, computesDigest = false;
    std::vector<int64_t> fileSizes;
    int jobs = 1;
    bool isOneByOne = false;
    int64_t retries = 5, retryMaximumDelay = 60'000;
    /// How long an upload is retried without progress; 0 for a number of retries.
    int64_t retryMilliseconds = 0;
    int64_t connectLimit = 30'000, stallLimit = 30'000, responseLimit = 120'000;
    Faults faults;
    ServerTraits server;
    LineTraits line;
    std::vector<Start> starts;
    /// Whether the user deletes delivered recordings from GigHive.
    bool deletes = false;
    Removal removal = Removal::none;
    /// `--trust-server` and `trust-settle`
    bool trustsServer = false, trustsSettle = false;
    /// What the recordings' file system has. Without the flag of rename(2), it takes link(2).
    bool hasLeases = false, hasLinks = false, hasNoReplace = true;
    /// Whether the disk is full in starts that are healthy otherwise.
    bool fillsDisk = false;
    /// Whether another section of a watcher sends the same recordings to a plain endpoint, and removes them, too.
    bool hasOther = false, otherRemoves = false;
    /// Whether recordings get sidecar files.
    bool hasSidecars = false;
    /// Whether a watcher removes the oldest deliveries when space runs short (`--keep-free`).
    bool keepsFree = false;
    bool isLarge = false, meetsLimit = false;
    bool hasJournal = true;
    bool keepsSendfile = true;
    bool hasNumericHost = false;
    bool hasProxy = false;
    /// Bytes a second; 0 for no limit.
    int64_t rateLimit = 0;
    /// Whether the program asks for another password when one is refused.
    bool refreshes = false;
    int addresses = 1;
    bool firstAddressIsDead = false;
    /// Of the machine's own clock, seconds since 1970.
    int64_t unixStart = 1'790'000'000;
    int64_t monotonicStart = 1000;

private:
    int64_t largestFile() const;
    void drawRequest(Random &random);
    void drawServer(Random &random);
    void drawFaults(Random &random);
    void drawStarts(Random &random);
    void drawHabits(Random random);
    void drawRewrites(Random random);
    void drawDirectories(Random random);
    void drawPatience(Random random);
    void drawRemovals(Random random);
    void drawGateways(Random random);
    void drawWatching(Random random);
};

}
