#include "world.hpp"
#include <cstring>
#include <openssl/evp.h>
#include <openssl/sha.h>

namespace world {

// MARK: Digests and codings

std::string sha256Bytes(std::string_view bytes) {
    std::string digest(32, 0);
    SHA256((const unsigned char *)bytes.data(), bytes.size(), (unsigned char *)digest.data());
    return digest;
}

std::string sha1Bytes(std::string_view bytes) {
    std::string digest(20, 0);
    SHA1((const unsigned char *)bytes.data(), bytes.size(), (unsigned char *)digest.data());
    return digest;
}

std::string sha256(std::string_view bytes) {
    std::string text;
    for (unsigned char byte : sha256Bytes(bytes)) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, 0);
    text.resize((size_t)EVP_EncodeBlock((unsigned char *)text.data(), (const unsigned char *)bytes.data(), (int)bytes.size()));
    return text;
}

std::optional<std::string> fromBase64(std::string_view text) {
    static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (text.size() % 4) return std::nullopt;
    std::string bytes;
    uint32_t bits = 0;
    int count = 0;
    size_t padding = 0;
    for (char c : text) {
        size_t value = alphabet.find(c);
        if (c == '=' ? ++padding > 2 : value == alphabet.npos || padding) return std::nullopt;
        if (c == '=') continue;
        bits = bits << 6 | (uint32_t)value;
        if ((count += 6) >= 8) bytes += (char)(bits >> (count -= 8) & 255);
    }
    if (bits & ((1u << count) - 1)) return std::nullopt;
    return bytes;
}

// MARK: The process

Server::Server(World &world) : world(world), traits(world.scenario.server) {
    host = world.scenario.hasNumericHost ? "203.0.113.7:8080" : "hive.example:8080";
}

Server::~Server() {
    for (auto &session : sessions) session->line->session.reset();
    // Their requests use the uploads when they end.
    sessions.clear();
}

std::vector<Recording> &Server::forms() { return world.scenario.hasOther ? others : recordings; }

bool Server::isDown() const { return world.clock.now < downUntil; }

void Server::accept(std::shared_ptr<Connection> line) {
    auto session = std::make_shared<Session>(world, line);
    line->session = session;
    sessions.push_back(session);
    session->receive("");
}

void Server::forget(Session *session) {
    for (auto at = sessions.begin(); at != sessions.end(); ++at) {
        if (at->get() != session) continue;
        auto kept = *at;
        sessions.erase(at);
        kept->line->session.reset();
        // It may be at work above this call.
        world.clock.after(0, [kept] {});
        return;
    }
}

void Server::crash() {
    world.figures.count("server restarts");
    world.say("the server crashes");
    bool orderly = world.serverRandom.chance(0.3);
    auto all = sessions;
    for (auto &session : all) session->end(orderly);
    downUntil = world.clock.now + world.serverRandom.magnitude(millisecond, 2 * minute);
    for (auto at = uploads.begin(); at != uploads.end();) {
        Upload &upload = at->second;
        upload.writer = nullptr;
        upload.lockedUntil = 0;
        if (traits.stores == ServerTraits::requests && !upload.isComplete) upload.data.resize(upload.stored);
        bool isLost = traits.stores == ServerTraits::nothing;
        if (isLost) world.figures.count("uploads lost by the server");
        if (isLost && upload.isComplete) former.push_back(upload);
        at = isLost ? uploads.erase(at) : std::next(at);
    }
}

void Server::becomeHealthy() {
    auto all = sessions;
    for (auto &session : all) session->end(true);
    downUntil = 0;
    traits.contentLimit = INT64_MAX;
    traits.readLimit = traits.idleLimit = hour;
    traits.finalizeDelay = 0;
    traits.longestAnswer = std::min(traits.longestAnswer, world.scenario.responseLimit * millisecond / 2);
    traits.newPasswordAfter = -1;
    traits.expiresAfter = 30 * day;
    for (Recording &recording : recordings) recording.readyAt = 0;
    for (auto &[id, upload] : uploads) {
        upload.lockedUntil = 0;
        // What has not expired by now does not do so between two requests of a start that must deliver.
        if (upload.expires > world.clock.now) upload.expires = world.clock.now + traits.expiresAfter;
    }
}

// MARK: Mishaps

Mishap Server::drawMishap(const Head &head) {
    const Faults &faults = world.faults();
    Random &random = world.serverRandom;
    Mishap mishap;
    auto draw = [&](double rate, Mishap::Kind kind) {
        if (random.chance(rate)) mishap.kind = kind;
    };
    draw(faults.refusedRequest, Mishap::refused);
    draw(faults.strangeRefusal, Mishap::refused);
    bool isStrange = mishap.kind == Mishap::refused && random.chance(faults.strangeRefusal / (faults.strangeRefusal + faults.refusedRequest));
    draw(faults.droppedBefore, Mishap::droppedBefore);
    draw(faults.droppedAfter, Mishap::droppedAfter);
    draw(faults.failedAfter, Mishap::failedAfter);
    draw(faults.hangs, Mishap::hangs);
    draw(faults.portal, Mishap::portal);
    if (faults.somebodyElse > 0) draw(faults.somebodyElse, Mishap::somebodyElse);
    if (random.chance(faults.crashes)) mishap.kind = random.of({Mishap::crashesBefore, Mishap::crashesAfter});
    mishap.status = isStrange ? random.of({400, 401, 403, 404, 409, 410, 413, 422, 460, 501, 507})
                              : random.of({500, 502, 503, 503, 504, 429, 408, 423, 425});
    // Whoever refuses a form in these words has not stored it.
    bool hasStored = head.target.find("/upload?kind=plain") != std::string::npos && mishap.kind == Mishap::failedAfter;
    if (hasStored && mishap.status < 500) mishap.status = 500;
    mishap.atByte = head.contentLength ? random.between(0, head.contentLength - 1) : 0;
    return mishap;
}

std::string Server::retryAfter() {
    Random &random = world.serverRandom;
    int64_t seconds = random.magnitude(1, random.chance(0.1) ? 10'000 : 60);
    if (random.chance(0.7)) return std::to_string(seconds);
    time_t then = (time_t)(1'790'000'000 + world.clock.now / second + seconds);
    struct tm parts;
    char text[64];
    gmtime_r(&then, &parts);
    strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return text;
}

Answer Server::refusal(int status) {
    Answer answer = error(status, "not now");
    if (status == 501 || world.serverRandom.chance(0.3)) answer.body = "<html><body>" + std::string(20, 'x') + "</body></html>";
    if ((status == 503 || status == 429) && world.serverRandom.chance(0.5)) answer.fields.emplace_back("Retry-After", retryAfter());
    if (status == 401) answer.fields.emplace_back("WWW-Authenticate", "Basic realm=\"world\"");
    answer.closes = traits.closesRefusals || status == 408;
    return answer;
}

Answer Server::error(int status, const std::string &message) const {
    return {status, {{"Content-Type", "application/json"}}, "{\"error\":\"Error\",\"message\":\"" + message + "\"}", false, {}};
}

// MARK: Requests

std::optional<Answer> Server::refuseStranger(const Head &head) {
    if (!traits.authenticates) return std::nullopt;
    std::string given = head.value("Authorization");
    if (given == "Basic " + base64("someone:" + password)) return std::nullopt;
    bool isFormer = given == "Basic " + base64("someone:secret");
    if (!isFormer) world.fail("a request without the credentials: " + given);
    world.figures.count("passwords that hold no more");
    return refusal(401);
}

std::optional<Answer> Server::refuseLong(const Head &head) {
    if (head.contentLength <= traits.contentLimit) return std::nullopt;
    world.figures.count("too large (413)");
    return Answer{413, {}, "<html>too large</html>", true, {}};
}

namespace {

class Redirect : public Request {
public:
    using Request::Request;

    std::optional<Answer> begin() override {
        World &world = session.world;
        world.figures.count("redirections");
        std::string place = "/moved" + head.target;
        if (world.serverRandom.chance(0.5)) place = "http://" + world.server.host + place;
        return Answer{world.serverRandom.of({307, 308}), {{"Location", place}}, "moved", world.server.traits.closesRefusals, {}};
    }

    Answer end() override { return {}; }
};

/// Answers in the server's place, at once or with the whole request. The server never sees it.
class Impostor : public Request {
public:
    using Request::Request;
    std::optional<Answer> begin() override {
        if (session.world.serverRandom.chance(0.5)) return std::nullopt;
        return end();
    }
};

/// A firewall, a proxy or a portal refuses.
class SomebodyElse : public Impostor {
public:
    using Impostor::Impostor;
    Answer end() override {
        World &world = session.world;
        Answer answer{world.serverRandom.of({403, 404, 404, 410, 502, 511}), {{"Content-Type", "text/html"}}, "", false, {}};
        answer.body = "<html><head><title>No</title></head><body>This page is not for you.</body></html>";
        answer.closes = world.serverRandom.chance(0.5);
        if (canary == "somebody-poses") answer.fields.emplace_back("Tus-Resumable", "1.0.0");
        answer.isOfSomebodyElse = true;
        return answer;
    }
};

/// A hotel's captive portal: a page for every request.
class Portal : public Impostor {
public:
    using Impostor::Impostor;
    Answer end() override {
        return {200, {{"Content-Type", "text/html"}}, "<html><title>Welcome</title><input type=\"password\">Log in, please</html>", false, {}};
    }
};

}

std::unique_ptr<Request> Server::makeSomebodyElse(Session &session, Head head) {
    return std::make_unique<SomebodyElse>(session, std::move(head));
}

std::unique_ptr<Request> Server::makePortal(Session &session, Head head) { return std::make_unique<Portal>(session, std::move(head)); }

std::unique_ptr<Request> Server::route(Session &session, Head head) {
    if (traits.newPasswordAfter >= 0 && requestCount > traits.newPasswordAfter) password = "another secret";
    if (traits.redirects && head.target.rfind("/moved/", 0) != 0) return std::make_unique<Redirect>(session, std::move(head));
    if (traits.redirects) head.target.erase(0, 6);
    std::string path = head.target.substr(0, head.target.find('?'));
    if (path == "/files/" || path.rfind("/files/", 0) == 0) return makeTusRequest(session, std::move(head));
    if (path == "/api/uploads/finalize") return makeFinalize(session, std::move(head));
    if (path == "/db/delete_media_files.php") return makeDeletion(session, std::move(head));
    if (path.rfind("/video/", 0) == 0) return makeMedia(session, std::move(head));
    if (head.method == "GET") return makeAsset(session, std::move(head));
    return makeForm(session, std::move(head));
}

void Server::noteAnswer(const Request &request, const Answer &answer) {
    // A response that is not read has no effect.
    if (request.session.line->isAbandoned()) return;
    lockedLast = "";
    std::string target = request.head.target;
    if (target.rfind("/video/", 0) == 0 && (answer.status == 401 || answer.status == 403)) hidden.insert(target.substr(7, 64));
    if (target.rfind("/moved/", 0) == 0) target.erase(0, 6);
    Upload *refused = answer.refusedRightOffset >= 0 ? find(target.substr(7)) : nullptr;
    if (refused) refused->conflict = {world.clock.now, answer.refusedRightOffset, world.retriesOfStart, request.session.line};
    bool isProved = std::any_of(answer.fields.begin(), answer.fields.end(), [](auto &field) { return field.first == "Tus-Resumable"; });
    if (request.head.method == "PATCH" && !isProved && (answer.status == 403 || answer.status == 405 || answer.status == 501)) hasRefusedPatch = true;
    bool isOfGigHive = answer.status >= 400 && !answer.isOfSomebodyElse && answer.body.rfind("{", 0) == 0;
    if (target == "/api/uploads/finalize" && isOfGigHive) hasRefusedFinalize = true;
    bool isNoMore = answer.status == 403 || answer.status == 404 || answer.status == 410;
    if (target == "/db/delete_media_files.php" && isOfGigHive && isNoMore) hasRefusedDeletion = true;
    if (target.rfind("/files/", 0) != 0 || (answer.status == 200 && request.head.method != "HEAD")) return;
    std::string id = target.substr(7);
    if (id.empty() && answer.status == 201) {
        for (auto &[name, value] : answer.fields) {
            if (name == "Location") id = value.substr(value.rfind('/') + 1);
        }
        return noteUploadAnswer(id, request, answer);
    }
    noteUploadAnswer(id, request, answer);
}

void Server::noteUploadAnswer(const std::string &id, const Request &request, const Answer &answer) {
    Upload *upload = find(id);
    if (!upload) return;
    bool isProof = false, isGone = answer.status == 404 || answer.status == 410;
    for (auto &[name, value] : answer.fields) isProof = isProof || (name == "Tus-Resumable" && !answer.isOfSomebodyElse);
    auto &affirmed = upload->affirmed;
    if (affirmed.line && !affirmed.line->hasReadAll()) upload->doubt = affirmed.doubt;
    affirmed.line = nullptr;
    if (isGone && (isProof || upload->doubt == Upload::locatedSince)) upload->wasDisowned = true;
    if (isGone && !isProof && upload->doubt == Upload::none) upload->doubt = Upload::denied;
    if (answer.isLock) lockedLast = id;
    if (answer.status >= 300 || !isProof) return;
    upload->wasDisowned = false;
    if (upload->doubt != Upload::none) affirmed = {request.session.line, upload->doubt};
    upload->doubt = Upload::none;
    const std::string &method = request.head.method;
    for (auto &[other, doubted] : uploads) {
        if (other == id || doubted.file != upload->file || doubted.doubt == Upload::none) continue;
        if (method == "POST") doubted.doubt = Upload::createdSince;
        if (method == "HEAD" && doubted.doubt == Upload::createdSince) doubted.doubt = Upload::locatedSince;
    }
}

// MARK: Uploads

Upload *Server::find(const std::string &id) {
    auto found = uploads.find(id);
    if (found == uploads.end()) return nullptr;
    if (found->second.expires > world.clock.now) return &found->second;
    world.figures.count("uploads expired");
    world.say("upload %s has expired", id.c_str());
    if (found->second.isComplete) former.push_back(found->second);
    uploads.erase(found);
    return nullptr;
}

void Server::remove(const std::string &id) { uploads.erase(id); }

void Server::append(Upload &upload, std::string_view bytes) {
    size_t from = upload.data.size();
    upload.data += bytes;
    if (canary == "server-changes-a-bit" && upload.data.size() > 1 && from == 0) {
        upload.data[upload.data.size() / 2] ^= 1;
        return;
    }
    world.checkStored(upload, from);
}

void Server::completeIfWhole(Upload &upload) {
    if (upload.isComplete || upload.length < 0 || (int64_t)upload.data.size() < upload.length) return;
    upload.isComplete = true;
    upload.completedAt = world.clock.now;
    world.noteComplete(upload);
    if (!traits.removesComplete) return;
    std::string id = upload.id;
    // Behind the request that brought it.
    world.clock.after(0, [this, id] {
        auto found = uploads.find(id);
        if (found == uploads.end()) return;
        world.figures.count("complete uploads moved away");
        former.push_back(found->second);
        if (canary != "complete-uploads-look-new") return (void)uploads.erase(found);
        found->second.data.clear();
        found->second.stored = 0;
        found->second.isComplete = false;
    });
}

}
