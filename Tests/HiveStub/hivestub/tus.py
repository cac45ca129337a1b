"""A tus 1.0 server (https://tus.io/protocols/resumable-upload) that answers as tusd does."""

from __future__ import annotations

import hashlib
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Iterator
from urllib.parse import urlsplit

from . import tus_messages as tus
from .access import Access
from .body import Body, BodyCut, Interrupted
from .endpoints import Endpoint
from .messages import Answer, Refused, Request, html_answer, unauthorized
from .tus_lock import Locked, LockTimeout
from .tus_messages import refused
from .tus_store import TusStore, Upload

GIGHIVE_EXTENSIONS = ("creation", "creation-with-upload", "termination", "concatenation", "creation-defer-length")
"""What GigHive's tusd announces."""

EXTENSIONS = (*GIGHIVE_EXTENSIONS, "expiration", "checksum")

READ_ON_BYTES = 256 << 10
"""How much of an unwanted body Go's server reads in order to keep the connection."""


@dataclass(frozen=True)
class TusSettings:
    extensions: tuple[str, ...] = GIGHIVE_EXTENSIONS
    max_size: int | None = None
    expires_seconds: float = 86400.0

    def __post_init__(self):
        unknown = set(self.extensions) - set(EXTENSIONS)
        if unknown:
            raise ValueError(f"no tus extension is named {', '.join(sorted(unknown))}")


class TusEndpoint(Endpoint):
    """All requests below one base path. It decides in `receive`, because the offset is known only under
    the upload's lock; where it does not read the body, no 100 (Continue) goes out."""

    def __init__(
        self,
        store: TusStore,
        settings: TusSettings,
        access: Access | None,
        scheme: str,
        stopping: threading.Event,
    ):
        self.store = store
        self._settings = settings
        self._access = access
        self._scheme = scheme
        self._stopping = stopping

    def refuse_from_head(self, request: Request) -> Answer | None:
        access = self._access
        if access is not None and not access.claims_to_be_guest(request) and not access.allows(request):
            return unauthorized()
        return None

    def receive(self, request: Request, body: Body) -> Answer:
        try:
            answer = self._answer(request, body)
        except Refused as refusal:
            answer = refusal.answer
        if request.method == "HEAD" and answer.framing == "length":
            answer.body, answer.framing = b"", "none"
        if body.left and (body.left > READ_ON_BYTES or body.on_begin is not None and request.expects_continue()):
            answer.close = True
        return answer

    def _answer(self, request: Request, body: Body) -> Answer:
        if "deny-patch" in request.plan and request.method in ("PATCH", "DELETE"):
            raise Refused(html_answer(405, "The requested method is not allowed for this URL.",
                                      headers=[("Allow", "GET,HEAD,POST,OPTIONS")]))
        if request.header("Transfer-Encoding"):
            raise Refused(html_answer(411, "The stub takes bodies with a Content-Length only.", close=True))
        method = request.effective_method
        if method == "OPTIONS":
            return self._options()
        if request.header("Tus-Resumable") != tus.VERSION:
            raise refused("ERR_UNSUPPORTED_VERSION", ("Tus-Version", tus.VERSION))
        id = self.id_in(request.path)
        if id and "sticky" in request.plan and request.plan["sticky"] not in (request.header("Cookie") or "").split("; "):
            raise refused("ERR_UPLOAD_NOT_FOUND")
        if method == "POST" and not id:
            return self._create(request, body)
        if method == "HEAD" and id:
            return self._head(id, request, body)
        if method == "PATCH" and id:
            return self._patch(id, request, body)
        if method == "DELETE" and id:
            return self._terminate(id, request, body)
        raise refused("ERR_METHOD_NOT_ALLOWED")

    def id_in(self, path: str) -> str:
        return path[len(self.store.base) :].strip("/")

    def _has(self, extension: str) -> bool:
        return extension in self._settings.extensions

    # The methods.

    def _options(self) -> Answer:
        answer = tus.answer(204, ("Tus-Version", tus.VERSION))
        if self._settings.extensions:
            answer.headers.append(("Tus-Extension", ",".join(self._settings.extensions)))
        if self._settings.max_size is not None:
            answer.headers.append(("Tus-Max-Size", str(self._settings.max_size)))
        if self._has("checksum"):
            answer.headers.append(("Tus-Checksum-Algorithm", ",".join(tus.CHECKSUM_ALGORITHMS)))
        return answer

    def _create(self, request: Request, body: Body) -> Answer:
        if not self._has("creation"):
            raise refused("ERR_METHOD_NOT_ALLOWED")
        header = request.header("Upload-Metadata")
        metadata = tus.metadata(header)
        carries_data = (
            self._has("creation-with-upload") and request.header("Content-Type") == tus.CONTENT_TYPE)
        concat = request.header("Upload-Concat") if self._has("concatenation") else ""
        if concat.startswith("final;"):
            if carries_data:
                raise refused("ERR_MODIFY_FINAL")
            return self._join(self._parts(concat), header, metadata, request, body)
        if concat not in ("", "partial"):
            raise refused("ERR_INVALID_CONCAT")
        length = tus.new_length(request, self._has("creation-defer-length"))
        self._check_size(length or 0)
        if carries_data and length is not None and body.left > length:
            raise refused("ERR_UPLOAD_SIZE_EXCEEDED")
        upload = self.store.create(length, header, metadata, concat)
        answer = tus.answer(201, ("Location", self._location(upload, request)))
        if carries_data:
            with self._locked(upload, body):
                self._receive_data(upload, request, body)
                answer.headers.append(("Upload-Offset", str(upload.offset)))
        else:
            body.discard()
        if "sticky" in request.plan:
            answer.headers.append(("Set-Cookie", request.plan["sticky"] + "; Path=/"))
        self._announce_expiry(upload, answer)
        return answer

    def _parts(self, concat: str) -> list[Upload]:
        ids = [self.id_in(urlsplit(url).path) for url in concat.removeprefix("final;").split(" ")]
        if not all(ids):
            raise refused("ERR_INVALID_CONCAT")
        parts = [self.store.find(id)[0] for id in ids]
        if None in parts:
            raise refused("ERR_UPLOAD_NOT_FOUND")
        if not all(part.is_complete for part in parts):
            raise refused("ERR_UPLOAD_NOT_FINISHED")
        return parts

    def _join(self, parts: list[Upload], header: str, metadata: dict[str, str], request: Request, body: Body) -> Answer:
        length = sum(part.offset for part in parts)
        self._check_size(length)
        upload = self.store.create(length, header, metadata, "final;" + " ".join(part.path for part in parts))
        for part in parts:
            upload.append(part.data_path)
        body.discard()
        return tus.answer(201, ("Location", self._location(upload, request)))

    def _head(self, id: str, request: Request, body: Body) -> Answer:
        upload = self._find(id, request)
        with self._locked(upload, body, only_looks=True):
            answer = tus.answer(200, ("Cache-Control", "no-store"), ("Upload-Offset", str(upload.offset)))
            if upload.concat:
                answer.headers.append(("Upload-Concat", upload.concat))
            if upload.metadata_header:
                answer.headers.append(("Upload-Metadata", upload.metadata_header))
            if upload.length is None:
                answer.headers.append(("Upload-Defer-Length", "1"))
            else:
                answer.headers += [("Upload-Length", str(upload.length)), ("Content-Length", str(upload.length))]
            self._announce_expiry(upload, answer)
            return answer

    def _patch(self, id: str, request: Request, body: Body) -> Answer:
        if request.header("Content-Type") != tus.CONTENT_TYPE:
            raise refused("ERR_INVALID_CONTENT_TYPE")
        offset = tus.number(request.header("Upload-Offset"), "ERR_INVALID_OFFSET")
        upload = self._find(id, request)
        if "spool" in request.plan:
            return self._patch_spooled(upload, offset, request, body)
        with self._locked(upload, body):
            self._check_patch(upload, offset, request)
            self._receive_data(upload, request, body)
            return self._patched(upload)

    def _patch_spooled(self, upload: Upload, offset: int, request: Request, body: Body) -> Answer:
        """ModSecurity has the whole body on its disk before tusd hears of the request."""
        with self._spooled(body, self._wanted_checksum(request)) as path:
            with self._locked(upload, body):
                self._check_patch(upload, offset, request)
                upload.append(path)
                return self._patched(upload)

    def _patched(self, upload: Upload) -> Answer:
        self._check_presence(upload)
        answer = tus.answer(204, ("Upload-Offset", str(upload.offset)))
        self._announce_expiry(upload, answer)
        return answer

    def _terminate(self, id: str, request: Request, body: Body) -> Answer:
        if not self._has("termination"):
            raise refused("ERR_NOT_IMPLEMENTED")
        upload = self._find(id, request)
        with self._locked(upload, body):
            self.store.remove(upload)
        return tus.answer(204)

    # What they share.

    def _find(self, id: str, request: Request) -> Upload:
        upload, status = self.store.find(id)
        if upload is not None and "gone" in request.plan:
            self.store.remove(upload, request.plan["gone"])
            upload, status = None, request.plan["gone"]
        if upload is None:
            raise refused("ERR_UPLOAD_NOT_FOUND", status=status)
        return upload

    @contextmanager
    def _locked(self, upload: Upload, body: Body, only_looks: bool = False) -> Iterator[None]:
        try:
            upload.lock.acquire(body.interrupt, self._stopping, only_looks)
        except Locked as lock:
            raise refused("ERR_UPLOAD_LOCKED", status=lock.status) from None
        except LockTimeout:
            raise refused("ERR_LOCK_TIMEOUT") from None
        try:
            self._check_presence(upload)
            yield
        finally:
            upload.lock.release()

    def _check_presence(self, upload: Upload) -> None:
        found, status = self.store.find(upload.id)
        if found is None:
            raise refused("ERR_UPLOAD_NOT_FOUND", status=status)

    def _check_size(self, length: int) -> None:
        if self._settings.max_size is not None and length > self._settings.max_size:
            raise refused("ERR_MAX_SIZE_EXCEEDED")

    def _check_patch(self, upload: Upload, offset: int, request: Request) -> None:
        if upload.concat.startswith("final;"):
            raise refused("ERR_MODIFY_FINAL")
        if offset != upload.offset:
            raise refused("ERR_MISMATCHED_OFFSET")
        end = offset + (request.content_length or 0)
        declared = request.header("Upload-Length")
        if declared:
            if upload.length is not None:
                raise refused("ERR_INVALID_UPLOAD_LENGTH")
            length = tus.number(declared, "ERR_INVALID_UPLOAD_LENGTH")
            self._check_size(length)
            if length < end:
                raise refused("ERR_UPLOAD_SIZE_EXCEEDED")
            upload.declare_length(length)
        if upload.length is None:
            self._check_size(end)
        elif end > upload.length:
            raise refused("ERR_UPLOAD_SIZE_EXCEEDED")

    def _receive_data(self, upload: Upload, request: Request, body: Body) -> None:
        """Appends the body; what came before the connection was cut stays, unless a checksum guards it."""
        wanted = self._wanted_checksum(request)
        try:
            if wanted is not None:
                with self._spooled(body, wanted) as path:
                    upload.append(path)
            else:
                room = request.plan.get("partial", body.left)
                with open(upload.data_path, "ab", buffering=0) as data:
                    for chunk in body.chunks():
                        write_all(data, chunk[:room])
                        room = max(0, room - len(chunk))
        except Interrupted:
            raise refused("ERR_UPLOAD_INTERRUPTED", close=True) from None
        except BodyCut:
            if "lock" in request.plan:
                upload.lock.linger(request.plan["lock"].seconds, request.plan["lock"])
            raise

    def _wanted_checksum(self, request: Request) -> tuple[str, bytes] | None:
        return tus.checksum(request.header("Upload-Checksum")) if self._has("checksum") else None

    @contextmanager
    def _spooled(self, body: Body, wanted: tuple[str, bytes] | None) -> Iterator[Path]:
        """The whole body in a separate file, if it has the expected checksum."""
        path = self.store.spool_path()
        digest = hashlib.new(wanted[0]) if wanted else None
        try:
            with open(path, "wb", buffering=0) as spool:
                for chunk in body.chunks():
                    write_all(spool, chunk)
                    if digest:
                        digest.update(chunk)
            if digest and digest.digest() != wanted[1]:
                raise refused("ERR_CHECKSUM_MISMATCH")
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _announce_expiry(self, upload: Upload, answer: Answer) -> None:
        if self._has("expiration") and not upload.is_complete:
            if answer.status != 200:  # every change renews it, HEAD does not
                upload.expire_in(self._settings.expires_seconds)
            answer.headers.append(("Upload-Expires", formatdate(upload.expires, usegmt=True)))

    def _location(self, upload: Upload, request: Request) -> str:
        plan = request.plan
        if "other-location" in plan:
            return plan["other-location"].replace("{id}", upload.id).replace("{path}", upload.path)
        if "relative-location" in plan:
            return upload.path
        return f"{self._scheme}://{request.header('Host')}{upload.path}"


def write_all(file, chunk: memoryview) -> None:
    while chunk:
        chunk = chunk[file.write(chunk) :]
