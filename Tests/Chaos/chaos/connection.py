"""One connection of a client through the proxy, and the one to the server behind it.

One thread serves both directions, so that a cut takes effect at exactly the byte that was ordered.
"""

from __future__ import annotations

import math
import select
import socket
import struct
import time
import traceback
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Callable

from . import wire
from .conduct import (
    HALF_CLOSE, OVERLOAD, RESET, RESET_CLIENT, RESET_SERVER, SERVER_CUT, STALL, SWALLOW, Conduct, Interruption, Trouble,
    place_of,
)  # fmt: skip
from .wire import Exchange, Segment

if TYPE_CHECKING:
    from .proxy import Proxy

SOCKET_BUFFER_BYTES = 256 << 10
"""What the kernel may hold at each of the proxy's sockets: as little as a fast transfer can do with."""

LINGER_SECONDS = 0.5
"""How long what a client still sends is taken after a FIN."""

MOST_SWALLOWED_BYTES = 1 << 20
"""What the buffers of something between may hold and lose. Without a limit it would lose more than a line can."""

SHORTEST_WAIT_SECONDS = 0.004
"""A limited rate is kept on average. Shorter waits than this are skipped."""

OVERLOADED_FROM = 0.75
"""In times of what the client bears."""

CRUMBS_WITH_PAUSE = 40
WAITED_SECONDS = 0.001
READABLE = select.POLLIN | select.POLLHUP | select.POLLERR
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Ended(Exception):
    """The connection is over."""


class Direction:
    """From one socket to the other: at most one block that was taken and not yet passed on."""

    def __init__(self, name: str, parse: Callable[[bytes], list[Segment]]):
        self.name = name
        self.parse = parse
        self.block = memoryview(b"")
        self.stops: list[tuple[int, Callable[[], None]]] = []
        """Positions in the block where something is to happen once the bytes before have passed."""
        self.passed = 0
        self.has_ended = self.is_closed = False
        """Whether the source has ended, and whether that was passed on."""
        self.crumbs = 0
        self.is_swallowing = False

    @property
    def room(self) -> bool:
        return not self.block and not self.stops and not self.has_ended


class Connection:
    def __init__(self, proxy: Proxy, number: int, client: socket.socket, conduct: Conduct):
        self._proxy, self._number, self._client, self._conduct = proxy, number, client, conduct
        self._server: socket.socket | None = None
        self._unanswered: deque[Exchange] = deque()
        self._requests = wire.Requests(number, self._unanswered)
        self._upward = Direction("client", self._parse_requests)
        self._downward = Direction("server", wire.Answers(self._unanswered).feed)
        self._taken = 0
        self._trouble: Trouble | None = conduct.trouble
        self._was_cut = False
        self._lost = 0
        """Bytes of the client that were taken and thrown away."""
        self._blocked_since = time.monotonic()
        self._idle_cut: Interruption | None = None
        """The trouble that struck, if no request was in progress."""
        self._due = 0.0
        """When the rate allows the next block."""

    def run(self) -> None:
        proxy = self._proxy
        proxy.say(f"#{self._number} comes; {self._conduct}")
        try:
            self._pause(self._conduct.accept_delay)
            self._connect()
            while not (self._upward.is_closed and self._downward.is_closed):
                self._step()
        except Ended:
            pass
        except wire.NotHTTP as problem:
            proxy.problems.append(f"connection {self._number}: {problem}")
        except Exception:
            proxy.problems.append(traceback.format_exc())
        finally:
            for sock in (self._client, self._server):
                if sock:
                    sock.close()
            proxy.say(f"#{self._number} is over")

    def _connect(self) -> None:
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
        try:
            server.connect(("127.0.0.1", self._proxy.upstream_port))
        except OSError:
            server.close()
            self._proxy.refusals.append(time.monotonic())
            self._proxy.say(f"#{self._number} the server is down")
            self._end(self._client, reset=True)
            raise Ended from None
        self._server = server
        for sock in (self._client, server):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setblocking(False)

    # One turn: wait, take, pass on.

    def _step(self) -> None:
        client, server, up, down = self._client, self._server, self._upward, self._downward
        wanted = {client: 0, server: 0}
        wait = 0.1
        if up.room:
            until_due = self._due - time.monotonic()
            if until_due <= SHORTEST_WAIT_SECONDS:
                wanted[client] |= select.POLLIN
            else:
                wait = min(wait, until_due)
        if down.room:
            wanted[server] |= select.POLLIN
        if up.block:
            wanted[server] |= select.POLLOUT
        if down.block:
            wanted[client] |= select.POLLOUT
        poll = select.poll()
        for sock, events in wanted.items():
            # Without an event that is wanted a hang-up would wake us again and again.
            if events:
                poll.register(sock, events)
        began = time.monotonic()
        ready = dict(poll.poll(math.ceil(wait * 1000)))
        now = time.monotonic()
        if wanted[client] & select.POLLIN and (client.fileno() not in ready or now - began > WAITED_SECONDS):
            self._requests.drained_at = now
        self._notice_overload(now)
        if self._proxy.stopping.is_set():
            raise Ended
        if up.room and ready.get(client.fileno(), 0) & READABLE and wanted[client] & select.POLLIN:
            self._take(up, client)
        if down.room and ready.get(server.fileno(), 0) & READABLE and wanted[server] & select.POLLIN:
            self._take(down, server)
        self._pass_on(up, server)
        self._pass_on(down, client)

    def _notice_overload(self, now: float) -> None:
        """A server that takes nothing for long, or a machine that gives this thread no time, stalls the client, too."""
        if not self._upward.block:
            self._blocked_since = now
        elif now - self._blocked_since > OVERLOADED_FROM * self._proxy.stall_counts_from:
            self._proxy.say(f"#{self._number} the server has taken nothing for {now - self._blocked_since:.1f} s")
            self._proxy.interrupted(Interruption(now, OVERLOAD, self._number))
            self._blocked_since = now

    def _take(self, direction: Direction, source: socket.socket) -> None:
        try:
            block = source.recv(self._conduct.block_bytes)
        except BlockingIOError:
            return
        except OSError:
            self._broke(direction, "reset")
            return
        if not block:
            self._broke(direction, "closed")
            return
        before = 0
        if direction is self._upward:
            before = self._proxy.took(len(block))
            if self._conduct.bytes_per_second:
                self._due = max(self._due, time.monotonic()) + len(block) / self._conduct.bytes_per_second
        segments = direction.parse(block)
        stops = self._proxy.orders_within(segments, before)
        if self._trouble and (at := place_of(self._trouble.point, segments, self._taken)) is not None:
            trouble, self._trouble = self._trouble, None
            is_in_answer = direction is self._downward and at < len(block)
            stops.append((at, lambda: self._strike(trouble, is_in_answer or self._is_open)))
        if direction is self._upward:
            self._taken += len(block)
        if any(segment.begins_message for segment in segments):
            self._pause(self._conduct.latency)
            direction.crumbs = self._conduct.crumbs
        direction.stops = sorted(stops, key=lambda stop: stop[0])
        direction.block = memoryview(block)
        direction.passed = 0

    def _parse_requests(self, block: bytes) -> list[Segment]:
        known = len(self._requests.all)
        segments = self._requests.feed(block)
        for exchange in self._requests.all[known:]:
            self._proxy.began_exchange(exchange)
        if len(self._requests.all) > known:
            self._came_too_late()
        return segments

    def _pass_on(self, direction: Direction, target: socket.socket) -> None:
        while direction.block or direction.stops:
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
            if direction is self._upward:
                self._blocked_since = time.monotonic()
            if direction.crumbs > 0:
                direction.crumbs -= count
                # So that the first ones are surely read one by one; on a busy machine each pause can take long.
                if direction.passed < CRUMBS_WITH_PAUSE:
                    self._pause(0.0002)
        if direction.has_ended and not direction.is_closed:
            direction.is_closed = True
            try:
                target.shutdown(socket.SHUT_WR)
            except OSError:
                pass

    # Ends.

    @property
    def _is_open(self) -> bool:
        """Whether a response is being waited for, or soon will be."""
        return bool(self._unanswered) or self._requests.is_in_head

    def _broke(self, direction: Direction, how: str) -> None:
        """A side has ended its direction by itself."""
        is_open, proxy = self._is_open, self._proxy
        proxy.say(f"#{self._number} the {direction.name} {how}{' in the middle of a request' if is_open else ''}")
        if direction is self._downward and is_open and not self._upward.has_ended:
            self._server_interrupts()
        direction.has_ended = True
        if how == "reset":
            other = self._server if direction is self._upward else self._client
            self._end(other, reset=True)
            raise Ended

    def _came_too_late(self) -> None:
        """A request has come: if the connection was ended before, the client could not know, and it costs after all."""
        if self._idle_cut is not None:
            self._proxy.interrupted(replace(self._idle_cut, is_open=True), instead_of=self._idle_cut)
            self._idle_cut = None
        elif self._downward.has_ended:
            self._server_interrupts()

    def _server_interrupts(self) -> None:
        """Once a connection is enough."""
        if not self._was_cut:
            self._was_cut = True
            self._proxy.interrupted(Interruption(time.monotonic(), SERVER_CUT, self._number))

    def _strike(self, trouble: Trouble, is_open: bool) -> None:
        proxy = self._proxy
        proxy.say(f"#{self._number} {trouble}{'' if is_open else ', between two requests'}")
        if trouble.what != STALL or trouble.seconds >= proxy.stall_counts_from:
            interruption = Interruption(time.monotonic(), trouble.what, self._number, is_open)
            proxy.interrupted(interruption)
            self._idle_cut = None if is_open else interruption
        if trouble.what == STALL:
            self._pause(trouble.seconds)
            self._blocked_since = time.monotonic()
            return
        self._was_cut = True
        if trouble.what == SWALLOW:
            self._swallow(trouble.seconds)
            self._cut(True, True)
        elif trouble.what == HALF_CLOSE:
            self._upward.is_swallowing = True
            self._upward.block, self._upward.stops = memoryview(b""), []
            self._server.shutdown(socket.SHUT_WR)
            self._finish_answers()
        else:
            self._cut(trouble.what in (RESET, RESET_CLIENT), trouble.what in (RESET, RESET_SERVER))

    def _cut(self, reset_client: bool, reset_server: bool) -> None:
        for sock, reset in ((self._server, reset_server), (self._client, reset_client)):
            self._end(sock, reset)
        if not reset_client:
            self._swallow(LINGER_SECONDS)
        raise Ended

    def _end(self, sock: socket.socket, reset: bool) -> None:
        """RST, or FIN. With bytes unread a close would send RST, so a FIN leaves the socket open for reading."""
        try:
            if reset:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                sock.close()
            else:
                sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _swallow(self, seconds: float) -> None:
        """Takes what the client sends, up to the limit, counts it, and throws it away, until it ends or the time is over."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._proxy.stopping.is_set():
            if self._lost >= MOST_SWALLOWED_BYTES:
                self._pause(left)
            elif self._poll(self._client, min(left, 0.1)) and not self._discard():
                return

    def _finish_answers(self) -> None:
        """Passes the server's answers to its end, while the client's bytes are thrown away."""
        deadline = time.monotonic() + 10 * LINGER_SECONDS
        down = self._downward
        while time.monotonic() < deadline and not self._proxy.stopping.is_set():
            if self._lost < MOST_SWALLOWED_BYTES and self._poll(self._client, 0.0) and not self._discard():
                break
            if self._poll(self._server, 0.005):
                self._take(down, self._server)
                while down.block:
                    self._pass_on(down, self._client)
                if down.has_ended:
                    self._pass_on(down, self._client)
                    self._swallow(LINGER_SECONDS)
                    break
        raise Ended

    def _discard(self) -> bool:
        try:
            block = self._client.recv(self._conduct.block_bytes)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if block:
            self._lost += len(block)
            self._proxy.took(len(block))
            self._parse_requests(block)
        return bool(block)

    def _poll(self, sock: socket.socket, seconds: float) -> bool:
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _pause(self, seconds: float) -> None:
        if seconds > 0 and self._proxy.stopping.wait(seconds):
            raise Ended
