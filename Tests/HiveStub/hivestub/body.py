"""A request body: exactly Content-Length bytes, with the faults that occur while they arrive."""

from __future__ import annotations

import threading
from typing import Callable, Iterator

from .fault_arguments import BodyFault
from .faults import Plan
from .messages import Request
from .streams import BUFFER_BYTES, Stream


class ClientGone(Exception):
    """The client closed the connection in the middle of a head or a body."""


class Interrupted(Exception):
    """Another thread asked the reader of this body to stop."""


BodyCut = (BodyFault, ClientGone, OSError)
"""What ends a body before its end."""


class Body:
    """Reads a body from what came with the head, then from the stream."""

    def __init__(
        self,
        stream: Stream,
        ahead: bytearray,
        request: Request,
        plan: Plan,
        keep: int,
        stopping: threading.Event,
    ):
        self._stream = stream
        self._ahead = ahead
        self._request = request
        self._keep = keep
        self._stopping = stopping
        self._interrupted = False
        self.on_begin: Callable[[], None] | None = None
        """Called once before the first byte is read: sends the 100 (Continue)."""
        self._faults = sorted(plan.body_faults(), key=lambda fault: fault.after)
        self._rate = plan.get("slow-read")
        self._idle_limit = plan.get("idle-limit")
        if keep:
            request.body = b""
        if self._rate or any(fault.name == "stall-after" for fault in self._faults):
            stream.limit_receive_buffer()

    @property
    def left(self) -> int:
        return (self._request.content_length or 0) - self._request.body_bytes

    def chunks(self) -> Iterator[memoryview]:
        """Yields the body in pieces that are valid until the next one."""
        self._begin()
        buffer = memoryview(bytearray(min(BUFFER_BYTES, max(self.left, 1))))
        self.strike()
        while self.left:
            size = min(len(buffer), self._room())
            received = self._read(buffer[:size])
            self._count(received)
            if self._request.body is not None and len(self._request.body) < self._keep:
                self._request.body += bytes(buffer[:received])
            yield buffer[:received]
            if self._interrupted:
                raise Interrupted
            self.strike()
            if self._rate:
                self._stopping.wait(received / self._rate)
        self._request.complete = True

    def discard(self) -> None:
        """Takes the body in the fastest way and looks at nothing."""
        self._begin()
        if self._faults or self._rate or self._keep or self._idle_limit:
            for _ in self.chunks():
                pass
            return
        ahead = min(len(self._ahead), self.left)
        del self._ahead[:ahead]
        self._count(ahead)
        self._count(self._stream.discard(self.left))
        if self.left:
            raise ClientGone
        self._request.complete = True

    def forget_faults(self) -> None:
        self._faults = []

    def _room(self) -> int:
        """How much may be read before the next fault strikes or the rate is exceeded."""
        room = self.left
        if self._faults:
            room = min(room, self._faults[0].after - self._request.body_bytes)
        if self._rate:
            room = min(room, max(1, int(self._rate / 20)))
        return room

    def interrupt(self) -> None:
        """Makes `chunks` raise Interrupted soon. Another thread calls it."""
        if self.left:
            self._interrupted = True
            self._stream.stop_reading()

    def strike(self) -> None:
        """Raises the fault that is due at this point of the body."""
        if self._faults and self._request.body_bytes >= self._faults[0].after:
            raise self._faults[0]

    def _begin(self) -> None:
        begin, self.on_begin = self.on_begin, None
        if begin is not None:
            begin()

    def _read(self, view: memoryview) -> int:
        if not self._ahead:
            if self._idle_limit and not self._stream.wait_for_more(self._idle_limit):
                raise BodyFault("idle-limit", self._request.body_bytes)
            try:
                received = self._stream.recv_into(view)
            except OSError:
                received = 0
                if not self._interrupted:
                    raise
            if not received:
                raise Interrupted if self._interrupted else ClientGone
            return received
        size = min(len(view), len(self._ahead))
        view[:size] = self._ahead[:size]
        del self._ahead[:size]
        return size

    def _count(self, received: int) -> None:
        self._request.body_bytes += received
