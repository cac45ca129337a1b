// GigHive's catalogue: what takes a recording as a form, what makes one of a finished tus upload; and a plain endpoint.
#include "world.hpp"

namespace world {

// MARK: The catalogue

const Recording *Server::finalized(const std::string &uploadID) const {
    for (const Recording &recording : recordings) {
        if (!uploadID.empty() && recording.uploadID == uploadID) return &recording;
    }
    return nullptr;
}

Answer Server::receipt(const Recording &recording, bool withToken) const {
    std::string id = std::to_string(recording.asset);
    std::string body = "{\"id\":" + id + ",\"asset_id\":" + id + ",\"event_id\":1,\"file_name\":\"" + recording.sha256
        + ".mp4\",\"file_type\":\"video\",\"mime_type\":\"video\\/mp4\",\"size_bytes\":" + std::to_string(recording.content.size())
        + ",\"checksum_sha256\":\"" + recording.sha256 + "\",\"label\":\"\\u00e9\",\"duration_seconds\":3";
    if (withToken) body += ",\"delete_token\":\"" + recording.deleteToken + "\"";
    return {201, {{"Content-Type", "application/json"}}, body + "}", false, {}};
}

Answer Server::pending(const Recording &recording) const {
    std::string id = std::to_string(recording.asset);
    return {201, {{"Content-Type", "application/json"}}, "{\"status\":\"pending\",\"id\":" + id + ",\"asset_id\":" + id + "}", false, {}};
}

Answer Server::record(std::string content, const std::string &event, const std::string &uploadID) {
    bool isCorrupt = world.serverRandom.chance(world.faults().corrupts);
    if (isCorrupt) {
        world.figures.count("recordings corrupted by the server");
        if (world.serverRandom.chance(0.5)) {
            content[(size_t)world.serverRandom.below((int64_t)content.size())] ^= 4;
        } else {
            content.resize((size_t)world.serverRandom.below((int64_t)content.size()));
        }
    }
    std::string digest = sha256(content);
    for (Recording &known : recordings) {
        if (known.sha256 != digest) continue;
        if (known.event != event) return receipt(known, false);
        world.figures.count("duplicates (409)");
        Answer answer = error(409, "");
        answer.body = "{\"error\":\"Duplicate Upload\",\"message\":\"seen\",\"existing_asset_id\":" + std::to_string(known.asset)
            + ",\"checksum_sha256\":\"" + digest + "\"}";
        return answer;
    }
    Recording recording;
    recording.content = std::move(content);
    recording.sha256 = digest;
    recording.asset = nextAsset++;
    recording.event = event;
    recording.uploadID = uploadID;
    recording.isCorrupt = isCorrupt;
    recording.deleteToken = world.serverRandom.hex(64);
    recordings.push_back(recording);
    world.figures.count("recordings made");
    return receipt(recordings.back(), true);
}

namespace {

bool isDay(const std::string &text) {
    return text.size() == 10 && text[4] == '-' && text[7] == '-' && number(text.substr(0, 4)) && number(text.substr(5, 2))
        && number(text.substr(8, 2));
}

class GigHiveRequest : public Request {
public:
    using Request::Request;
    void take(std::string_view bytes) override { content += bytes; }

protected:
    World &world() { return session.world; }
    Server &server() { return session.world.server; }

    std::optional<Answer> refuseHead() { return server().refuseStranger(head); }

    /// The event that the fields name; nothing if they are no good.
    std::optional<std::string> event(const std::map<std::string, std::string> &fields) {
        auto value = [&](const char *name) {
            auto found = fields.find(name);
            return found == fields.end() ? std::string() : found->second;
        };
        bool isKnown = world().scenario.isWatched ? !value("label").empty() : value("label") == Scenario::label;
        if (!isKnown || !isDay(value("event_date")) || value("event_type") != "band") {
            world().fail("a form without its fields");
            return std::nullopt;
        }
        return value("event_date") + value("org_name");
    }

    std::string content;
};

class Finalize : public GigHiveRequest {
public:
    using GigHiveRequest::GigHiveRequest;

    std::optional<Answer> begin() override { return refuseHead(); }

    Answer end() override {
        if (head.method != "POST" || head.value("Content-Type") != "application/json") world().fail("a finalize call of another kind");
        std::map<std::string, std::string> fields;
        if (!parse(fields)) {
            world().fail("a finalize call that is no JSON: " + content);
            return server().error(400, "no JSON");
        }
        auto event = this->event(fields);
        std::string id = fields["upload_id"];
        if (const Recording *known = server().finalized(id)) world().noteLabel(known->content, fields["label"]);
        if (!event) return server().error(400, "Label is required");
        if (const Recording *known = server().finalized(id)) return server().receipt(*known, false);
        Upload *upload = server().find(id);
        if (server().taken.contains(id)) return server().error(500, "Upload data missing on disk");
        if (!upload) return server().error(world().serverRandom.of({400, 404, 500}), "Upload not found");
        if (!upload->isComplete || world().clock.now < upload->completedAt + server().traits.finalizeDelay) {
            world().figures.count("finalized too early");
            if (upload->isComplete && server().traits.saysPending) {
                return {201, {{"Content-Type", "application/json"}}, "{\"status\":\"pending\",\"upload_id\":\"" + id + "\"}", false, {}};
            }
            return server().error(500, "has not been written yet; retry in a moment");
        }
        if (server().traits.losesOneUpload && server().taken.empty()) {
            world().figures.count("uploads lost by GigHive's database");
            server().taken.insert(id);
            server().remove(id);
            return server().error(500, "SQLSTATE[HY000] [2002] Connection refused");
        }
        std::string whole = std::move(upload->data);
        server().remove(id);
        world().noteLabel(whole, fields["label"]);
        return server().record(std::move(whole), *event, id);
    }

private:
    /// One object of strings.
    bool parse(std::map<std::string, std::string> &fields) {
        size_t at = 0;
        auto text = [&](std::string &into) {
            if (at >= content.size() || content[at++] != '"') return false;
            while (at < content.size() && content[at] != '"') {
                if ((unsigned char)content[at] < ' ' || content[at] == '\\') return false;
                into += content[at++];
            }
            return at < content.size() && content[at++] == '"';
        };
        if (content.empty() || content[at++] != '{') return false;
        while (true) {
            std::string name, value;
            if (!text(name) || at >= content.size() || content[at++] != ':' || !text(value)) return false;
            if (!fields.emplace(name, value).second) return false;
            if (at >= content.size()) return false;
            if (content[at] == '}') return at + 1 == content.size();
            if (content[at++] != ',') return false;
        }
    }
};

class Deletion : public GigHiveRequest {
public:
    using GigHiveRequest::GigHiveRequest;

    std::optional<Answer> begin() override { return refuseHead(); }

    Answer end() override {
        if (head.method != "POST" || head.value("Content-Type") != "application/json") world().fail("a deletion of another kind");
        for (auto at = server().recordings.begin(); at != server().recordings.end(); ++at) {
            std::string id = std::to_string(at->asset);
            if (content != "{\"asset_id\":" + id + ",\"delete_token\":\"" + at->deleteToken + "\"}") continue;
            world().deleted.push_back(std::move(at->content));
            server().recordings.erase(at);
            world().figures.count("recordings deleted");
            return {200, {{"Content-Type", "application/json"}},
                    "{\"success\":true,\"deleted_count\":1,\"error_count\":0,\"results\":{\"deleted\":[{\"asset_id\":" + id + "}],\"errors\":[]}}",
                    false, {}};
        }
        // Also of one that it has just deleted.
        Answer answer = server().error(403, "");
        answer.body = "{\"success\":false,\"error\":\"Forbidden\",\"message\":\"Invalid delete token\"}";
        return answer;
    }
};

/// What the server has of a recording.
class Asset : public GigHiveRequest {
public:
    using GigHiveRequest::GigHiveRequest;

    std::optional<Answer> begin() override { return refuseHead(); }

    Answer end() override {
        if (head.target.rfind("/api/uploads/", 0) != 0) world().fail("a request to nowhere: GET " + head.target);
        for (Recording &recording : server().recordings) {
            if (head.target != "/api/uploads/" + std::to_string(recording.asset)) continue;
            world().figures.count("recordings asked about");
            Answer answer = world().clock.now < recording.readyAt ? server().pending(recording) : server().receipt(recording, false);
            answer.status = 200;
            return answer;
        }
        return server().error(404, "No such upload");
    }
};

/// Whether the server has a recording's file.
class Media : public GigHiveRequest {
public:
    using GigHiveRequest::GigHiveRequest;

    std::optional<Answer> begin() override { return refuseHead(); }

    Answer end() override {
        bool isFresh = head.value("Cache-Control") == "no-cache" && server().mediaQuestions.insert(head.target).second;
        if (head.method != "HEAD" || !isFresh) world().fail("a question about a file that a cache may answer: " + head.method + " " + head.target);
        for (Recording &recording : server().recordings) {
            if (head.target.rfind("/video/" + recording.sha256 + ".mp4?", 0) != 0 || !recording.hasFile) continue;
            world().figures.count("files asked about");
            return {200, {{"Content-Type", "video/mp4"}}, "", false, (int64_t)recording.content.size()};
        }
        world().figures.count("files asked about in vain");
        return {404, {{"Content-Type", "text/html"}}, "<html>Not Found</html>", false, {}};
    }
};

class Form : public GigHiveRequest {
public:
    using GigHiveRequest::GigHiveRequest;

    bool isForGigHive() {
        return world().scenario.destination == Destination::gigHive && head.target.rfind("/upload", 0) != 0;
    }

    std::optional<Answer> begin() override {
        if (auto refusal = refuseHead()) return refusal;
        std::string path = isForGigHive() ? "/api/uploads.php?ui=json" : "/upload?kind=plain";
        bool isOfTus = world().scenario.destination == Destination::tus && !world().scenario.hasOther;
        if (head.method != "POST" || head.target != path || isOfTus) {
            world().fail("a request to nowhere: " + head.method + " " + head.target);
            return server().error(404, "nothing here");
        }
        if (auto refusal = server().refuseLong(head)) return refusal;
        world().figures.count("forms begun");
        return std::nullopt;
    }

    Answer end() override {
        std::map<std::string, std::string> fields;
        std::string file;
        std::string wrong = parse(fields, file);
        if (!wrong.empty()) {
            world().fail("a form with " + wrong);
            return server().error(400, "no form");
        }
        if (isForGigHive()) {
            auto event = this->event(fields);
            if (!event) return server().error(400, "Label is required");
            world().noteLabel(file, fields["label"]);
            size_t before = server().recordings.size();
            Answer answer = server().record(std::move(file), *event, "");
            if (!server().traits.saysPending || !server().traits.finalizeDelay || server().recordings.size() == before) return answer;
            Recording &recording = server().recordings.back();
            recording.readyAt = world().clock.now + server().traits.finalizeDelay;
            return server().pending(recording);
        }
        world().noteForm(index, session.line->start);
        world().noteLabel(file, fields["label"]);
        Recording recording;
        recording.sha256 = sha256(file);
        recording.content = std::move(file);
        recording.file = index;
        recording.start = session.line->start;
        server().forms().push_back(std::move(recording));
        world().figures.count("forms stored");
        return {world().serverRandom.of({200, 201, 204}), {}, "", false, {}};
    }

private:
    /// Which of the recordings it is of, as the file's name says.
    int index = -1;

    /// - Returns: what is wrong with it; empty if nothing.
    std::string parse(std::map<std::string, std::string> &fields, std::string &file) {
        std::string type = head.value("Content-Type"), prefix = "multipart/form-data; boundary=";
        if (type.rfind(prefix, 0) != 0) return "another content type";
        std::string boundary = type.substr(prefix.size());
        if (boundary.empty() || boundary.size() > 70) return "a boundary of a forbidden length";
        std::string delimiter = "--" + boundary + "\r\n", last = "\r\n--" + boundary + "--\r\n";
        if (content.compare(0, delimiter.size(), delimiter)) return "no boundary in front";
        if (content.size() < last.size() || content.compare(content.size() - last.size(), last.size(), last)) return "no boundary behind";
        size_t at = delimiter.size();
        bool hasFile = false;
        while (true) {
            size_t headEnd = content.find("\r\n\r\n", at), end = content.find("\r\n--" + boundary, headEnd == content.npos ? at : headEnd);
            if (headEnd == content.npos || end == content.npos) return "a part without an end";
            std::string partHead = content.substr(at, headEnd - at);
            std::string value = content.substr(headEnd + 4, end - headEnd - 4);
            std::string start = "Content-Disposition: form-data; name=\"";
            if (partHead.rfind(start, 0) != 0) return "a part without a name";
            std::string rest = partHead.substr(start.size());
            std::string name = rest.substr(0, rest.find('"'));
            rest = rest.substr(std::min(rest.size(), name.size() + 1));
            if (rest.empty()) {
                if (!fields.emplace(name, value).second) return "a field twice";
            } else {
                if (hasFile || name != "file" || rest.rfind("; filename=\"", 0) != 0) return "an invalid file part";
                std::string fileName = rest.substr(12, rest.find('"', 12) - 12);
                if (rest.find("\r\nContent-Type: ") == rest.npos) return "a file without a type";
                index = world().fileOf(fileName);
                if (index < 0) return "a file of another name: " + fileName;
                hasFile = true;
                file = std::move(value);
            }
            if (end + last.size() == content.size()) break;
            if (content.compare(end + 2, delimiter.size(), delimiter)) return "a boundary followed by other text";
            at = end + 2 + delimiter.size();
        }
        return hasFile ? "" : "no file";
    }
};

}

std::unique_ptr<Request> makeFinalize(Session &session, Head head) { return std::make_unique<Finalize>(session, std::move(head)); }
std::unique_ptr<Request> makeDeletion(Session &session, Head head) { return std::make_unique<Deletion>(session, std::move(head)); }
std::unique_ptr<Request> makeAsset(Session &session, Head head) { return std::make_unique<Asset>(session, std::move(head)); }
std::unique_ptr<Request> makeMedia(Session &session, Head head) { return std::make_unique<Media>(session, std::move(head)); }
std::unique_ptr<Request> makeForm(Session &session, Head head) { return std::make_unique<Form>(session, std::move(head)); }

}
