#pragma once
#include "http.hpp"
#include "scenario.hpp"
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace world {

/// An upload over tus.
struct Upload {
    std::string id;
    /// Which of the recordings it is of, as its metadata says.
    int file = -1;
    /// -1 while unknown.
    int64_t length = -1;
    std::string data;
    /// What outlives a crash.
    size_t stored = 0;
    bool isComplete = false;
    Time completedAt = 0;
    Time expires = 0;
    /// The request that writes to it.
    Request *writer = nullptr;
    /// Which of the machines behind a load balancer has it, and over which connection that was said with its creation.
    int64_t machine = 0;
    std::shared_ptr<Connection> creator;
    Time lockedUntil = 0;
    /// Whether a response called it gone or invalid.
    bool wasDisowned = false;
    /// What came of an answer that called it gone and proved nothing: then a new upload was created, and that one's offset
    /// told. Denied once more, it is gone as far as anybody can know.
    enum Doubt { none, denied, createdSince, locatedSince } doubt = none;
    /// The answer that ended the doubt last: over which connection, and how far the doubt had come. The program may never
    /// have read it.
    struct {
        std::shared_ptr<Connection> line;
        Doubt doubt = none;
    } affirmed;
    /// When a PATCH at the right offset was last told of the lock by 409, on which connection, and how many retries that start had
    /// had.
    struct {
        Time at = 0;
        int64_t offset = 0;
        int retries = 0;
        std::shared_ptr<Connection> line;
    } conflict;
};

/// A recording in GigHive's catalogue, or what a plain endpoint has stored of one request.
struct Recording {
    std::string content, sha256;
    int64_t asset = 0;
    std::string event, uploadID, deleteToken;
    /// Of a plain endpoint: which file it was sent as, and by which start.
    int file = -1, start = 0;
    bool isCorrupt = false;
    /// Until then it is called pending.
    Time readyAt = 0;
    /// A row of the database can outlive its file.
    bool hasFile = true;
};

/// An independent reading of what a server of GigHive, of tus or of forms owes its clients. Takes nothing that the rules
/// do not allow.
class Server {
public:
    explicit Server(World &world);
    ~Server();

    World &world;
    ServerTraits traits;
    std::string host;
    std::map<std::string, Upload> uploads;
    /// Complete ones that are there no more.
    std::vector<Upload> former;
    /// Those that GigHive has taken, and lost.
    std::set<std::string> taken;
    std::vector<Recording> recordings;
    /// What the plain endpoint of another section has.
    std::vector<Recording> others;
    /// What a plain endpoint has.
    std::vector<Recording> &forms();
    /// The content of recordings that it has lost.
    std::vector<std::string> lost;
    /// What was asked about files.
    std::set<std::string> mediaQuestions;
    /// The SHA-256 of recordings whose files nobody may look at, as the answers to such questions said.
    std::set<std::string> hidden;
    int requestCount = 0;
    /// The upload whose lock was the last thing that was told; empty if something else was.
    std::string lockedLast;
    /// Whether GigHive itself refused a finalize call.
    bool hasRefusedFinalize = false;
    /// Whether something that is not known to be the server has refused PATCH, so that POST may be used instead.
    bool hasRefusedPatch = false;
    /// Whether it falsely said that there is no such recording.
    bool hasRefusedDeletion = false;
    std::string password = "secret";
    std::optional<Answer> refuseStranger(const Head &head);
    /// What is too long is refused from its head.
    std::optional<Answer> refuseLong(const Head &head);

    bool isDown() const;
    void accept(std::shared_ptr<Connection> line);
    void forget(Session *session);
    void crash();
    void becomeHealthy();

    std::unique_ptr<Request> route(Session &session, Head head);
    std::unique_ptr<Request> makePortal(Session &session, Head head);
    std::unique_ptr<Request> makeSomebodyElse(Session &session, Head head);
    Mishap drawMishap(const Head &head);
    Answer refusal(int status);
    void noteAnswer(const Request &request, const Answer &answer);

    // MARK: Uploads

    Upload *find(const std::string &id);
    void remove(const std::string &id);
    /// Appends what came at its place.
    void append(Upload &upload, std::string_view bytes);
    void completeIfWhole(Upload &upload);

    // MARK: Recordings

    /// Takes a recording as GigHive does: once.
    Answer record(std::string content, const std::string &event, const std::string &uploadID);
    const Recording *finalized(const std::string &uploadID) const;
    Answer receipt(const Recording &recording, bool withToken) const;
    /// The server has it and has not looked at it yet.
    Answer pending(const Recording &recording) const;
    Answer error(int status, const std::string &message) const;

private:
    std::string retryAfter();
    void noteUploadAnswer(const std::string &id, const Request &request, const Answer &answer);

    /// In the order of their connections.
    std::vector<std::shared_ptr<Session>> sessions;
    Time downUntil = 0;
    int64_t nextAsset = 1;
};

/// Where Locations may lead, and nobody else can.
constexpr const char *internalHost = "tusd.internal:1080";

std::unique_ptr<Request> makeTusRequest(Session &session, Head head);
std::unique_ptr<Request> makeFinalize(Session &session, Head head);
std::unique_ptr<Request> makeDeletion(Session &session, Head head);
std::unique_ptr<Request> makeAsset(Session &session, Head head);
std::unique_ptr<Request> makeMedia(Session &session, Head head);
std::unique_ptr<Request> makeForm(Session &session, Head head);

std::string sha256(std::string_view bytes);
std::string sha256Bytes(std::string_view bytes);
std::string sha1Bytes(std::string_view bytes);
std::string base64(std::string_view bytes);
std::optional<std::string> fromBase64(std::string_view text);

}
