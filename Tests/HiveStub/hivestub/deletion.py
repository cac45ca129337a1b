"""GigHive's `POST /db/delete_media_files.php`: the uploader of a recording may delete it."""

from __future__ import annotations

import hmac
from pathlib import Path

from .access import Access
from .catalogue import Catalogue
from .endpoints import JSONEndpoint
from .messages import Answer, Refused, Request, json_answer

PATH = "/db/delete_media_files.php"


class DeletionEndpoint(JSONEndpoint):
    """The uploader names one asset_id and its delete_token."""

    def __init__(self, catalogue: Catalogue, access: Access, store: Path | None):
        super().__init__(access)
        self._catalogue = catalogue
        self._store = store

    def receive_document(self, request: Request, document: dict) -> Answer:
        id, token = _positive(document.get("asset_id")), document.get("delete_token")
        if not id or not isinstance(token, str) or not token.strip():
            raise _refused(400, "Bad Request", "Expected JSON body with asset_id and delete_token")
        known = self._catalogue.delete_token(id)
        if known is None or not hmac.compare_digest(known.encode(), token.strip().encode()):
            raise _refused(403, "Forbidden", "Invalid delete token")
        recording = self._catalogue.remove(id)
        if self._store is not None:
            (self._store / recording.file_name).unlink(missing_ok=True)
        return json_answer(200, {
            "success": True,
            "db": {"host": "localhost", "name": "music_db"},
            "deleted_count": 1,
            "error_count": 0,
            "results": {"deleted": [{"asset_id": id}], "errors": []},
        })


def _positive(value) -> int:
    """PHP's reading: an integer, or a string of digits; 0 if it is neither."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _refused(status: int, name: str, message: str) -> Refused:
    return Refused(json_answer(status, {"success": False, "error": name, "message": message}, close=True))
