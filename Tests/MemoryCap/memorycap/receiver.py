"""A GigHive-like receiver of one multipart upload, in a process of its own.

Over HTTPS it really decrypts. It hashes every byte of the file, so that what is claimed to have arrived did arrive. It
keeps nothing. It tells the others how far it is through the scoreboard.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import socket
import ssl
import time
from dataclasses import dataclass

from . import scoreboard
from .rows import REFUSING, THROTTLE_BYTES_PER_SECOND, THROTTLE_SECONDS, THROTTLED
from .scoreboard import Scoreboard

STEADY_FROM, STEADY_TO = 0.05, 0.95
THROTTLE_FROM, REFUSE_AT = 0.2, 0.5
BLOCK = 1 << 20
LINGER_SECONDS = 5.0
HEAD_LIMIT = 64 << 10
ROUND_TRIP_SECONDS = 0.05
"""As on a line: the session tickets that follow a TLS handshake are with the client before its body is under way."""


@dataclass
class Arrival:
    """What the receiver got, in its own words."""

    body_bytes: int = 0
    announced_bytes: int = 0
    file_bytes: int = 0
    file_sha256: str = ""
    is_framing_whole: bool = False
    """The closing boundary followed the file, and nothing followed it."""
    problem: str = ""


class Receiver:
    """Listens on loopback; `receive` serves one connection in a child process."""

    def __init__(self, board: Scoreboard, context: ssl.SSLContext | None, file_size: int, reader: str):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._work = (board, context, file_size, reader)

    def start(self) -> None:
        fork = multiprocessing.get_context("fork")
        self._result, result = fork.Pipe(duplex=False)
        self._process = fork.Process(target=_serve, args=(self._listener, result, *self._work), daemon=True)
        self._process.start()
        result.close()
        self._listener.close()

    def arrival(self, seconds: float) -> Arrival:
        """What it got, or the reason why it has nothing to say."""
        try:
            return self._result.recv() if self._result.poll(seconds) else Arrival(problem="the receiver hangs")
        except EOFError:
            return Arrival(problem="the receiver died")

    def stop(self) -> None:
        self._process.terminate()
        self._process.join()
        self._result.close()


def _serve(listener: socket.socket, result, board: Scoreboard, context, file_size: int, reader: str) -> None:
    arrival = Arrival()
    try:
        connection, _ = listener.accept()
        if context is not None:
            connection = context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=True)
            time.sleep(ROUND_TRIP_SECONDS)
        Upload(connection, board, file_size, reader, arrival).receive()
    except (OSError, ValueError) as problem:
        arrival.problem = f"receiver: {problem}"
    result.send(arrival)


class Upload:
    """One request: head, multipart body, answer."""

    def __init__(self, connection: socket.socket, board: Scoreboard, file_size: int, reader: str, arrival: Arrival):
        self._connection, self._board, self._file_size = connection, board, file_size
        self._reader, self._arrival = reader, arrival
        self._block = memoryview(bytearray(BLOCK))
        self._digest = hashlib.sha256()
        self._framing = b""  # what precedes the file, then what follows it
        self._is_in_file = False
        self._throttled_since: float | None = None

    def receive(self) -> None:
        head, rest = self._read_head()
        self._boundary = _between(head, b"boundary=", b"\r\n").strip(b'"')
        self._arrival.announced_bytes = int(_between(head, b"\r\ncontent-length:", b"\r\n"))
        self._end = self._arrival.announced_bytes
        if self._reader == REFUSING:
            self._end = int(self._end * REFUSE_AT)
        if b"100-continue" in head.lower():
            self._connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._take(memoryview(rest))
        while self._arrival.body_bytes < self._end:
            count = self._read_block()
            if count == 0:
                raise ValueError(f"the connection ended after {self._arrival.body_bytes} bytes of the body")
            self._take(self._block[:count])
            self._throttle()
        self._arrival.file_sha256 = self._digest.hexdigest()
        self._arrival.is_framing_whole = self._framing == b"\r\n--" + self._boundary + b"--\r\n"
        self._answer()

    def _read_head(self) -> tuple[bytes, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            more = self._connection.recv(BLOCK)
            if not more or len(data) > HEAD_LIMIT:
                raise ValueError("no request head")
            data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        return head + b"\r\n", rest

    def _read_block(self) -> int:
        """Fills the block (a TLS read gives one record at most), or to the end of the body."""
        # Never so much that a phase of the transfer would be skipped.
        wanted = min(BLOCK, max(4096, self._end // 64), self._end - self._arrival.body_bytes)
        if self._throttled_since is not None:
            wanted = min(wanted, BLOCK // 8)
        filled = 0
        while filled < wanted:
            count = self._connection.recv_into(self._block[filled:wanted])
            if count == 0:
                break
            filled += count
            if filled >= 1 << 18 or self._throttled_since is not None:
                break
        return filled

    def _take(self, data: memoryview) -> None:
        self._arrival.body_bytes += len(data)
        if not self._is_in_file:
            self._framing += data
            start = self._framing.find(b"\r\n\r\n", self._framing.find(b' filename="'))
            if b' filename="' not in self._framing or start < 0:
                return
            data, self._framing, self._is_in_file = memoryview(self._framing)[start + 4 :], b"", True
        part = data[: self._file_size - self._arrival.file_bytes]
        self._digest.update(part)
        self._arrival.file_bytes += len(part)
        self._framing += data[len(part) :]
        self._board[scoreboard.RECEIVED] = self._arrival.body_bytes
        if self._arrival.body_bytes >= self._end * STEADY_TO:
            self._board[scoreboard.PHASE] = scoreboard.ENDING
        elif self._arrival.body_bytes >= self._end * STEADY_FROM:
            self._board[scoreboard.PHASE] = scoreboard.STEADY

    def _throttle(self) -> None:
        received, now = self._arrival.body_bytes, time.monotonic()
        if self._reader != THROTTLED or received < self._end * THROTTLE_FROM:
            return
        if self._throttled_since is None:
            self._throttled_since, self._throttled_from = now, received
        elapsed = now - self._throttled_since
        if elapsed > THROTTLE_SECONDS:
            self._reader, self._throttled_since = "", None
        else:
            time.sleep(max(0.0, (received - self._throttled_from) / THROTTLE_BYTES_PER_SECOND - elapsed))

    def _answer(self) -> None:
        if self._reader == REFUSING:
            status = "413 Payload Too Large\r\nConnection: close"
            content = {"error": "Payload Too Large", "message": "Upload exceeded server limits."}
        else:
            status = "201 Created"
            checksum = self._arrival.file_sha256
            content = {"asset_id": 1, "size_bytes": self._arrival.file_bytes, "checksum_sha256": checksum}
        body = json.dumps(content).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._connection.sendall(head.encode() + body)
        self._linger()

    def _linger(self) -> None:
        """Reads on until the client closes, so that the answer is not lost to a reset."""
        self._connection.settimeout(LINGER_SECONDS)
        try:
            while self._connection.recv_into(self._block):
                pass
        except OSError:
            pass


def _between(text: bytes, start: bytes, end: bytes) -> bytes:
    position = text.lower().index(start) + len(start)
    return text[position : text.index(end, position)]
