"""GigHive's `POST /api/uploads/finalize`: turns a complete tus upload into a recording."""

from __future__ import annotations

import datetime
import mimetypes
import re
import threading
import time
from pathlib import Path

from .access import Access
from .catalogue import Catalogue, Duplicate
from .endpoints import JSONEndpoint
from .gighive import check, duplicate_answer, error
from .messages import Answer, Part, Refused, Request, json_answer
from .tus_store import TusStore, Upload

PATH = "/api/uploads/finalize"

POLL_SECONDS = 0.05

_FORM = ("event_date org_name event_type label participants keywords location rating notes").split()
"""What may also come as the upload's metadata."""


class FinalizeEndpoint(JSONEndpoint):
    """delay_seconds: how long it waits for an upload that is not complete, before it says so."""

    def __init__(
        self,
        uploads: TusStore,
        catalogue: Catalogue,
        access: Access,
        store: Path | None,
        delay_seconds: float,
        stopping: threading.Event,
    ):
        super().__init__(access)
        self._uploads = uploads
        self._catalogue = catalogue
        self._store = store
        self._delay_seconds = delay_seconds
        self._stopping = stopping
        self._finish_what_a_kill_interrupted()

    def admits(self, request: Request) -> bool:
        """A guest's token is looked at by PHP, not by Apache."""
        return self._access.claims_to_be_guest(request) or self._access.allows(request)

    def receive_document(self, request: Request, document: dict) -> Answer:
        if self._access.claims_to_be_guest(request) and not self._access.is_guest(request):
            raise Refused(json_answer(404, {"error": "invalid or expired"}, close=True))
        id = document.get("upload_id")
        if not isinstance(id, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", id):
            raise Refused(error(400, "Bad Request", "Missing or invalid upload_id"))
        is_guest = self._access.is_guest(request)
        if is_guest and not (document.get("label") and document.get("tos_accepted") is True):
            message = "Missing or invalid token-mode fields (label, tos_accepted)"
            raise Refused(error(400, "Bad Request", message))
        upload, _ = self._uploads.find(id)
        if upload is None:
            return self._finalized_before(id)
        self._wait_for(upload, "finalize-early" in request.plan)
        with upload.finalizing:  # two at once: the second finds what the first has made
            if self._catalogue.finalized(id) is not None:
                return self._finalized_before(id)
            return self._accept(upload, _form(document, upload, is_guest))

    def _finalized_before(self, id: str) -> Answer:
        known = self._catalogue.finalized(id)
        if known is not None:
            return json_answer(201, known)
        raise Refused(error(404, "Not Found", _not_found(id)))

    def _wait_for(self, upload: Upload, is_early: bool) -> None:
        """The real server looks for tusd's hook record for 2 s before it gives up. Another call may remove the upload meanwhile."""
        deadline = time.monotonic() + self._delay_seconds
        while (is_early or not upload.is_complete) and self._catalogue.finalized(upload.id) is None:
            if time.monotonic() >= deadline or self._stopping.is_set():
                raise Refused(error(500, "Server Error", (
                    "Upload data exists on disk but post-finish hook output has not been written yet "
                    f"(upload_id={upload.id}). The server may still be processing; retry in a moment."
                )))
            self._stopping.wait(min(POLL_SECONDS, self._delay_seconds))

    def _accept(self, upload: Upload, text: dict[str, str]) -> Answer:
        file = _file(upload)
        if file.size == 0:
            raise Refused(error(500, "Server Error", "Uploaded file is empty"))
        check(file, text)
        file.sha256 = upload.sha256
        try:
            document = self._catalogue.add(file, text, "finalize", upload.id)
        except Duplicate as duplicate:
            self._uploads.remove(upload)
            return duplicate_answer(duplicate.asset_id, file.sha256)
        self._uploads.remove(upload, move_to=self._store and self._store / document["file_name"])
        return json_answer(201, document)

    def _finish_what_a_kill_interrupted(self) -> None:
        for upload in self._uploads.uploads:
            document = self._catalogue.finalized(upload.id)
            if document is not None:
                self._uploads.remove(upload, move_to=self._store and self._store / document["file_name"])


def _not_found(id: str) -> str:
    return f"Upload not found: no data or hook record for upload_id={id}"


def _file(upload: Upload) -> Part:
    name = upload.metadata.get("filename", "upload.bin")
    mime = upload.metadata.get("filetype") or mimetypes.guess_type(name)[0]
    return Part(b"", "file", name, mime, size=upload.offset)


def _form(document: dict, upload: Upload, is_guest: bool) -> dict[str, str]:
    text = {name: str(document[name]) for name in _FORM if isinstance(document.get(name), (str, int, float))}
    for name in _FORM:
        if not text.get(name, "").strip() and upload.metadata.get(name, "").strip():
            text[name] = upload.metadata[name]
    if is_guest:
        text.setdefault("event_date", datetime.date.today().isoformat())  # the real token names the event
    return text
