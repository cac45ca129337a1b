#include "world.hpp"
#include <algorithm>
#include <cstring>
#include <zlib.h>

namespace world {

// MARK: Heads

static bool isTokenCharacter(char c) {
    return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool isToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), isTokenCharacter); }

std::optional<int64_t> number(std::string_view text) {
    if (text.empty() || text.size() > 18) return std::nullopt;
    int64_t value = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

static bool equals(std::string_view one, std::string_view other) {
    return one.size() == other.size() && strncasecmp(one.data(), other.data(), one.size()) == 0;
}

const std::string *Head::find(std::string_view name) const {
    for (auto &[key, value] : fields) {
        if (equals(key, name)) return &value;
    }
    return nullptr;
}

std::string Head::value(std::string_view name) const {
    auto found = find(name);
    return found ? *found : "";
}

std::string Head::parse(std::string_view text) {
    // Without the empty line; each line still with its end.
    size_t end = text.find("\r\n");
    std::string_view line = text.substr(0, end);
    size_t first = line.find(' '), last = line.rfind(' ');
    if (first == line.npos || first == last) return "a request line without its three parts";
    method = line.substr(0, first);
    target = line.substr(first + 1, last - first - 1);
    if (!isToken(method)) return "a method that is no token";
    if (line.substr(last + 1) != "HTTP/1.1") return "another version than HTTP/1.1";
    if (target.empty()) return "no target";
    for (char c : target) {
        if (c <= ' ' || c == 0x7f || (unsigned char)c > 0x7f) return "a target with bytes that no URI has";
    }
    for (text = text.substr(end + 2); !text.empty(); text = text.substr(end + 2)) {
        end = text.find("\r\n");
        line = text.substr(0, end);
        size_t colon = line.find(':');
        if (colon == line.npos || !isToken(line.substr(0, colon))) return "a field without a name";
        std::string_view value = line.substr(colon + 1);
        while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
        while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
        for (char c : value) {
            if ((unsigned char)c < ' ' && c != '\t') return "a field value with control characters";
        }
        std::string name(line.substr(0, colon));
        if (find(name)) return "the field " + name + " twice";
        fields.emplace_back(name, value);
    }
    if (!find("Host") || find("Host")->empty()) return "no Host";
    if (find("Transfer-Encoding")) return "a transfer coding, which GigHive refuses";
    if (auto length = find("Content-Length")) {
        auto value = number(*length);
        if (!value) return "a Content-Length that is no number";
        hasContentLength = true;
        contentLength = *value;
    }
    if ((method == "POST" || method == "PATCH") && !hasContentLength) return method + " without Content-Length";
    if ((method == "HEAD" || method == "OPTIONS") && contentLength) return method + " with content";
    return "";
}

// MARK: The session

static std::string compressed(const std::string &text) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string output(deflateBound(&stream, text.size()) + 32, 0);
    stream.next_in = (Bytef *)text.data();
    stream.avail_in = (uInt)text.size();
    stream.next_out = (Bytef *)output.data();
    stream.avail_out = (uInt)output.size();
    deflate(&stream, Z_FINISH);
    output.resize(stream.total_out);
    deflateEnd(&stream);
    return output;
}

void Session::receive(std::string_view bytes) {
    if (!isOpen) return;
    lastActivity = world.clock.now;
    if (request && left == 0 && buffer.empty() && !bytes.empty()) world.figures.count("requests before the last answer");
    buffer += bytes;
    work();
}

void Session::work() {
    auto self = shared_from_this();
    while (isOpen && !isClosing) {
        if (!request && !beginRequest()) return;
        if (!isOpen || !takeContent()) return;
        if (!isAnswered) return;
        // Answered, and its content is gone: on to the next one.
        request.reset();
    }
}

/// - Returns: false if there is no whole head yet.
bool Session::beginRequest() {
    size_t end = buffer.find("\r\n\r\n");
    if (end == buffer.npos) {
        if (buffer.size() > (32 << 10)) world.fail("a request head without an end: " + buffer.substr(0, 200));
        watch();
        return false;
    }
    Head head;
    std::string wrong = head.parse(std::string_view(buffer).substr(0, end + 2));
    if (wrong.empty() && head.value("Host") != world.server.host) wrong = "the Host of another server: " + head.value("Host");
    if (!wrong.empty()) {
        world.fail("a request with " + wrong + ":\n" + buffer.substr(0, end));
        drop();
        return true;
    }
    std::string authority = world.scenario.hasProxy ? "http://" + world.server.host : "";
    if (head.target.compare(0, authority.size() + 1, authority + "/")) {
        world.fail("a target of another form than the connection asks for: " + head.target);
        drop();
        return true;
    }
    head.target.erase(0, authority.size());
    buffer.erase(0, end + 4);
    count++;
    world.figures.count("requests");
    world.server.requestCount++;
    left = head.contentLength;
    taken = 0;
    isDecided = isAnswered = false;
    if (world.server.traits.requestLimit && left > 0) limitTime();
    world.say(
        "connection %d: %s %s (%lld bytes, offset %s)", line->number, head.method.c_str(), head.target.c_str(),
        (long long)left, head.find("Upload-Offset") ? head.value("Upload-Offset").c_str() : "-");
    mishap = world.server.drawMishap(head);
    bool expects = head.find("Expect");
    if (expects && head.value("Expect") != "100-continue") world.fail("an unknown expectation");
    bool isPortal = mishap.kind == Mishap::portal;
    bool isSomebodyElse = mishap.kind == Mishap::somebodyElse;
    if (isPortal) world.figures.count("answers of a portal");
    if (isSomebodyElse) world.figures.count("answers from something else");
    request = isPortal      ? world.server.makePortal(*this, std::move(head))
        : isSomebodyElse    ? world.server.makeSomebodyElse(*this, std::move(head))
                            : world.server.route(*this, std::move(head));
    if (mishap.kind == Mishap::refused) {
        world.figures.count("requests refused");
        Answer refusal = world.server.refusal(mishap.status);
        mishap.kind = Mishap::none;
        answer(refusal);
    } else if (auto refusal = request->begin()) {
        answer(*refusal);
    } else if (expects && world.server.traits.expectation == ServerTraits::refusesExpectation) {
        answer({417, {}, "", true, {}});
    } else if (expects && world.server.traits.expectation == ServerTraits::continues) {
        line->reply("HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (isOpen && !isDecided) sayInterim();
    return true;
}

/// A proxy in between keeps the request to itself until it is whole.
void Session::limitTime() {
    auto self = shared_from_this();
    int at = count;
    world.clock.after(world.server.traits.requestLimit, [self, at] {
        if (!self->isOpen || self->count != at || !self->request || self->left == 0 || self->isDecided) return;
        self->world.figures.count("requests out of time");
        self->end(self->world.serverRandom.chance(0.5));
    });
}

void Session::sayInterim() {
    if (!world.serverRandom.chance(world.faults().interim)) return;
    int64_t times = world.serverRandom.between(1, 3);
    for (int64_t index = 0; index < times; index++) {
        line->reply(world.serverRandom.of({
            "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 7\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n",
            "HTTP/1.1 102 Processing\r\nX: y\r\n\r\n",
        }));
    }
    world.figures.count("interim answers", times);
}

/// - Returns: false if there is more to come.
bool Session::takeContent() {
    while (left > 0) {
        if (buffer.empty()) {
            watch();
            return false;
        }
        size_t length = (size_t)std::min<int64_t>(left, (int64_t)buffer.size());
        bool isDropped = mishap.kind == Mishap::droppedBefore || mishap.kind == Mishap::crashesBefore;
        if (isDropped && taken < mishap.atByte) length = (size_t)std::min<int64_t>((int64_t)length, mishap.atByte - taken);
        if (isDropped && taken >= mishap.atByte) {
            mishap.kind == Mishap::crashesBefore ? world.server.crash() : drop();
            return false;
        }
        if (!isDecided) request->take(std::string_view(buffer).substr(0, length));
        if (!isOpen) return false;
        buffer.erase(0, length);
        left -= (int64_t)length;
        taken += (int64_t)length;
    }
    if (!isDecided) {
        switch (mishap.kind) {
        case Mishap::droppedBefore: drop(); return false;
        case Mishap::crashesBefore: world.server.crash(); return false;
        default: answer(request->end());
        }
    }
    return isOpen;
}

void Session::answer(Answer answer) {
    isDecided = true;
    auto self = shared_from_this();
    Random &random = world.serverRandom;
    switch (mishap.kind) {
    case Mishap::droppedAfter:
        world.figures.count("answers lost");
        return drop();
    case Mishap::crashesAfter:
        world.figures.count("answers lost");
        return world.server.crash();
    case Mishap::hangs:
        world.figures.count("answers never given");
        return;
    case Mishap::failedAfter:
        world.figures.count("answers replaced");
        answer = world.server.refusal(mishap.status);
        break;
    default: break;
    }
    const ServerTraits &traits = world.server.traits;
    Time delay = traits.longestAnswer ? random.between(0, traits.longestAnswer) : 0;
    if (random.chance(world.faults().slow)) delay += random.magnitude(millisecond, 200 * second);
    if (!world.isHealthy() && (answer.status == 201 || answer.status == 409)) delay += traits.digestion;
    world.clock.after(delay, [self, answer] {
        if (self->isOpen) self->send(answer);
    });
}

void Session::send(const Answer &given) {
    Answer answer = given;
    const ServerTraits &traits = world.server.traits;
    bool isLast = count >= traits.requestsAConnection;
    if (isLast && traits.announcesLastRequest) answer.closes = true;
    bool untilClose = !answer.body.empty() && traits.framing == ServerTraits::untilClose && request->head.method != "HEAD";
    world.say("connection %d: answers %d", line->number, answer.status);
    if (canary == "closes-come-first" && traits.closesSilently) return end(true);
    world.server.noteAnswer(*request, answer);
    line->reply(render(answer));
    isAnswered = true;
    lastActivity = world.clock.now;
    endRequest(answer.closes || isLast || untilClose);
}

void Session::endRequest(bool closes) {
    if (closes) return end(true);
    if (world.server.traits.closesSilently) return closeSoon();
    if (world.serverRandom.chance(world.faults().closesIdle)) {
        auto self = shared_from_this();
        int at = count;
        world.clock.after(world.serverRandom.magnitude(1, second), [self, at] {
            if (!self->isOpen || self->count != at || self->request || !self->buffer.empty()) return;
            self->world.figures.count("idle connections closed");
            self->end(true);
        });
    }
    work();
}

std::string Session::render(const Answer &given) {
    const ServerTraits &traits = world.server.traits;
    Answer answer = given;
    if (traits.compresses && !answer.body.empty() && request->head.value("Accept-Encoding").find("gzip") != std::string::npos) {
        answer.body = compressed(answer.body);
        answer.fields.emplace_back("Content-Encoding", "gzip");
    }
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " Whatever\r\nServer: world\r\n";
    for (auto &[name, value] : answer.fields) text += name + ": " + value + "\r\n";
    if (answer.closes) text += "Connection: close\r\n";
    if (request->head.method == "HEAD" || answer.status == 204) {
        if (answer.statedLength) text += "Content-Length: " + std::to_string(*answer.statedLength) + "\r\n";
        return text + "\r\n";
    }
    if (answer.body.empty() || traits.framing == ServerTraits::length) {
        return text + "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
    }
    if (traits.framing == ServerTraits::untilClose) return text + "\r\n" + answer.body;
    text += "Transfer-Encoding: chunked\r\n\r\n";
    for (size_t at = 0; at < answer.body.size();) {
        size_t length = (size_t)world.serverRandom.between(1, (int64_t)(answer.body.size() - at));
        char size[32];
        snprintf(size, sizeof size, "%zx\r\n", length);
        text += size + answer.body.substr(at, length) + "\r\n";
        at += length;
    }
    return text + "0\r\n\r\n";
}

/// 0.2 to 10 ms later, whatever has come by then.
void Session::closeSoon() {
    isClosing = true;
    auto self = shared_from_this();
    world.clock.after(world.serverRandom.between(200, 10 * millisecond), [self] {
        if (!self->isOpen) return;
        bool isUnread = !self->buffer.empty();
        self->world.figures.count(isUnread ? "silent closes with a request unread" : "silent closes");
        // A kernel resets what is closed with something unread.
        self->end(!isUnread && self->world.serverRandom.chance(0.7));
    });
}

/// The connection ends without an answer.
void Session::drop() {
    world.figures.count("connections dropped");
    end(world.serverRandom.chance(0.5));
}

void Session::end(bool orderly) {
    if (!isOpen) return;
    isOpen = false;
    if (request && !isDecided) request->cut();
    orderly ? line->finish() : line->abort();
    world.server.forget(this);
}

void Session::interrupt(const Answer &given) {
    if (!isOpen || !request || isDecided) return end(true);
    request->cut();
    answer(given);
}

void Session::reset() {
    if (!isOpen) return;
    isOpen = false;
    if (request && !isDecided) request->cut();
    world.server.forget(this);
}

/// The client says nothing more. It may still read.
void Session::peerClosed() {
    if (!isOpen) return;
    if (!request || left > 0 || mishap.kind == Mishap::hangs) end(true);
}

/// Gives the client up when nothing comes for long.
void Session::watch() {
    auto self = shared_from_this();
    bool isIdle = !request && buffer.empty();
    Time limit = isIdle ? world.server.traits.idleLimit : world.server.traits.readLimit;
    Time since = lastActivity;
    world.clock.after(limit, [self, since] {
        if (!self->isOpen || self->lastActivity != since) return;
        if (self->request && self->left == 0) return;
        self->world.figures.count(self->request ? "slow clients given up" : "idle connections ended");
        self->end(true);
    });
}

}
