#pragma once
#include "clock.hpp"
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace world {

class Connection;
class Server;
class World;
class Session;

using Fields = std::vector<std::pair<std::string, std::string>>;

/// A request's head, taken by the letter of RFC 9112.
struct Head {
    std::string method, target;
    Fields fields;
    int64_t contentLength = 0;
    bool hasContentLength = false;

    const std::string *find(std::string_view name) const;
    std::string value(std::string_view name) const;
    /// - Returns: what is wrong with it; empty if nothing.
    std::string parse(std::string_view text);
};

/// Decimal digits and nothing else.
std::optional<int64_t> number(std::string_view text);
bool isToken(std::string_view text);

struct Answer {
    int status = 200;
    Fields fields;
    std::string body;
    bool closes = false;
    /// A Content-Length that announces no content, as the answer to HEAD has.
    std::optional<int64_t> statedLength;
    /// Whatever it looks like.
    bool isOfSomebodyElse = false;
    /// Whether another request has locked the upload.
    bool isLock = false;
    /// The right offset of a PATCH that this lock refuses.
    int64_t refusedRightOffset = -1;
};

/// What a request wants, and how far it is.
class Request {
public:
    explicit Request(Session &session, Head head) : session(session), head(std::move(head)) {}
    virtual ~Request() = default;
    /// Looks at the head. An answer refuses it.
    virtual std::optional<Answer> begin() { return std::nullopt; }
    /// Some of its content has come.
    virtual void take(std::string_view) {}
    /// All of it has come.
    virtual Answer end() = 0;
    /// The rest will not come.
    virtual void cut() {}

    Session &session;
    Head head;
};

/// What goes wrong with a request on the server's side.
struct Mishap {
    enum Kind { none, refused, droppedBefore, droppedAfter, failedAfter, hangs, crashesBefore, crashesAfter, portal, somebodyElse } kind = none;
    int status = 500;
    int64_t atByte = 0;
};

/// The server's end of a connection: requests one after the other.
class Session : public std::enable_shared_from_this<Session> {
public:
    Session(World &world, std::shared_ptr<Connection> line) : world(world), line(std::move(line)) {}

    void receive(std::string_view bytes);
    void peerClosed();
    void reset();
    /// The server process ends or throws the client out.
    void end(bool orderly);
    /// Another request has taken the upload over: answers the request whose content is still arriving, and closes.
    void interrupt(const Answer &given);

    World &world;
    std::shared_ptr<Connection> line;
    bool isOpen = true;

private:
    void work();
    bool beginRequest();
    bool takeContent();
    void answer(Answer answer);
    void send(const Answer &answer);
    void endRequest(bool closes);
    void closeSoon();
    void drop();
    void watch();
    std::string render(const Answer &given);
    void sayInterim();
    void limitTime();

    std::string buffer;
    std::unique_ptr<Request> request;
    Mishap mishap;
    int64_t left = 0, taken = 0;
    /// The answer is out, on its way or not to be given; the content is dropped.
    bool isDecided = false;
    bool isAnswered = false;
    /// Nothing more is read; the connection ends in a moment.
    bool isClosing = false;
    int count = 0;
    Time lastActivity = 0;
};

}
