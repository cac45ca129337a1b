"""A TCP line between clients and a server: it delays, holds up, cuts and counts as ordered, and never changes a byte.

One thread serves both directions of a connection and holds at most one block of each, so that a cut takes effect at exactly the
byte that was ordered, and so that little is lost.
"""

from __future__ import annotations

import math
import select
import socket
import struct
import threading
import time
import traceback
from collections import deque
from dataclasses import dataclass, replace
from typing import Callable

from wire import Answers, Exchange, NotHTTP, Requests, Segment

RESET, CLOSE, RESET_CLIENT, RESET_SERVER, HALF_CLOSE = "reset", "close", "reset-client", "reset-server", "half-close"
SWALLOW, STALL, HOLD = "swallow", "stall", "hold"
SERVER_CUT, OVERLOAD, OUTAGE = "server", "overload", "outage"
"""What else interrupts: the server ends a connection; it takes nothing for so long that the client may give up; `cut`."""
TROUBLES = {
    RESET: "RST to both sides; what was not passed on is gone",
    CLOSE: "FIN to both sides",
    RESET_CLIENT: "FIN to the server; RST to the client, once the server has ended its side or the time is over",
    RESET_SERVER: "FIN to the client, RST to the server",
    HALF_CLOSE: "FIN to the server, whose answer still passes; what the client sends is thrown away",
    SWALLOW: "takes up to a MiB of what the client sends and passes nothing on, then RST to both sides",
    STALL: "accepts and forwards nothing for a time, then continues",
    HOLD: "takes nothing of the client any more, until `drop`; what the server says still passes",
}

SOCKET_BUFFER_BYTES = 256 << 10
"""What the kernel may hold at each of the line's sockets: as little as a fast transfer can do with. What a kernel acknowledges
and loses counts as sent again."""
LINGER_SECONDS = 0.5
"""How long what a client still sends is taken after a FIN."""
MOST_SWALLOWED_BYTES = 1 << 20
"""What the buffers of something between may hold and lose. Without a limit it would lose more than a line can."""
SHORTEST_WAIT_SECONDS = 0.004
"""A limited rate is kept on average. Shorter waits than this are skipped."""
OVERLOADED_FROM = 0.75
"""In times of what the client bears."""
CRUMBS_WITH_PAUSE = 40
READABLE = select.POLLIN | select.POLLHUP | select.POLLERR
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Point:
    """A place in the bytes of a connection (or of the line: see Line.when)."""

    count: int | None
    """How many bytes of what is named below have passed; None: all of them."""
    kind: str | None = None
    """A kind of request (wire.KINDS): counted in the first such request's body. None: all bytes of the client."""
    is_answer: bool = False
    """Counted in the answer to such a request instead."""

    def place(self, length: int, before: int | None, segments: list[Segment]) -> int | None:
        """Where in a block this point lies. `before`: the client's bytes before the block; None: the block is the server's."""
        if self.kind is None:
            is_here = before is not None and (self.count or 0) - before <= length
            return max((self.count or 0) - before, 0) if is_here else None
        return next((place for segment in segments if (place := self._place_in(segment)) is not None), None)

    def _place_in(self, segment: Segment) -> int | None:
        if segment.exchange is None or segment.exchange.kind != self.kind or segment.is_answer != self.is_answer:
            return None
        if self.count is None:
            return segment.end if segment.ends_message else None
        if segment.first < 0:
            return segment.end if self.count == 0 and segment.ends_head else None
        place = segment.start + self.count - segment.first
        return place if segment.start <= place <= segment.end else None

    def __str__(self) -> str:
        count = "all" if self.count is None else self.count
        of = "the client's bytes" if self.kind is None else f"the {'answer' if self.is_answer else 'body'} of {self.kind}"
        return f"after {count} of {of}"


@dataclass(frozen=True)
class Trouble:
    what: str
    point: Point
    seconds: float = 0.0
    """How long a stall, a swallowing or the wait of a reset lasts."""

    def __str__(self) -> str:
        return f"{self.what} {self.point}" + (f" for {self.seconds:.1f} s" if self.seconds else "")


@dataclass(frozen=True)
class Conduct:
    """How a connection is treated."""

    accept_delay: float = 0.0
    """Seconds between a connection's coming and the first byte that is taken from it."""
    latency: float = 0.0
    """Seconds that a side's first bytes are held back after the other one has spoken."""
    bytes_per_second: float | None = None
    block_bytes: int = 64 << 10
    """The most that is taken, and so held, at a time."""
    crumbs: int = 0
    """So many of those first bytes pass one, two or three at a time."""
    trouble: Trouble | None = None


@dataclass(frozen=True)
class Interruption:
    """Something that ended a connection, or held it up, without the client's doing."""

    time: float
    what: str
    connection: int | None = None
    is_open: bool = True
    """Whether a request was in flight. Without one there is nothing to send again."""


@dataclass(eq=False)
class Order:
    """Is carried out once, as soon as the bytes up to its point have passed in whichever connection."""

    point: Point
    action: Callable[[Connection], None]
    is_done: bool = False


class Line:
    """Listens on a free port of 127.0.0.1 and passes everything on to `server_port`, which may change.

    `conduct(number)` says how the connection with that number, from 0, is treated. A stall of `stall_counts_from` seconds or
    longer is an interruption: the client is to give up before. With `reads_http`, points may name requests.
    """

    def __init__(
        self,
        server_port: int,
        conduct: Callable[[int], Conduct] = lambda number: Conduct(),
        reads_http: bool = False,
        stall_counts_from: float = math.inf,
        log: Callable[[str], None] = lambda line: None,
    ):
        self.server_port, self.conduct, self.reads_http = server_port, conduct, reads_http
        self.stall_counts_from = stall_counts_from
        self.stopping = threading.Event()
        self.exchanges: list[Exchange] = []
        self.interruptions: list[Interruption] = []
        self.refusals: list[float] = []
        """When a connection could not be passed on."""
        self.problems: list[str] = []
        """Bytes that were no HTTP, and the line's own mistakes."""
        self.connections = 0
        self.taken = self.passed = 0
        """What clients have sent, and what of it was passed on, in bytes."""
        self.is_down = False
        self._log, self._began = log, time.monotonic()
        self._lock = threading.Lock()
        self._orders: list[Order] = []
        self._open: dict[Connection, threading.Thread] = {}
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Line:
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def __exit__(self, *_) -> None:
        """Ends every connection. Afterwards nothing counts any more."""
        self.stopping.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        for thread in self._open_now().values():
            thread.join()

    def when(self, point: Point, action: Callable[[], None]) -> Order:
        return self._order(point, lambda connection: action())

    def strike(self, trouble: Trouble) -> Order:
        """Once, the connection that comes to the trouble's point."""
        return self._order(trouble.point, lambda connection: connection.strike(trouble, is_open=True))

    def take_back(self, order: Order) -> None:
        with self._lock:
            if order in self._orders:
                self._orders.remove(order)

    def drop(self) -> None:
        """Ends the connections that are held."""
        for connection in self._open_now():
            connection.is_dropped |= connection.is_held

    def cut(self) -> None:
        """Nothing gets through until `is_down` is False again; what is open is reset."""
        self.is_down = True
        for connection in self._open_now():
            connection.is_cut = True

    def interrupted(self, interruption: Interruption, instead_of: Interruption | None = None) -> None:
        with self._lock:
            if instead_of in self.interruptions:
                self.interruptions.remove(instead_of)
            self.interruptions.append(interruption)

    def interrupted_all(self, what: str) -> None:
        """Something ends the client of each connection."""
        for connection in self._open_now():
            connection.interrupt(what, connection.is_open)

    def say(self, line: str) -> None:
        self._log(f"{time.monotonic() - self._began:7.3f}  {line}")

    def receive(self, client: socket.socket, most: int) -> bytes:
        return client.recv(most)

    def _order(self, point: Point, action: Callable[[Connection], None]) -> Order:
        """Bytes without a kind are counted from now."""
        order = Order(Point(self.taken + (point.count or 0)) if point.kind is None else point, action)
        with self._lock:
            self._orders.append(order)
        return order

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            connection = Connection(self, self.connections, client, self.conduct(self.connections))
            self.connections += 1
            thread = threading.Thread(target=connection.run, daemon=True)
            with self._lock:
                self._open[connection] = thread
            thread.start()

    def _open_now(self) -> dict[Connection, threading.Thread]:
        with self._lock:
            return dict(self._open)

    # For connections.

    def orders_within(self, length: int, before: int | None, segments: list[Segment]) -> list[tuple[int, Order]]:
        """Orders whose point is in the block, with their places. They are removed from the list."""
        with self._lock:
            found = [(at, order) for order in self._orders if (at := order.point.place(length, before, segments)) is not None]
            for _, order in found:
                self._orders.remove(order)
        return found

    def took(self, count: int) -> int:
        """Returns how many bytes had been taken before."""
        with self._lock:
            self.taken += count
            return self.taken - count

    def passed_on(self, count: int) -> None:
        with self._lock:
            self.passed += count

    def ended(self, connection: Connection) -> None:
        with self._lock:
            del self._open[connection]


class Ended(Exception):
    """The connection is over."""


class Direction:
    """From one socket to the other: at most one block that was taken and not yet passed on."""

    def __init__(self, name: str, parse: Callable[[bytes], list[Segment]]):
        self.name, self.parse = name, parse
        self.block = memoryview(b"")
        self.stops: list[tuple[int, Callable[[], None]]] = []
        """Places in the block where something is to happen once the bytes before have passed."""
        self.passed = self.crumbs = 0
        self.has_ended = self.is_closed = False
        """Whether the source has ended, and whether that was passed on."""
        self.is_swallowing = False

    @property
    def room(self) -> bool:
        return not self.block and not self.stops and not self.has_ended


class Connection:
    """Of a client through the line, and the one to the server behind it."""

    def __init__(self, line: Line, number: int, client: socket.socket, conduct: Conduct):
        self.number = number
        self.is_held = self.is_dropped = self.is_cut = False
        self._line, self._client, self._conduct = line, client, conduct
        self._server: socket.socket | None = None
        self._unanswered: deque[Exchange] = deque()
        self._requests = Requests(number, self._unanswered)
        answers = Answers(self._unanswered)
        self._up = Direction("client", self._parse_requests if line.reads_http else lambda block: [])
        self._down = Direction("server", answers.feed if line.reads_http else lambda block: [])
        self._speaker: Direction | None = None
        self._taken = 0
        self._trouble = conduct.trouble
        self._was_cut = False
        self._lost = 0
        """Bytes of the client that were taken and thrown away."""
        self._blocked_since = time.monotonic()
        self._idle_cut: Interruption | None = None
        """The trouble that struck, if no request was in progress."""
        self._due = 0.0
        """When the rate allows the next block."""

    def run(self) -> None:
        line = self._line
        line.say(f"#{self.number} comes; {self._conduct}")
        try:
            self._pause(self._conduct.accept_delay)
            self._connect()
            while not (self._up.is_closed and self._down.is_closed):
                self._step()
        except Ended:
            pass
        except NotHTTP as problem:
            line.problems.append(f"connection {self.number}: {problem}")
        except Exception:
            line.problems.append(traceback.format_exc())
        finally:
            for side in (self._client, self._server):
                if side:
                    side.close()
            line.say(f"#{self.number} is over")
            line.ended(self)

    def _connect(self) -> None:
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
        try:
            if self._line.is_down:
                raise ConnectionRefusedError
            server.connect(("127.0.0.1", self._line.server_port))
        except OSError:
            server.close()
            self._line.refusals.append(time.monotonic())
            self._line.say(f"#{self.number} finds no server")
            self._end(self._client, resets=True)
            raise Ended from None
        self._server = server
        for side in (self._client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            side.setblocking(False)

    # One turn: wait, take, pass on.

    def _step(self) -> None:
        client, server, up, down = self._client, self._server, self._up, self._down
        wanted = {client: 0, server: 0}
        wait = 0.1
        if up.room and not self.is_held and self._lost < MOST_SWALLOWED_BYTES:
            until_due = self._due - time.monotonic()
            if until_due <= SHORTEST_WAIT_SECONDS:
                wanted[client] |= select.POLLIN
            else:
                wait = min(wait, until_due)
        if down.room:
            wanted[server] |= select.POLLIN
        if up.block and not self.is_held:
            wanted[server] |= select.POLLOUT
        if down.block:
            wanted[client] |= select.POLLOUT
        poll = select.poll()
        for side, events in wanted.items():
            # Without an event that is wanted a hang-up would wake us again and again.
            if events:
                poll.register(side, events)
        began = time.monotonic()
        ready = dict(poll.poll(math.ceil(wait * 1000)))
        now = time.monotonic()
        if wanted[client] & select.POLLIN and (client.fileno() not in ready or now - began > 0.001):
            self._requests.drained_at = now
        self._notice_overload(now)
        if self._line.stopping.is_set() or self.is_dropped:
            raise Ended
        if self.is_cut:
            self.strike(Trouble(OUTAGE, Point(None)), self.is_open)
        if wanted[client] & select.POLLIN and ready.get(client.fileno(), 0) & READABLE:
            self._take(up, client)
        if wanted[server] & select.POLLIN and ready.get(server.fileno(), 0) & READABLE:
            self._take(down, server)
        self._pass_on(up, server)
        self._pass_on(down, client)

    def _notice_overload(self, now: float) -> None:
        """A server that takes nothing for long, or a machine that gives this thread no time, stalls the client, too."""
        if not self._up.block or self.is_held:
            self._blocked_since = now
        elif now - self._blocked_since > OVERLOADED_FROM * self._line.stall_counts_from:
            self._line.say(f"#{self.number} the server has taken nothing for {now - self._blocked_since:.1f} s")
            self._line.interrupted(Interruption(now, OVERLOAD, self.number))
            self._blocked_since = now

    def _take(self, direction: Direction, source: socket.socket) -> None:
        try:
            most = self._conduct.block_bytes
            block = self._line.receive(source, most) if direction is self._up else source.recv(most)
        except BlockingIOError:
            return
        except OSError:
            return self._broke(direction, "reset")
        if not block:
            return self._broke(direction, "closed")
        segments, before, taken = direction.parse(block), None, None
        if direction is self._up:
            before, taken = self._line.took(len(block)), self._taken
            self._taken += len(block)
            if self._conduct.bytes_per_second:
                self._due = max(self._due, time.monotonic()) + len(block) / self._conduct.bytes_per_second
        stops = [
            (at, lambda order=order: self._carry_out(order))
            for at, order in self._line.orders_within(len(block), before, segments)
        ]
        if self._trouble and (at := self._trouble.point.place(len(block), taken, segments)) is not None:
            trouble, self._trouble = self._trouble, None
            is_in_answer = direction is self._down and at < len(block)
            stops.append((at, lambda: self.strike(trouble, is_in_answer or self.is_open)))
        if self._speaker is not direction:
            self._speaker = direction
            self._pause(self._conduct.latency)
            direction.crumbs = self._conduct.crumbs
        direction.stops = sorted(stops, key=lambda stop: stop[0])
        direction.block, direction.passed = memoryview(block), 0

    def _carry_out(self, order: Order) -> None:
        order.is_done = True
        order.action(self)

    def _parse_requests(self, block: bytes) -> list[Segment]:
        known = len(self._requests.all)
        segments = self._requests.feed(block)
        if len(self._requests.all) > known:
            self._line.exchanges.extend(self._requests.all[known:])
            self._came_too_late()
        return segments

    def _pass_on(self, direction: Direction, target: socket.socket) -> None:
        is_up = direction is self._up
        while (direction.block or direction.stops) and not (is_up and self.is_held):
            if direction.stops and direction.stops[0][0] <= direction.passed:
                direction.stops.pop(0)[1]()
                continue
            piece = direction.block[: direction.stops[0][0] - direction.passed] if direction.stops else direction.block
            if direction.crumbs > 0 and not direction.is_swallowing:
                piece = piece[: 1 + direction.passed % 3]
            try:
                count = len(piece) if direction.is_swallowing else target.send(piece)
            except BlockingIOError:
                return
            except OSError:
                # Nobody is there any more. The other direction tells how it ended; until then nothing is kept here.
                direction.is_swallowing = True
                continue
            direction.block = direction.block[count:]
            direction.passed += count
            if is_up and direction.is_swallowing:
                self._lost += count
            elif is_up:
                self._blocked_since = time.monotonic()
                self._line.passed_on(count)
            if direction.crumbs > 0:
                direction.crumbs -= count
                # So that the first ones are surely read one by one; on a busy machine each pause can take long.
                if direction.passed < CRUMBS_WITH_PAUSE:
                    self._pause(0.0002)
        if direction.has_ended and not direction.block and not direction.is_closed:
            direction.is_closed = True
            self._end(target, resets=False)

    # Ends.

    @property
    def is_open(self) -> bool:
        """Whether a response is being waited for, or soon will be."""
        return bool(self._unanswered) or self._requests.is_in_head or not self._line.reads_http

    def _broke(self, direction: Direction, how: str) -> None:
        """A side has ended its direction by itself."""
        is_open = self.is_open
        self._line.say(f"#{self.number} the {direction.name} {how}{' in the middle of a request' if is_open else ''}")
        if direction is self._down and is_open and not self._up.has_ended:
            self._server_interrupts()
        direction.has_ended = True
        if how == "reset":
            self._end(self._server if direction is self._up else self._client, resets=True)
            raise Ended

    def _came_too_late(self) -> None:
        """A request has come: if the connection was ended before, the client could not know, and it costs after all."""
        if self._idle_cut is not None:
            self._line.interrupted(replace(self._idle_cut, is_open=True), instead_of=self._idle_cut)
            self._idle_cut = None
        elif self._down.has_ended:
            self._server_interrupts()

    def _server_interrupts(self) -> None:
        """Once a connection is enough."""
        if not self._was_cut:
            self._was_cut = True
            self._line.interrupted(Interruption(time.monotonic(), SERVER_CUT, self.number))

    def interrupt(self, what: str, is_open: bool) -> None:
        interruption = Interruption(time.monotonic(), what, self.number, is_open)
        self._line.interrupted(interruption)
        self._idle_cut = None if is_open else interruption

    def strike(self, trouble: Trouble, is_open: bool) -> None:
        line, what = self._line, trouble.what
        line.say(f"#{self.number} {trouble}{'' if is_open else ', between two requests'}")
        if what != STALL or trouble.seconds >= line.stall_counts_from:
            self.interrupt(what, is_open)
        if what == STALL:
            self._pause(trouble.seconds)
            self._blocked_since = time.monotonic()
            return
        if what == HOLD:
            self.is_held = True
            return
        self._was_cut = True
        if what == HALF_CLOSE:
            self._up.is_swallowing, self._up.block, self._up.stops = True, memoryview(b""), []
            self._end(self._server, resets=False)
            return
        if what == SWALLOW:
            self._swallow(trouble.seconds)
        # The other end first, so that the server knows of the end before the client comes back.
        self._end(self._server, resets=what not in (CLOSE, RESET_CLIENT))
        if what == RESET_CLIENT:
            self._await_end(self._server, trouble.seconds)
        self._end(self._client, resets=what not in (CLOSE, RESET_SERVER))
        if what in (CLOSE, RESET_SERVER):
            self._swallow(LINGER_SECONDS)
        raise Ended

    def _end(self, side: socket.socket, resets: bool) -> None:
        """RST, or FIN. With bytes unread a close would send RST, so a FIN leaves the socket open for reading."""
        try:
            if resets:
                side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                side.close()
            else:
                side.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _await_end(self, side: socket.socket, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        try:
            while (left := deadline - time.monotonic()) > 0 and not self._line.stopping.is_set():
                if _is_readable(side, min(left, 0.1)) and not side.recv(self._conduct.block_bytes):
                    return
        except OSError:
            pass

    def _swallow(self, seconds: float) -> None:
        """Takes what the client sends, up to the limit, counts it, and throws it away, until it ends or the time is over."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._line.stopping.is_set():
            if self._lost >= MOST_SWALLOWED_BYTES:
                self._pause(left)
            elif _is_readable(self._client, min(left, 0.1)) and not self._discard():
                return

    def _discard(self) -> bool:
        try:
            block = self._client.recv(self._conduct.block_bytes)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if block:
            self._lost += len(block)
            self._line.took(len(block))
            self._up.parse(block)
        return bool(block)

    def _pause(self, seconds: float) -> None:
        if seconds > 0 and self._line.stopping.wait(seconds):
            raise Ended


def _is_readable(side: socket.socket, seconds: float) -> bool:
    poll = select.poll()
    poll.register(side, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
