"""GigHive's multipart endpoint, `POST /api/uploads.php?ui=json`, and the requirements of every delivery.

The answers follow the table "GigHive's endpoints, as a real server answers" of field-facts. What the
table leaves open (the order of the checks, the text of a few messages) is a choice made here.
"""

from __future__ import annotations

import datetime
import re

from .access import Access
from .body import Body
from .catalogue import AUDIO, VIDEO, Catalogue, Duplicate, extension_of, file_name_of
from .endpoints import Endpoint, Receiver
from .messages import Answer, Part, Refused, Request, html_answer, json_answer, unauthorized

PATH = "/api/uploads.php"
ASSET = re.compile(r"/api/uploads/([0-9]{1,18})")
MEDIA = re.compile(r"/(audio|video)/([^/]+)")

EVENT_TYPES = frozenset(("band", "wedding"))

TOO_LARGE = (
    "Upload exceeded server limits (post_max_size / upload_max_filesize or web server request size)."
)


class UploadEndpoint(Endpoint):
    """The PHP page behind Apache: Apache refuses credentials from the headers alone, PHP answers when
    the whole body is in."""

    def __init__(self, catalogue: Catalogue, access: Access, receiver: Receiver):
        self._catalogue = catalogue
        self._access = access
        self._receiver = receiver

    def refuse_from_head(self, request: Request) -> Answer | None:
        if not self._access.allows(request):
            return unauthorized()
        if request.method != "POST":
            return error(405, "Method Not Allowed", "Use POST")
        if request.content_length is None:
            return error(400, "Bad Request", "Missing file field")
        return None

    def receive(self, request: Request, body: Body) -> Answer:
        try:
            document = self._accept(request, body)
        except Refused as refusal:
            return refusal.answer
        finally:
            self._receiver.drop_unkept(request)
        return json_answer(201, document)

    def _accept(self, request: Request, body: Body) -> dict:
        self._receiver.receive_multipart(request, body)
        form = {part.name: part for part in request.parts if not part.is_file}
        text = {name: part.value.decode("utf-8", "replace") for name, part in form.items()}
        file = next((part for part in reversed(request.files) if part.name == "file"), None)
        if file is None:
            raise Refused(error(413, "Payload Too Large", TOO_LARGE))
        check(file, text)
        # Before it is listed, so that a kill in between loses nothing that the server says it has.
        self._receiver.keep(file, file_name_of(file))
        try:
            document = self._catalogue.add(file, text, "multipart")
        except Duplicate as duplicate:
            raise Refused(duplicate_answer(duplicate.asset_id, file.sha256)) from None
        return document


class AssetEndpoint(Endpoint):
    """`GET /api/uploads/NUMBER`: what the server has of a recording."""

    def __init__(self, catalogue: Catalogue, access: Access):
        self._catalogue = catalogue
        self._access = access

    def refuse_from_head(self, request: Request) -> Answer | None:
        if not self._access.allows(request):
            return unauthorized()
        if request.method != "GET":
            return error(405, "Method Not Allowed", "Use GET")
        return None

    def receive(self, request: Request, body: Body) -> Answer:
        asset = int(ASSET.fullmatch(request.path)[1])
        if "vanish" in request.plan:
            self._catalogue.remove(asset)
        document = self._catalogue.describe(asset)
        return json_answer(200, document) if document else error(404, "Not Found", "No such upload")


class MediaEndpoint(Endpoint):
    """`HEAD /video/FILE_NAME` and `/audio/FILE_NAME`: Apache serves the file itself, but not to guests."""

    def __init__(self, catalogue: Catalogue, access: Access):
        self._catalogue = catalogue
        self._access = access

    def refuse_from_head(self, request: Request) -> Answer | None:
        if not self._access.allows(request) or self._access.is_guest(request):
            return unauthorized()
        if request.method != "HEAD":
            return html_answer(405, "The stub keeps no content of files.", close=True)
        return None

    def receive(self, request: Request, body: Body) -> Answer:
        document = self._catalogue.describe_file(*MEDIA.fullmatch(request.path).groups())
        if document is None or "vanish" in request.plan:
            return html_answer(404, "The requested URL was not found on this server.")
        length = document["size_bytes"] + ("wrong-size" in request.plan)
        headers = [("Content-Length", str(length))]
        return Answer(200, headers=headers, content_type=document["mime_type"], framing="none")


def check(file: Part, text: dict[str, str]) -> None:
    """Raises what a real server answers to a delivery that it does not take."""
    if file.size == 0:
        raise Refused(error(400, "Bad Request", "Empty upload"))
    if not text.get("label", "").strip():
        raise Refused(error(400, "Bad Request", "Label is required"))
    if extension_of(file) not in AUDIO | VIDEO:
        raise Refused(error(400, "Bad Request", "Unsupported media type"))
    if not _is_date(text.get("event_date", "")):
        message = "Invalid event_date format; expected YYYY-MM-DD"
        raise Refused(error(400, "Bad Request", message))
    if text.get("event_type", "band") not in EVENT_TYPES:
        message = "SQLSTATE[01000]: Warning: 1265 Data truncated for column 'event_type' at row 1"
        raise Refused(error(500, "Server Error", message))


def duplicate_answer(asset: int, checksum: str) -> Answer:
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


def error(status: int, error: str, message: str) -> Answer:
    return json_answer(status, {"error": error, "message": message}, close=True)


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
