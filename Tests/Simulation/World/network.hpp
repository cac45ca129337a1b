#pragma once
#include "clock.hpp"
#include "random.hpp"
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace world {

class Session;
class World;

/// A TCP connection: both ends of it and the line between them.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(World &world, int number, int start, bool isOfSecond)
        : world(world), number(number), start(start), isOfSecond(isOfSecond) {}

    World &world;
    const int number;
    /// The start of the program that made it.
    const int start;
    /// Whether it is the second process of that start.
    const bool isOfSecond;

    // MARK: The client's end

    bool isReadable() const { return !inbox.empty() || hasEnded || error || isBroken; }
    bool isWritable() const;
    bool hasFailed() const { return error || isBroken; }
    /// SO_ERROR; clears it.
    int takeError();
    /// Bytes taken, 0 if there is no room, or -errno.
    int64_t send(const char *bytes, size_t count, int64_t atMost);
    /// Bytes given, 0 at the end, or -errno.
    int64_t receive(char *space, size_t count);
    /// Whether the program has received everything that the server has sent so far.
    bool hasReadAll() const { return given == replied; }
    void close();
    /// The machine is gone, without notice.
    void vanish();
    int64_t unacknowledged = 0;
    Time userTimeout = 0;

    // MARK: The server's end

    void reply(std::string bytes);
    /// FIN: nothing more is said; what comes is answered by a reset.
    void finish();
    /// RST, at once.
    void abort();
    bool isServerOpen = false;
    /// Whether the client has given it up, whatever is still in flight.
    bool isAbandoned() const { return !isClientOpen; }
    std::shared_ptr<Session> session;

    // MARK: The line

    /// The SYN is in flight.
    void begin(bool isAnswered, bool isRefused);

private:
    void establish();
    /// The next data in flight to the server arrives, or is delayed again.
    void arriveUp();
    void takeUp(const std::string &bytes);
    void arriveDown(const std::string &bytes);
    void reset(int error);
    void resetBoth();
    /// The server's end resets it: behind what it has said.
    void resetInOrder();
    void sever();
    void noticeSilence();
    Time travel(Time &last, size_t count);
    void tellServer(bool orderly);

    bool isEstablished = false, isClientOpen = true, isBroken = false, hasEnded = false, isSevered = false;
    int error = 0;
    std::string inbox;
    /// A run of bytes, or the client's end of the connection.
    struct Segment {
        std::string bytes;
        bool isEnd = false, isOrderly = false;
    };
    /// Under way to the server, in the order in which it was sent: the one that arrives is always the first.
    std::deque<Segment> inFlight;
    Time lastUp = 0, lastDown = 0, lastAcknowledgement = 0;
    int64_t up = 0, down = 0;
    /// Bytes that the server has said, and that the program has got.
    int64_t replied = 0, given = 0;
    // What is to go wrong, in bytes of either direction; never if negative.
    int64_t resetsAtUp = -1, resetsAtDown = -1, seversAtUp = -1, seversAtDown = -1, stallsAtUp = -1;
    Time stalledUntil = 0;
};

}
