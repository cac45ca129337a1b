"""A long line, in user space: a fixed round trip, a fixed rate, and nothing else.

What it models: bytes leave one after the other at the line's rate, which all connections share, and arrive half a round
trip later; so do FIN and answers. The kernel accepts a connection at once, so a connection's first bytes are held back
until its handshake would be over. What it does not model: TCP's own slow start, loss, and queues that fill up.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque

BLOCK_BYTES = 16 << 10
WINDOWS = 2
"""How many bandwidth-delay products a direction of a connection may have under way. One fills the line, if nothing jitters."""
IDLE_SECONDS = 0.1


class Line:
    """One direction of the line. Its bytes wait for each other."""

    def __init__(self, bytes_per_second: float, delay: float):
        self._rate, self._delay = bytes_per_second, delay
        self._free_at = 0.0

    def arrival(self, count: int, not_before: float) -> float:
        """Puts bytes on the line. Returns when they arrive."""
        self._free_at = max(self._free_at, not_before) + count / self._rate
        return self._free_at + self._delay


class Pipe:
    """One direction of a connection."""

    def __init__(self, source: socket.socket, target: socket.socket, line: Line, window: int, opens_at: float):
        self.source, self.target = source, target
        self._line, self._window, self._opens_at = line, window, opens_at
        self._under_way: deque[tuple[float, memoryview]] = deque()
        """When it arrives, and what; nothing for the end."""
        self._bytes = 0
        self.has_ended = self.is_over = False

    @property
    def wants_to_read(self) -> bool:
        return not self.has_ended and self._bytes < self._window

    def due_at(self) -> float | None:
        return self._under_way[0][0] if self._under_way else None

    def read(self) -> None:
        try:
            block = self.source.recv(BLOCK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            block = b""
        self.has_ended = not block
        self._bytes += len(block)
        arrival = self._line.arrival(len(block), max(time.monotonic(), self._opens_at))
        self._under_way.append((arrival, memoryview(block)))

    def deliver(self) -> bool:
        """Passes on what has arrived. Returns whether the target takes no more."""
        while self._under_way and self._under_way[0][0] <= time.monotonic():
            arrival, block = self._under_way[0]
            try:
                if not block:
                    self.is_over = True
                    self.target.shutdown(socket.SHUT_WR)
                    self._under_way.clear()
                    return False
                count = self.target.send(block)
            except BlockingIOError:
                return True
            except OSError:
                self.has_ended = self.is_over = True
                self._under_way.clear()
                return False
            self._bytes -= count
            if count < len(block):
                self._under_way[0] = (arrival, block[count:])
                return True
            self._under_way.popleft()
        return False


class Link:
    """Listens on a free port of 127.0.0.1; what connects there reaches `upstream_port` over the line."""

    def __init__(self, upstream_port: int, round_trip: float, bytes_per_second: float):
        self.upstream_port = upstream_port
        self._round_trip = round_trip
        self._upward, self._downward = (Line(bytes_per_second, round_trip / 2) for _ in range(2))
        self._window = int(WINDOWS * bytes_per_second * round_trip) + BLOCK_BYTES
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self._pairs: list[tuple[Pipe, Pipe]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self.run, daemon=True, name="link")

    def __enter__(self) -> "Link":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stopping.set()
        self._thread.join()
        self._listener.close()
        for pair in self._pairs:
            self._close(pair)

    def run(self) -> None:
        while not self._stopping.is_set():
            self._step()

    def _step(self) -> None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        wanted: dict[socket.socket, int] = {}
        now, wake_at = time.monotonic(), time.monotonic() + IDLE_SECONDS
        for pipe in (pipe for pair in self._pairs for pipe in pair):
            is_blocked = pipe.deliver()
            if pipe.wants_to_read:
                wanted[pipe.source] = wanted.get(pipe.source, 0) | select.POLLIN
            if is_blocked:
                wanted[pipe.target] = wanted.get(pipe.target, 0) | select.POLLOUT
            elif (due := pipe.due_at()) is not None:
                wake_at = min(wake_at, due)
        for sock, events in wanted.items():
            poll.register(sock, events)
        ready = dict(poll.poll(max(0.0, wake_at - now) * 1000))
        for pipe in (pipe for pair in self._pairs for pipe in pair):
            if pipe.wants_to_read and ready.get(pipe.source.fileno(), 0) & (select.POLLIN | select.POLLHUP | select.POLLERR):
                pipe.read()
        for pair in [pair for pair in self._pairs if all(pipe.is_over for pipe in pair)]:
            self._pairs.remove(pair)
            self._close(pair)
        if ready.get(self._listener.fileno()):
            self._accept()

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self.upstream_port))
        except OSError:
            client.close()
            return
        opens_at = time.monotonic() + self._round_trip
        for sock in (client, server):
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        up = Pipe(client, server, self._upward, self._window, opens_at)
        down = Pipe(server, client, self._downward, self._window, opens_at)
        self._pairs.append((up, down))

    def _close(self, pair: tuple[Pipe, Pipe]) -> None:
        for pipe in pair:
            pipe.source.close()
