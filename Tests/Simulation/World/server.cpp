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
    for (auto &[id, upload] : uploads) upload.lockedUntil = 0;
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
    if (world.scenario.destination != Destination::multipart) draw(faults.portal, Mishap::portal);
    if (random.chance(faults.crashes)) mishap.kind = random.of({Mishap::crashesBefore, Mishap::crashesAfter});
    mishap.status = isStrange ? random.of({400, 401, 403, 404, 409, 410, 413, 422, 460, 501, 507})
                              : random.of({500, 502, 503, 503, 504, 429, 408, 423, 425});
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

/// What answers in a hotel's network: a page for everything.
class Portal : public Request {
public:
    using Request::Request;
    std::optional<Answer> begin() override {
        if (session.world.serverRandom.chance(0.5)) return std::nullopt;
        return end();
    }
    Answer end() override { return {200, {{"Content-Type", "text/html"}}, "<html><title>Welcome</title>Log in, please</html>", false, {}}; }
};

}

std::unique_ptr<Request> Server::makePortal(Session &session, Head head) { return std::make_unique<Portal>(session, std::move(head)); }

std::unique_ptr<Request> Server::route(Session &session, Head head) {
    if (traits.newPasswordAfter >= 0 && requestCount > traits.newPasswordAfter) password = "another secret";
    if (traits.redirects && head.target.rfind("/moved/", 0) != 0) return std::make_unique<Redirect>(session, std::move(head));
    if (traits.redirects) head.target.erase(0, 6);
    std::string path = head.target.substr(0, head.target.find('?'));
    if (path == "/files/" || path.rfind("/files/", 0) == 0) return makeTusRequest(session, std::move(head));
    if (path == "/api/uploads/finalize") return makeFinalize(session, std::move(head));
    return makeForm(session, std::move(head));
}

void Server::noteAnswer(const Request &request, const Answer &answer) {
    if (request.head.target.rfind("/files/", 0) != 0 || (answer.status == 200 && request.head.method != "HEAD")) return;
    Upload *upload = find(request.head.target.substr(7));
    if (!upload) return;
    if (answer.status == 404 || answer.status == 410) upload->wasDisowned = true;
    if (answer.status < 300) upload->wasDisowned = false;
}

// MARK: Uploads

Upload *Server::find(const std::string &id) {
    auto found = uploads.find(id);
    if (found == uploads.end()) return nullptr;
    if (found->second.expires > world.clock.now) return &found->second;
    world.figures.count("uploads expired");
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
}

}
