"""A TCP proxy that misbehaves as ordered, and counts. It never changes a byte, and holds at most one block per direction."""

from __future__ import annotations

import socket
import threading
import time
import traceback
from typing import Callable

from .conduct import Conduct, Interruption, Point, place_of
from .connection import SOCKET_BUFFER_BYTES, Connection
from .wire import Exchange, Segment


class Proxy:
    """Listens on a free port of 127.0.0.1 and passes everything to `upstream_port`, which may change.

    `conduct_for(number)` says how the connection with that number, from 0, is treated. A stall that lasts
    `stall_counts_from` seconds or longer is an interruption: the client is to give up before.
    """

    def __init__(
        self,
        upstream_port: int,
        conduct_for: Callable[[int], Conduct] = lambda number: Conduct(),
        stall_counts_from: float = float("inf"),
        log: Callable[[str], None] = lambda line: None,
    ):
        self.upstream_port = upstream_port
        self.stall_counts_from = stall_counts_from
        self.stopping = threading.Event()
        self.exchanges: list[Exchange] = []
        self.interruptions: list[Interruption] = []
        self.refusals: list[float] = []
        """When a connection could not be passed on, because the server was down."""
        self.problems: list[str] = []
        """Bytes that were no HTTP, and mistakes of the proxy's own."""
        self.taken_bytes = 0
        """What clients have sent, heads and all."""
        self._conduct_for = conduct_for
        self._log = log
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._orders: list[tuple[Point, Callable[[], None]]] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]

    def start(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True, name="proxy").start()
        return self

    def stop(self) -> None:
        """Ends every connection. Afterwards nothing counts any more."""
        self.stopping.set()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join()

    def __enter__(self) -> "Proxy":
        return self.start()

    def __exit__(self, *_) -> None:
        self.stop()

    def when(self, point: Point, action: Callable[[], None]) -> Callable[[], None]:
        """Runs the action once, as soon as the bytes up to the point have passed on, in whichever connection. Bytes
        without a kind are counted from now. Returns what takes the order back."""
        if point.kind is None:
            point = Point(self.taken_bytes + (point.count or 0))
        order = (point, action)
        with self._lock:
            self._orders.append(order)
        return lambda: self._take_order(order)

    def say(self, line: str) -> None:
        self._log(f"{time.monotonic() - self._began:7.3f}  {line}")

    def interrupted(self, interruption: Interruption, instead_of: Interruption | None = None) -> None:
        with self._lock:
            if instead_of in self.interruptions:
                self.interruptions.remove(instead_of)
            self.interruptions.append(interruption)

    def _accept(self) -> None:
        number = 0
        while not self.stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                connection = Connection(self, number, client, self._conduct_for(number))
            except Exception:
                self.problems.append(traceback.format_exc())
                client.close()
                continue
            thread = threading.Thread(target=connection.run, daemon=True, name=f"proxy {number}")
            with self._lock:
                self._threads.append(thread)
            thread.start()
            number += 1

    # For connections.

    def orders_within(self, segments: list[Segment], before: int) -> list[tuple[int, Callable[[], None]]]:
        """Orders whose point is in the block, with their positions. They are removed from the list."""
        with self._lock:
            found = [(at, order) for order in self._orders if (at := place_of(order[0], segments, before)) is not None]
            for _, order in found:
                self._orders.remove(order)
        return [(at, order[1]) for at, order in found]

    def took(self, count: int) -> int:
        """Returns how many bytes had been taken before."""
        with self._lock:
            before = self.taken_bytes
            self.taken_bytes += count
        return before

    def began_exchange(self, exchange: Exchange) -> None:
        with self._lock:
            self.exchanges.append(exchange)

    def _take_order(self, order) -> None:
        with self._lock:
            if order in self._orders:
                self._orders.remove(order)
