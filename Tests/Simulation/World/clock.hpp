#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace world {

/// Microseconds since the scenario began.
using Time = int64_t;
constexpr Time millisecond = 1000, second = 1000 * millisecond, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

/// Time and its events. It passes only in calls to the simulated machine.
class Clock {
public:
    Time now = 0;

    void at(Time when, std::function<void()> event) {
        events.push({when < now ? now : when, order++, std::move(event)});
    }

    void after(Time delay, std::function<void()> event) { at(now + delay, std::move(event)); }

    /// When something happens next; never if nothing will.
    Time next() const { return events.empty() ? never : events.top().when; }

    /// Lets time pass, and what happens in it happen.
    void advance(Time until) {
        if (isAdvancing) {
            // An event that takes time itself; events due in the meantime come after it.
            if (until > now) now = until;
            return;
        }
        isAdvancing = true;
        while (!events.empty() && events.top().when <= until) {
            Event event = std::move(const_cast<Event &>(events.top()));
            events.pop();
            if (event.when > now) now = event.when;
            event.run();
        }
        if (until > now) now = until;
        isAdvancing = false;
    }

    /// Forgets what has not happened yet.
    void clear() {
        while (!events.empty()) {
            Event event = std::move(const_cast<Event &>(events.top()));
            events.pop();
        }
    }

    static constexpr Time never = INT64_MAX;

private:
    struct Event {
        Time when;
        uint64_t order;
        std::function<void()> run;
        bool operator<(const Event &other) const {
            return when != other.when ? when > other.when : order > other.order;
        }
    };

    std::priority_queue<Event> events;
    uint64_t order = 0;
    bool isAdvancing = false;
};

}
