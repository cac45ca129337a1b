"""The receiver's multipart: one request that is the whole upload."""

from __future__ import annotations

import hashlib

from .arrival import Arrival
from .connection import Connection, Head
from .rows import REFUSING

REFUSE_AT = 0.5
REFUSAL = {"error": "Payload Too Large", "message": "Upload exceeded server limits."}


class FormUpload:
    """Head, multipart body, answer."""

    def __init__(self, connection: Connection, head: Head, file_size: int, reader: str, arrival: Arrival):
        self._connection, self._head, self._file_size = connection, head, file_size
        self._is_refusing, self._arrival = reader == REFUSING, arrival
        self._digest = hashlib.sha256()
        self._framing = b""  # what precedes the file, then what follows it
        self._is_in_file = False

    def receive(self) -> None:
        arrival = self._arrival
        boundary = self._head.fields["content-type"].partition("boundary=")[2].strip('"').encode()
        arrival.announced_bytes = self._head.number("content-length")
        end = int(arrival.announced_bytes * REFUSE_AT) if self._is_refusing else arrival.announced_bytes
        arrival.body_bytes = self._connection.read_content(self._head, self._take, end)
        if arrival.body_bytes < end:
            raise ValueError(f"the connection ended after {arrival.body_bytes} bytes of the body")
        arrival.file_sha256 = self._digest.hexdigest()
        arrival.is_whole = self._framing == b"\r\n--" + boundary + b"--\r\n"
        if self._is_refusing:
            self._connection.answer("413 Payload Too Large", {"Connection": "close"}, REFUSAL)
        else:
            content = {"asset_id": 1, "size_bytes": arrival.file_bytes, "checksum_sha256": arrival.file_sha256}
            self._connection.answer("201 Created", content=content)
        self._connection.linger()

    def _take(self, data: memoryview) -> None:
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
