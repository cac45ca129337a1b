"""The receiver's tus 1.0, and GigHive's finalize: just what an upload needs. It keeps offsets and digests, no bytes."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import time

from .arrival import Arrival
from .connection import Connection, Head
from .multipart import REFUSAL, REFUSE_AT
from .progress import Progress
from .rows import DISTANT, REFUSING, Row

ENDPOINT, FINALIZE = "/files/", "/api/uploads/finalize"
VERSION = {"Tus-Resumable": "1.0.0"}
OFFER = {**VERSION, "Tus-Version": "1.0.0", "Tus-Extension": "creation,creation-with-upload,termination"}
FINAL = "final;"

DISTANCE_SECONDS = 0.05
WATCHED_REQUESTS, WATCH_SECONDS = 10, 0.02
"""How long the first responses are delayed, to see whether the next request arrives before them."""


class TusUpload:
    """An upload on the server; it outlives connections."""

    def __init__(self, length: int, is_part: bool = False):
        self.arrival = Arrival(announced_bytes=length)
        self.is_part = is_part
        """Of another upload, so that its bytes are needed again."""
        self.bytes = tempfile.TemporaryFile() if is_part else None
        self.requests_of_run = 0
        self.lock = threading.Lock()
        self._digest = hashlib.sha256()

    def take(self, data: memoryview) -> None:
        self._digest.update(data)
        if self.bytes:
            self.bytes.write(data)
        self.arrival.file_bytes += len(data)
        self.arrival.body_bytes += len(data)

    def join(self, parts: list[TusUpload]) -> None:
        for part in parts:
            part.bytes.seek(0)
            while data := part.bytes.read(1 << 20):
                self.take(memoryview(data))

    def finalize(self) -> None:
        self.arrival.file_sha256 = self._digest.hexdigest()
        self.arrival.is_whole = self.arrival.file_bytes == self.arrival.announced_bytes


class TusServer:
    """What all connections of a run share."""

    def __init__(self, progress: Progress, row: Row):
        self._progress = progress
        self._is_refusing = row.reader == REFUSING
        self._delay = DISTANCE_SECONDS if row.reader == DISTANT else 0.0
        self._offer = {**OFFER, "Tus-Extension": OFFER["Tus-Extension"] + ",concatenation"} if row.is_live else OFFER
        self._lock = threading.Lock()
        self.uploads: dict[str, TusUpload] = {}
        self.has_overlapped = False

    def serve(self, connection: Connection, head: Head) -> bool:
        """Carries out a request. Returns whether the connection stays open."""
        if head.target == FINALIZE:
            return self._finalize(connection, head)
        if head.method == "OPTIONS":
            time.sleep(self._delay)
            connection.answer("204 No Content", self._offer)
            return True
        if head.method == "POST":
            return self._create(connection, head)
        upload = self.uploads[_name(head.target)]
        if head.method == "DELETE":
            connection.answer("204 No Content", VERSION)
            return True
        with upload.lock:  # until a connection before has given up all that it had
            return self._locate(connection, upload) if head.method == "HEAD" else self._patch(connection, head, upload)

    def _create(self, connection: Connection, head: Head) -> bool:
        concat = head.fields.get("upload-concat", "")
        upload = TusUpload(head.number("upload-length"), is_part=concat == "partial")
        if concat.startswith(FINAL):
            parts = [self.uploads[_name(url)] for url in concat.removeprefix(FINAL).split()]
            upload.arrival.announced_bytes = sum(part.arrival.announced_bytes for part in parts)
            upload.join(parts)
        if self._refuses(connection, head, upload):
            return False
        with self._lock:
            name = str(len(self.uploads) + 1)
            self.uploads[name] = upload
        if not self._read(connection, head, upload):
            return False
        location = f"{ENDPOINT}{name}"
        connection.answer(
            "201 Created", {**VERSION, "Location": location, "Upload-Offset": str(upload.arrival.file_bytes)})
        return True

    def _locate(self, connection: Connection, upload: TusUpload) -> bool:
        arrival = upload.arrival
        if not self._is_refusing and arrival.file_bytes < arrival.announced_bytes:
            self._progress.restart(max(1, arrival.announced_bytes - arrival.file_bytes))
            upload.requests_of_run, self.has_overlapped = 0, False
        connection.answer("200 OK", {
            **VERSION, "Upload-Offset": str(arrival.file_bytes), "Upload-Length": str(arrival.announced_bytes)})
        return True

    def _patch(self, connection: Connection, head: Head, upload: TusUpload) -> bool:
        if head.method != "PATCH" or head.number("upload-offset") != upload.arrival.file_bytes:
            raise ValueError(f"{head.method} at {head.fields.get('upload-offset')}, not at {upload.arrival.file_bytes}")
        if self._refuses(connection, head, upload) or not self._read(connection, head, upload):
            return False
        upload.requests_of_run += 1
        if not self.has_overlapped:
            # On a busy machine, the first ones may not overlap, and later ones do.
            is_watched = upload.requests_of_run <= WATCHED_REQUESTS
            self.has_overlapped = connection.has_more(WATCH_SECONDS if is_watched else 0.0)
        connection.answer("204 No Content", {**VERSION, "Upload-Offset": str(upload.arrival.file_bytes)})
        return True

    def _refuses(self, connection: Connection, head: Head, upload: TusUpload) -> bool:
        """413 to what would go beyond half of the file, from the head alone."""
        end = upload.arrival.file_bytes + head.number("content-length")
        if not self._is_refusing or end <= upload.arrival.announced_bytes * REFUSE_AT:
            return False
        connection.answer("413 Payload Too Large", {"Connection": "close"}, REFUSAL)
        connection.linger()
        return True

    def _read(self, connection: Connection, head: Head, upload: TusUpload) -> bool:
        if head.number("content-length") == 0:
            return True
        upload.arrival.requests += 1
        return connection.read_content(head, upload.take) == head.number("content-length")

    def _finalize(self, connection: Connection, head: Head) -> bool:
        text = bytearray()
        connection.read_plainly(head, text)
        upload = self.uploads[json.loads(text)["upload_id"]]
        upload.finalize()
        arrival = upload.arrival
        connection.answer("201 Created", content={
            "asset_id": 1, "size_bytes": arrival.file_bytes, "checksum_sha256": arrival.file_sha256})
        return True


def _name(url: str) -> str:
    return url.rpartition("/")[2]
