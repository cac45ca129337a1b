// A tus 1.0.0 server (tus.io/protocols/resumable-upload), behind a proxy that spools or not.
#include "world.hpp"

namespace world {

namespace {

const char *const version = "1.0.0";

class TusRequest : public Request {
public:
    using Request::Request;
    ~TusRequest() override { release(false); }

protected:
    World &world() { return session.world; }
    Server &server() { return session.world.server; }
    const ServerTraits &traits() { return session.world.server.traits; }

    Answer say(int status, Fields fields = {}) {
        if (status < 400 || !traits().hasBareErrors) fields.insert(fields.begin(), {"Tus-Resumable", version});
        if (traits().needsCookie && !head.find("Cookie")) fields.emplace_back("Set-Cookie", "machine=" + std::to_string(machine()) + "; Path=/");
        return {status, std::move(fields), status >= 400 ? "ERR_SOMETHING: no" : "", false, {}};
    }

    std::optional<Answer> refuseHead() { return server().refuseStranger(head); }

    std::optional<Answer> refuseVersion() {
        if (head.value("Tus-Resumable") == version) return std::nullopt;
        world().fail(head.method + " without Tus-Resumable: 1.0.0");
        return say(412, {{"Tus-Version", version}});
    }

    void announceExpiry(const Upload &upload, Fields &fields) {
        if (!traits().announcesExpiry || upload.isComplete) return;
        time_t then = (time_t)(1'790'000'000 + upload.expires / second);
        struct tm parts;
        char text[64];
        gmtime_r(&then, &parts);
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
        fields.emplace_back("Upload-Expires", text);
    }

    /// The machine that a load balancer chooses: by its cookie, or any.
    int64_t machine() {
        if (!chosenMachine) chosenMachine = number(head.value("Cookie").substr(std::min<size_t>(8, head.value("Cookie").size()))).value_or(0);
        if (!chosenMachine) chosenMachine = world().serverRandom.between(1, 4);
        return chosenMachine;
    }
    int64_t chosenMachine = 0;

    /// The upload, if the request reaches the machine that has it.
    Upload *reach(const std::string &id) {
        Upload *upload = server().find(id);
        if (!upload || !traits().needsCookie) return upload;
        const Connection &line = *session.line;
        auto &creator = upload->creator;
        bool isOfCreator = creator && creator->start == line.start && creator->isOfSecond == line.isOfSecond;
        bool hasCookie = isOfCreator && creator->hasReadAll() && !world().scenario.faults.mayLackRecord();
        if (hasCookie && !head.find("Cookie")) world().fail(head.method + " without the load balancer's cookie");
        if (upload->machine == machine()) return upload;
        world().figures.count("requests to another machine");
        return nullptr;
    }

    /// Takes the content of a PATCH, or of a creation, for an upload.
    struct Content {
        std::string id;
        /// Where the next byte goes.
        int64_t position = 0;
        std::string spool;
        bool isLost = false;
    } content;

    bool isSpooling() { return traits().spools || head.find("Upload-Checksum"); }

    void takeContent(std::string_view bytes) {
        if (isSpooling()) {
            content.spool += bytes;
            return;
        }
        Upload *upload = server().find(content.id);
        if (!upload || (int64_t)upload->data.size() != content.position) content.isLost = true;
        if (content.isLost) return;
        server().append(*upload, bytes);
        content.position += (int64_t)bytes.size();
        upload->expires = world().clock.now + traits().expiresAfter;
    }

    void release(bool lingers) {
        Upload *upload = server().find(content.id);
        if (!upload || upload->writer != this) return;
        upload->writer = nullptr;
        if (lingers && traits().lockLinger) upload->lockedUntil = world().clock.now + traits().lockLinger;
    }

    void cutContent() {
        if (isSpooling() && !content.spool.empty()) world().figures.count("spooled requests cut");
        release(true);
        // A server that had everything but the end of the request has everything.
        if (Upload *upload = server().find(content.id)) server().completeIfWhole(*upload);
    }

    std::optional<Answer> lock(Upload &upload) {
        if (traits().locks == ServerTraits::none) return std::nullopt;
        if (upload.writer && upload.writer != this && traits().locks == ServerTraits::takesOver) {
            Session &other = upload.writer->session;
            upload.writer = nullptr;
            world().figures.count("locks taken over");
            // As tusd's.
            other.interrupt({400, {{"Tus-Resumable", version}}, "ERR_UPLOAD_INTERRUPTED: another request", true, {}});
        }
        if ((upload.writer && upload.writer != this) || world().clock.now < upload.lockedUntil) {
            bool isConflict = traits().hasConflictLocks;
            world().figures.count(isConflict ? "locked (409)" : "locked (423)");
            Answer answer = say(isConflict ? 409 : 423);
            answer.isLock = isConflict;
            return answer;
        }
        return std::nullopt;
    }
};

class Options : public TusRequest {
public:
    using TusRequest::TusRequest;

    Answer end() override {
        if (!traits().speaksTus) return server().error(404, "nothing here");
        if (head.find("Tus-Resumable")) world().fail("OPTIONS with Tus-Resumable");
        std::string extensions = "creation";
        if (traits().createsWithUpload) extensions += ",creation-with-upload";
        if (traits().defersLength) extensions += ", creation-defer-length";
        if (traits().terminates) extensions += ",termination";
        if (traits().checks) extensions += ",checksum";
        Answer answer = say(traits().optionsStatus, {{"Tus-Version", version}, {"Tus-Extension", extensions}});
        if (traits().checks) answer.fields.emplace_back("Tus-Checksum-Algorithm", "md5,sha1,sha256");
        return answer;
    }
};

class Create : public TusRequest {
public:
    using TusRequest::TusRequest;

    std::optional<Answer> begin() override {
        if (auto refusal = refuseHead()) return refusal;
        if (!traits().speaksTus) return server().error(404, "nothing here");
        if (auto refusal = refuseVersion()) return refusal;
        if (auto refusal = server().refuseLong(head)) return refusal;
        if (head.contentLength > 0) {
            if (!traits().createsWithUpload) world().fail("content in a creation request, which was not offered");
            if (head.value("Content-Type") != "application/offset+octet-stream") world().fail("content of another type in a creation");
            if (traits().refusesContentAtCreation) return server().refusal(world().serverRandom.of({400, 413, 415}));
        }
        if (!readLength() || !readMetadata()) return say(400);
        if (length >= 0 && head.contentLength > length) world().fail("a creation with more content than the upload has");
        if (!isSpooling()) create();
        return std::nullopt;
    }

    void take(std::string_view bytes) override { takeContent(bytes); }
    void cut() override { cutContent(); }

    Answer end() override {
        if (isSpooling()) create();
        Upload *upload = server().find(content.id);
        if (!upload || content.isLost) return say(404);
        if (isSpooling()) server().append(*upload, content.spool);
        upload->stored = upload->data.size();
        server().completeIfWhole(*upload);
        release(false);
        std::string place = "/files/" + upload->id;
        if (!traits().locationIsRelative) place = "http://" + statedHost() + place;
        Fields fields{{"Location", place}};
        if (head.contentLength > 0) fields.emplace_back("Upload-Offset", std::to_string(upload->data.size()));
        announceExpiry(*upload, fields);
        return say(201, fields);
    }

private:
    int64_t length = -1;
    int file = -1;

    bool readLength() {
        auto stated = head.find("Upload-Length"), deferred = head.find("Upload-Defer-Length");
        if (!stated == !deferred) world().fail("a creation with both or neither of Upload-Length and Upload-Defer-Length");
        if (deferred && (*deferred != "1" || !traits().defersLength)) world().fail("a deferred length, which was not offered");
        if (!stated) return true;
        auto value = number(*stated);
        if (!value) world().fail("an Upload-Length that is no number");
        length = value.value_or(-1);
        return value.has_value();
    }

    bool readMetadata() {
        std::string rest = head.value("Upload-Metadata");
        while (!rest.empty()) {
            size_t comma = rest.find(',');
            std::string pair = rest.substr(0, comma);
            rest = comma == rest.npos ? "" : rest.substr(comma + 1);
            size_t space = pair.find(' ');
            std::string key = pair.substr(0, space);
            auto value = fromBase64(space == pair.npos ? "" : pair.substr(space + 1));
            if (key.empty() || !value) {
                world().fail("Upload-Metadata that cannot be read: " + pair);
                return false;
            }
            if (key == "filename") file = world().fileOf(*value);
        }
        if (file < 0) world().fail("an upload without the name of a file");
        return file >= 0;
    }

    std::string statedHost() {
        const std::string &host = server().host;
        if (traits().address == ServerTraits::own) return host;
        world().figures.count("Locations at a wrong address");
        return traits().address == ServerTraits::internal ? std::string(internalHost) : host.substr(0, host.find(':'));
    }

    void create() {
        Upload upload;
        upload.id = world().serverRandom.hex(32);
        upload.file = file;
        upload.length = length;
        upload.writer = this;
        if (traits().needsCookie) upload.machine = machine(), upload.creator = session.line;
        upload.expires = world().clock.now + traits().expiresAfter;
        if (!session.line->isAbandoned()) world().noteCreation(file);
        content.id = upload.id;
        server().uploads[upload.id] = upload;
        world().figures.count("uploads created");
    }
};

class Locate : public TusRequest {
public:
    using TusRequest::TusRequest;

    Answer end() override {
        if (auto refusal = refuseHead()) return *refusal;
        if (auto refusal = refuseVersion()) return *refusal;
        std::string id = head.target.substr(7);
        if (session.line->start == world().startNumber) world().checkTrust(id);
        Upload *upload = reach(id);
        if (!upload) return say(world().serverRandom.of({404, 410}));
        if (traits().locksOffset) {
            if (auto refusal = lock(*upload)) return *refusal;
        }
        if (!upload->data.empty()) world().figures.count("offsets told above zero");
        Fields fields{{"Cache-Control", "no-store"}, {"Upload-Offset", std::to_string(upload->data.size())}};
        if (upload->length >= 0) {
            fields.emplace_back("Upload-Length", std::to_string(upload->length));
        } else {
            fields.emplace_back("Upload-Defer-Length", "1");
        }
        announceExpiry(*upload, fields);
        Answer answer = say(200, fields);
        answer.statedLength = upload->length > 0 ? upload->length : 0;
        return answer;
    }
};

class Patch : public TusRequest {
public:
    using TusRequest::TusRequest;

    std::optional<Answer> begin() override {
        if (auto refusal = refuseHead()) return refusal;
        if (auto refusal = refuseVersion()) return refusal;
        if (head.value("Content-Type") != "application/offset+octet-stream") world().fail("a PATCH of another type");
        auto offset = number(head.value("Upload-Offset"));
        if (!offset) {
            world().fail("a PATCH without an offset");
            return say(400);
        }
        if (auto refusal = server().refuseLong(head)) return refusal;
        if (head.find("Upload-Checksum") && !traits().checks) world().fail("a checksum, which was not offered");
        content.id = head.target.substr(7);
        content.position = *offset;
        // Data from the previous process can arrive after the records of another one.
        bool isOfThisStart = session.line->start == world().startNumber;
        if (Upload *upload = server().find(content.id); upload && isOfThisStart) world().checkIsRecorded(*upload);
        return isSpooling() ? std::nullopt : check();
    }

    void take(std::string_view bytes) override { takeContent(bytes); }
    void cut() override { cutContent(); }

    Answer end() override {
        if (isSpooling()) {
            if (auto refusal = check()) return *refusal;
            if (auto refusal = checkSum()) return *refusal;
            server().append(*server().find(content.id), content.spool);
        }
        Upload *upload = server().find(content.id);
        release(false);
        if (!upload) return say(404);
        if (content.isLost) return say(409);
        upload->stored = upload->data.size();
        upload->expires = world().clock.now + traits().expiresAfter;
        server().completeIfWhole(*upload);
        world().figures.count("PATCH stored");
        Fields fields{{"Upload-Offset", std::to_string(upload->data.size())}};
        announceExpiry(*upload, fields);
        return say(204, fields);
    }

private:
    std::optional<Answer> check() {
        Upload *upload = reach(content.id);
        if (!upload) return say(world().serverRandom.of({404, 410}));
        if (auto refusal = lock(*upload)) {
            bool isOfThisStart = session.line->start == world().startNumber;
            bool isRight = content.position == (int64_t)upload->data.size();
            if (refusal->isLock && isRight && isOfThisStart) refusal->refusedRightOffset = content.position;
            if (refusal->refusedRightOffset >= 0) world().noteConflict(*upload, *session.line);
            return refusal;
        }
        if (content.position != (int64_t)upload->data.size()) {
            world().figures.count("wrong offsets (409)");
            return say(409);
        }
        if (upload->isComplete && head.contentLength == 0) return std::nullopt;
        if (auto refusal = declareLength(*upload)) return refusal;
        if (upload->length >= 0 && content.position + head.contentLength > upload->length) {
            world().fail("a PATCH beyond the upload's length");
            return say(413);
        }
        upload->writer = this;
        return std::nullopt;
    }

    std::optional<Answer> declareLength(Upload &upload) {
        auto stated = head.find("Upload-Length");
        if (!stated) return std::nullopt;
        auto length = number(*stated);
        if (!length || (upload.length >= 0 && upload.length != *length)) world().fail("another length than before");
        // tusd refuses it a second time, also the same one. What a dead process has sent may have told it in the meantime.
        if (!length || upload.length >= 0) return say(400);
        upload.length = *length;
        return std::nullopt;
    }

    std::optional<Answer> checkSum() {
        auto stated = head.find("Upload-Checksum");
        if (!stated) return std::nullopt;
        std::string text = *stated;
        std::string ours = text.rfind("sha256 ", 0) == 0 ? "sha256 " + base64(sha256Bytes(content.spool))
                                                          : "sha1 " + base64(sha1Bytes(content.spool));
        if (text == ours) return std::nullopt;
        release(false);
        Upload *upload = server().find(content.id);
        // A file can be rewritten after the checksum of a part was computed, and before the part is read to be sent.
        bool hasChanged = upload && upload->file >= 0 && world().files[(size_t)upload->file].versions.size() > 1;
        if (!hasChanged) world().fail("a checksum that is not that of the content: " + text);
        return say(460);
    }
};

class Terminate : public TusRequest {
public:
    using TusRequest::TusRequest;

    Answer end() override {
        if (auto refusal = refuseHead()) return *refusal;
        if (auto refusal = refuseVersion()) return *refusal;
        if (!traits().terminates) return say(501);
        Upload *upload = reach(head.target.substr(7));
        if (!upload) return say(404);
        if (auto refusal = lock(*upload)) return *refusal;
        server().remove(upload->id);
        world().figures.count("uploads terminated");
        return say(204);
    }
};

class NotTus : public TusRequest {
public:
    using TusRequest::TusRequest;
    Answer end() override {
        world().fail("a request that is not one of tus: " + head.method + " " + head.target);
        return say(405);
    }
};

}

std::unique_ptr<Request> makeTusRequest(Session &session, Head head) {
    std::string method = head.method;
    bool isUpload = head.target.size() > 7;
    auto overriding = head.find("X-HTTP-Method-Override");
    if (overriding) {
        bool isDue = session.world.scenario.overridesMethod || session.world.server.hasRefusedPatch;
        if (method != "POST" || !isDue) session.world.fail("a method that is overridden");
        method = *overriding;
    }
    if (method == "OPTIONS" && !isUpload) return std::make_unique<Options>(session, std::move(head));
    if (method == "POST" && !isUpload) return std::make_unique<Create>(session, std::move(head));
    if (method == "HEAD" && isUpload) return std::make_unique<Locate>(session, std::move(head));
    if (method == "PATCH" && isUpload) return std::make_unique<Patch>(session, std::move(head));
    if (method == "DELETE" && isUpload) return std::make_unique<Terminate>(session, std::move(head));
    return std::make_unique<NotTus>(session, std::move(head));
}

}
