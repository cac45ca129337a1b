"""GigHive's multipart endpoint, `POST /api/uploads.php?ui=json`, and the catalogue behind it.

The answers follow the table "GigHive's endpoints, as a real server answers" of field-facts. What the
table leaves open (the order of the checks, the text of a few messages) is a choice made here.
"""

from __future__ import annotations

import base64
import datetime
import hmac
import re
import secrets
import threading

from .body import Body
from .endpoints import Endpoint, Receiver
from .messages import Answer, Part, Refused, Request, html_answer, json_answer, unauthorized

PATH = "/api/uploads.php"

AUDIO = frozenset("mp3 wav flac aac m4a aif aiff ogg oga au wma".split())
VIDEO = frozenset("mp4 mov mkv webm m4v avi mpg mpeg ts m2t m2ts ogv mxf flv wmv vob".split())
EVENT_TYPES = frozenset(("band", "wedding"))

SAMPLE_DURATION_SECONDS = 3
"""The real server probes the recording; the stub has no probe."""

TOO_LARGE = (
    "Upload exceeded server limits (post_max_size / upload_max_filesize or web server request size)."
)


class Catalogue:
    """What was delivered: recordings by checksum, events by date and organisation, and which recording
    belongs to which event. Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._assets: dict[str, int] = {}
        self._events: dict[tuple[str, str], int] = {}
        self._items: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._assets)

    def add(self, checksum: str, event_date: str, org_name: str) -> dict:
        """Returns the ids, with `is_duplicate` for a recording that the event already has and
        `is_new` for one that no event had."""
        with self._lock:
            is_new = checksum not in self._assets
            asset = self._assets.setdefault(checksum, len(self._assets) + 1)
            event = self._events.setdefault((event_date, org_name), len(self._events) + 1)
            is_duplicate = (event, asset) in self._items
            item = self._items.setdefault((event, asset), len(self._items) + 1)
            position = sum(1 for key, number in self._items.items() if key[0] == event and number <= item)
        return {
            "asset": asset,
            "event": event,
            "item": item,
            "position": position,
            "is_duplicate": is_duplicate,
            "is_new": is_new,
        }


class UploadEndpoint(Endpoint):
    """The PHP page behind Apache: Apache refuses credentials from the headers alone, PHP answers when
    the whole body is in."""

    def __init__(self, user, password, upload_token, upload_max_filesize, receiver: Receiver):
        self.catalogue = Catalogue()
        self._user, self._password, self._upload_token = user, password, upload_token
        self._upload_max_filesize = upload_max_filesize
        self._receiver = receiver

    def refuse_from_head(self, request: Request) -> Answer | None:
        if not self._is_authorized(request):
            return unauthorized()
        if request.method != "POST":
            return _error(405, "Method Not Allowed", "Use POST")
        if request.content_length is None:
            return _error(400, "Bad Request", "Missing file field")
        return None

    def receive(self, request: Request, body: Body) -> Answer:
        try:
            document = self._accept(request, body)
        except Refused as refusal:
            return refusal.answer
        finally:
            self._receiver.drop_unkept(request)
        if "text/html" in request.header("Accept").lower():
            page = html_answer(201, f"Upload {document['id']} is stored.")
            page.content_type = "text/html; charset=UTF-8"
            return page
        return json_answer(201, document)

    def _is_authorized(self, request: Request) -> bool:
        token = request.header("X-Upload-Token").encode("latin-1")
        if self._upload_token is not None and hmac.compare_digest(token, self._upload_token.encode()):
            return True
        if self._user is None:
            return True
        scheme, _, encoded = request.header("Authorization").partition(" ")
        try:
            given = base64.b64decode(encoded.strip(), validate=True)
        except ValueError:
            return False
        return scheme.lower() == "basic" and given == f"{self._user}:{self._password}".encode()

    def _accept(self, request: Request, body: Body) -> dict:
        self._receiver.receive_multipart(request, body)
        form = {part.name: part for part in request.parts if not part.is_file}
        text = {name: part.value.decode("utf-8", "replace") for name, part in form.items()}
        file = next((part for part in reversed(request.files) if part.name == "file"), None)
        limit = self._upload_max_filesize
        if file is None or (limit is not None and file.size > limit):
            raise Refused(_error(413, "Payload Too Large", TOO_LARGE))
        self._check(file, text)
        ids = self.catalogue.add(file.sha256, text["event_date"], text.get("org_name", ""))
        if ids["is_duplicate"]:
            raise Refused(_duplicate(ids["asset"], file.sha256))
        self._receiver.keep(file, f"{file.sha256}.{_extension(file)}")
        return _stored(ids, file, text)

    def _check(self, file: Part, text: dict[str, str]) -> None:
        if file.size == 0:
            raise Refused(_error(400, "Bad Request", "Empty upload"))
        if not text.get("label", "").strip():
            raise Refused(_error(400, "Bad Request", "Label is required"))
        if _extension(file) not in AUDIO | VIDEO:
            raise Refused(_error(400, "Bad Request", "Unsupported media type"))
        if not _is_date(text.get("event_date", "")):
            message = "Invalid event_date format; expected YYYY-MM-DD"
            raise Refused(_error(400, "Bad Request", message))
        if text.get("event_type", "band") not in EVENT_TYPES:
            message = "SQLSTATE[01000]: Warning: 1265 Data truncated for column 'event_type' at row 1"
            raise Refused(_error(500, "Server Error", message))


def _stored(ids: dict, file: Part, text: dict[str, str]) -> dict:
    extension = _extension(file)
    document = {
        "id": ids["asset"],
        "asset_id": ids["asset"],
        "event_id": ids["event"],
        "event_item_id": ids["item"],
        "position": ids["position"],
        "file_name": f"{file.sha256}.{extension}",
        "file_type": "audio" if extension in AUDIO else "video",
        "mime_type": file.content_type or "application/octet-stream",
        "size_bytes": file.size,
        "checksum_sha256": file.sha256,
        "event_date": text["event_date"],
        "org_name": text.get("org_name", ""),
        "event_type": text.get("event_type", "band"),
        "label": text["label"],
        "participants": text.get("participants", ""),
        "keywords": text.get("keywords", ""),
        "duration_seconds": SAMPLE_DURATION_SECONDS,
    }
    if ids["is_new"]:
        document["delete_token"] = secrets.token_hex(32)
    return document


def _duplicate(asset: int, checksum: str) -> Answer:
    return json_answer(
        409,
        {
            "error": "Duplicate Upload",
            "message": "This file has already been uploaded for this event.",
            "existing_asset_id": asset,
            "checksum_sha256": checksum,
        },
        close=True,
    )


def _error(status: int, error: str, message: str) -> Answer:
    return json_answer(status, {"error": error, "message": message}, close=True)


def _extension(file: Part) -> str:
    return (file.filename or "").rpartition(".")[2].lower()


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
