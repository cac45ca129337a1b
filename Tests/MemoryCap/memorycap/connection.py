"""One connection of the receiver: request heads and content in, answers out."""

from __future__ import annotations

import json
import select
import socket
import ssl
from dataclasses import dataclass
from typing import Callable

from .progress import Progress, Span

BLOCK = 1 << 20
WAKE = 1 << 18
"""A read of plain text that got so much does not wait for more."""
HEAD_LIMIT = 64 << 10
LINGER_SECONDS = 5.0


@dataclass(frozen=True)
class Head:
    method: str
    target: str
    fields: dict[str, str]
    """By their names in lower case."""

    def number(self, name: str) -> int:
        return int(self.fields.get(name, "0"))


class Connection:
    def __init__(self, stream: socket.socket, progress: Progress):
        self._stream, self._progress = stream, progress
        self._block = memoryview(bytearray(BLOCK))
        self._rest = b""  # what came along with a head

    def read_head(self) -> Head | None:
        """None: the client has closed."""
        while b"\r\n\r\n" not in self._rest:
            more = self._stream.recv(BLOCK)
            if not more and not self._rest:
                return None
            if not more or len(self._rest) > HEAD_LIMIT + BLOCK:
                raise ValueError("no request head")
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\r\n\r\n")
        first, *lines = text.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        fields = (line.partition(":") for line in lines)
        return Head(method, target, {name.lower(): value.strip() for name, _, value in fields})

    def read_content(self, head: Head, take: Callable[[memoryview], None], limit: int | None = None) -> int:
        """Gives every byte of the content to `take`; stops after `limit`, or where the connection ends. Returns how
        many bytes came."""
        end = head.number("content-length") if limit is None else limit
        if "100-continue" in head.fields.get("expect", ""):
            self._stream.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        span = Span(self._progress, end)
        taken = 0
        try:
            while taken < end:
                data = self._next(end - taken, max(4096, end // 64))
                if not data:
                    break
                taken += len(data)
                take(data)
                span.took(len(data))
        finally:
            span.end()
        return taken

    def has_more(self, seconds: float) -> bool:
        """Whether more data, such as the next request, arrives within this time."""
        pending = self._stream.pending() if isinstance(self._stream, ssl.SSLSocket) else 0
        return bool(self._rest or pending or select.select([self._stream], [], [], seconds)[0])

    def read_plainly(self, head: Head, content: bytearray) -> None:
        """Content that is no part of a file."""
        length = head.number("content-length")
        while len(content) < length:
            data = self._next(length - len(content), BLOCK)
            if not data:
                raise ValueError("the connection ended in a request's content")
            content += data

    def _next(self, left: int, step: int) -> memoryview:
        """Never so much that a phase of the transfer would be skipped."""
        wanted = min(BLOCK, step, left)
        if self._rest:
            data, self._rest = memoryview(self._rest)[:wanted], self._rest[wanted:]
            return data
        if self._progress.is_throttling:
            wanted = min(wanted, BLOCK // 8)
        filled = 0
        while filled < wanted:
            count = self._stream.recv_into(self._block[filled:wanted])  # of TLS one record at most
            filled += count
            if count == 0 or filled >= WAKE or self._progress.is_throttling:
                break
        return self._block[:filled]

    def answer(self, status: str, fields: dict[str, str] | None = None, content: dict | None = None) -> None:
        body = b"" if content is None else json.dumps(content).encode()
        head = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in (fields or {}).items())]
        if content is not None:
            head.append("Content-Type: application/json")
        if not status.startswith("204"):
            head.append(f"Content-Length: {len(body)}")
        self._stream.sendall("\r\n".join([*head, "", ""]).encode() + body)

    def linger(self) -> None:
        """Reads on until the client closes, so that the answer is not lost to a reset."""
        self._stream.settimeout(LINGER_SECONDS)
        try:
            while self._stream.recv_into(self._block):
                pass
        except OSError:
            pass
