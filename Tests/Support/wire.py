"""Finds requests and responses in bytes that pass (RFC 9112), without holding any back. Pure.

Requests may be pipelined, so that responses are matched to them in order.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from urllib.parse import urlsplit

MAX_HEAD_BYTES = 64 << 10

CREATION, OFFSET, PATCH, FINALIZE, FORM, JOIN, OTHER = "creation", "offset", "patch", "finalize", "form", "join", "other"
KINDS = (CREATION, OFFSET, PATCH, FINALIZE)
"""What a request of a tus upload is for: POST to /files/, HEAD, PATCH, POST to …/finalize. A form is GigHive's multipart, and
a join makes one upload of others (concatenation)."""


class NotHTTP(Exception):
    """Bytes that this reader cannot follow; they are passed on all the same."""


@dataclass
class Exchange:
    """A request and its response, as far as they have passed."""

    connection: int
    method: str
    target: str
    kind: str
    announced_bytes: int
    offset: int | None
    """Upload-Offset of the request; 0 where it creates an upload."""
    began: float = field(default_factory=time.monotonic)
    """When its head had passed."""
    sent: float | None = None
    """When the client can have sent it, at the earliest: a stalled connection's bytes come late."""
    connected: float = 0.0
    """When its connection came."""
    body_bytes: int = 0
    status: int | None = None
    answer_bytes: int = 0
    upload: str = ""
    """The path of the tus upload that it belongs to, once that is known."""

    def __post_init__(self):
        self.sent = self.began if self.sent is None else self.sent

    @property
    def carries_file(self) -> bool:
        return self.kind in (CREATION, PATCH, FORM)

    @property
    def end(self) -> int:
        """The position in the file after the last byte that passed."""
        return (self.offset or 0) + self.body_bytes

    def __str__(self) -> str:
        at = f" at {self.offset}" if self.kind == PATCH else ""
        return (
            f"#{self.connection} {self.method} {self.target}{at}: "
            f"{self.body_bytes} of {self.announced_bytes} bytes -> {self.status or 'no answer'}"
        )


@dataclass(frozen=True)
class Segment:
    """A run of bytes within a block that belong to one message."""

    exchange: Exchange | None
    is_answer: bool
    start: int
    end: int
    first: int
    """Where `start` lies in the request's body, or in the response; negative within a request's head."""
    ends_head: bool = False
    ends_message: bool = False


class Head:
    """The bytes of a head, which may come in pieces."""

    def __init__(self):
        self.bytes = bytearray()

    def feed(self, block: bytes, position: int) -> tuple[int, list[bytes] | None]:
        """The position after the head, or the block's end, and the lines of a head that is complete."""
        before = len(self.bytes)
        self.bytes += block[position:]
        end = self.bytes.find(b"\r\n\r\n", max(0, before - 3))
        if end < 0:
            if len(self.bytes) > MAX_HEAD_BYTES:
                raise NotHTTP("a head is too long")
            return len(block), None
        lines = bytes(self.bytes[:end]).split(b"\r\n")
        self.bytes.clear()
        return position + end + 4 - before, lines


class Requests:
    """The client's direction of a connection."""

    def __init__(self, connection: int, unanswered: deque[Exchange]):
        self._connection = connection
        self._unanswered = unanswered
        self._head = Head()
        self._current: Exchange | None = None
        self._connected = time.monotonic()
        self.drained_at = self._connected
        """When nothing of the client was left to be read, last."""
        self.all: list[Exchange] = []

    @property
    def is_in_head(self) -> bool:
        """Whether a head has started that is not complete yet."""
        return bool(self._head.bytes)

    def feed(self, block: bytes) -> list[Segment]:
        segments, position = [], 0
        while position < len(block):
            current, start = self._current, position
            if current and current.body_bytes < current.announced_bytes:
                position += min(len(block) - position, current.announced_bytes - current.body_bytes)
                first = current.body_bytes
                current.body_bytes += position - start
                is_whole = current.body_bytes == current.announced_bytes
                segments.append(Segment(current, False, start, position, first, ends_message=is_whole))
                continue
            position, lines = self._head.feed(block, position)
            self._current = self._begun(lines) if lines else None
            is_whole = lines is not None and not self._current.announced_bytes
            segments.append(Segment(self._current, False, start, position, -1, lines is not None, is_whole))
        return segments

    def _begun(self, lines: list[bytes]) -> Exchange:
        exchange = parse_request(self._connection, lines)
        exchange.connected, exchange.sent = self._connected, self.drained_at
        self.all.append(exchange)
        self._unanswered.append(exchange)
        return exchange


class Answers:
    """The server's direction of a connection."""

    def __init__(self, unanswered: deque[Exchange]):
        self._unanswered = unanswered
        self._head = Head()
        self._passed = 0
        """Bytes of the current response, with interim ones before it."""
        self._left: int | None = None
        """Content that is still to come; None while a head is read, and up to the close after that."""
        self._is_chunked = self._is_endless = self._in_trailer = False
        self._line = bytearray()

    def feed(self, block: bytes) -> list[Segment]:
        segments, position = [], 0
        while position < len(block):
            exchange = self._unanswered[0] if self._unanswered else None
            first, start = self._passed, position
            position, is_over = self._step(block, position, exchange)
            self._passed += position - start
            segments.append(Segment(exchange, True, start, position, first, ends_message=is_over))
            if exchange:
                exchange.answer_bytes = self._passed
            if is_over:
                self._passed = 0
                if exchange:
                    self._unanswered.popleft()
        return segments

    def _step(self, block: bytes, position: int, exchange: Exchange | None) -> tuple[int, bool]:
        """Reads some of a message. Returns the new position, and whether a final response is over."""
        if self._is_endless:
            return len(block), False
        if self._is_chunked and not self._left:
            return self._read_line(block, position)
        if self._left is not None:
            count = min(self._left, len(block) - position)
            self._left -= count
            if self._left or self._is_chunked:
                return position + count, False
            self._left = None
            return position + count, True
        position, lines = self._head.feed(block, position)
        return position, lines is not None and self._begin(lines, exchange)

    def _begin(self, lines: list[bytes], exchange: Exchange | None) -> bool:
        """Whether the response is over with its head."""
        words = lines[0].split(b" ")
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
            raise NotHTTP(f"status line {lines[0][:40]!r}")
        status, fields = int(words[1]), _fields(lines[1:])
        if status < 200:
            return False
        if exchange:
            exchange.status = status
            exchange.upload = urlsplit(fields.get(b"location", b"").decode("latin-1")).path or exchange.upload
        if status in (204, 304) or (exchange and exchange.method == "HEAD"):
            return True
        if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
            self._is_chunked, self._in_trailer, self._left = True, False, 0
        elif b"content-length" in fields:
            self._left = int(fields[b"content-length"]) or None
            return self._left is None
        else:
            self._is_endless = True
        return False

    def _read_line(self, block: bytes, position: int) -> tuple[int, bool]:
        """A chunk size, the line end after a chunk, or a trailer line (RFC 9112 section 7.1)."""
        end = block.find(b"\n", position)
        self._line += block[position : end if end >= 0 else len(block)]
        if end < 0:
            return len(block), False
        line, self._line = bytes(self._line).strip(), bytearray()
        if self._in_trailer and not line:
            self._is_chunked, self._left = False, None
            return end + 1, True
        if line and not self._in_trailer:
            try:
                self._left = int(line.partition(b";")[0], 16)
            except ValueError:
                raise NotHTTP(f"chunk size {line!r}") from None
            self._in_trailer = self._left == 0
        return end + 1, False


def parse_request(connection: int, lines: list[bytes]) -> Exchange:
    words = lines[0].decode("latin-1").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise NotHTTP(f"request line {lines[0]!r}")
    fields = _fields(lines[1:])
    if b"transfer-encoding" in fields:
        raise NotHTTP("a request without a length")
    try:
        length = int(fields.get(b"content-length", b"0"))
        offset = int(fields[b"upload-offset"]) if b"upload-offset" in fields else None
    except ValueError as problem:
        raise NotHTTP(str(problem)) from None
    path = words[1].partition("?")[0]
    kind = kind_of(words[0], path)
    if kind == CREATION and fields.get(b"upload-concat", b"").startswith(b"final;"):
        kind = JOIN
    exchange = Exchange(connection, words[0], words[1], kind, length, 0 if kind == CREATION else offset)
    exchange.upload = path if kind == PATCH else ""
    return exchange


def kind_of(method: str, path: str) -> str:
    if method != "POST":
        return {"HEAD": OFFSET, "PATCH": PATCH}.get(method, OTHER) if "/files/" in path else OTHER
    ways = (("/finalize", FINALIZE), ("/files/", CREATION), ("/uploads.php", FORM))
    return next((kind for end, kind in ways if path.endswith(end)), OTHER)


def _fields(lines: list[bytes]) -> dict[bytes, bytes]:
    pairs = (line.partition(b":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
