"""The headers of tus 1.0, and tusd's error messages."""

from __future__ import annotations

import base64
import binascii
import re

from .messages import Answer, Refused, Request

VERSION = "1.0.0"
CONTENT_TYPE = "application/offset+octet-stream"
CHECKSUM_ALGORITHMS = ("sha1", "sha256")

ERRORS = {
    "ERR_UNSUPPORTED_VERSION": (412, "missing, invalid or unsupported Tus-Resumable header"),
    "ERR_MAX_SIZE_EXCEEDED": (413, "maximum size exceeded"),
    "ERR_INVALID_CONTENT_TYPE": (415, "missing or invalid Content-Type header"),
    "ERR_INVALID_UPLOAD_LENGTH": (400, "missing or invalid Upload-Length header"),
    "ERR_INVALID_OFFSET": (400, "missing or invalid Upload-Offset header"),
    "ERR_UPLOAD_NOT_FOUND": (404, "upload not found"),
    "ERR_UPLOAD_LOCKED": (423, "file currently locked"),
    "ERR_LOCK_TIMEOUT": (500, "failed to acquire lock before timeout"),
    "ERR_MISMATCHED_OFFSET": (409, "mismatched offset"),
    "ERR_UPLOAD_SIZE_EXCEEDED": (413, "upload's size exceeded"),
    "ERR_INVALID_CONCAT": (400, "invalid Upload-Concat header"),
    "ERR_UPLOAD_NOT_FINISHED": (400, "one of the partial uploads is not finished"),
    "ERR_MODIFY_FINAL": (403, "modifying a final upload is not allowed"),
    "ERR_NOT_IMPLEMENTED": (501, "feature not implemented"),
    "ERR_AMBIGUOUS_UPLOAD_LENGTH": (400, "provided both Upload-Length and Upload-Defer-Length"),
    "ERR_INVALID_UPLOAD_LENGTH_DEFER": (400, "invalid Upload-Defer-Length header"),
    "ERR_UPLOAD_INTERRUPTED": (
        400, "upload has been interrupted by another request for this upload resource"),
    # tusd has no words for these: it takes any metadata, and knows no checksums.
    "ERR_INVALID_METADATA": (400, "invalid Upload-Metadata header"),
    "ERR_INVALID_CHECKSUM": (400, "invalid Upload-Checksum header"),
    "ERR_CHECKSUM_MISMATCH": (460, "checksum mismatch"),
    "ERR_METHOD_NOT_ALLOWED": (405, "method not allowed"),
}


def answer(status: int, *headers: tuple[str, str], **options) -> Answer:
    """An answer as tusd gives it: no content, unless the options say otherwise."""
    always = [("Tus-Resumable", VERSION), ("X-Content-Type-Options", "nosniff")]
    framing = "length" if status == 201 else "none"
    return Answer(status, **{"content_type": "", "framing": framing, **options}, headers=[*headers, *always])


def refused(code: str, *headers: tuple[str, str], status: int | None = None, close: bool = False) -> Refused:
    """What to raise so that the request is answered in tusd's words: `ERR_CODE: words`."""
    usual, words = ERRORS[code]
    text = {"body": f"{code}: {words}\n".encode(), "content_type": "text/plain; charset=utf-8"}
    return Refused(answer(status or usual, *headers, **text, framing="length", close=close))


def number(text: str, code: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise refused(code)
    return int(text)


def new_length(request: Request, can_defer: bool) -> int | None:
    """The length that a creation declares, or None where it is deferred."""
    length, deferred = request.header("Upload-Length"), request.header("Upload-Defer-Length")
    if deferred and not can_defer:
        raise refused("ERR_NOT_IMPLEMENTED")
    if length and deferred:
        raise refused("ERR_AMBIGUOUS_UPLOAD_LENGTH")
    if deferred and deferred != "1":
        raise refused("ERR_INVALID_UPLOAD_LENGTH_DEFER")
    return None if deferred else number(length, "ERR_INVALID_UPLOAD_LENGTH")


def metadata(header: str) -> dict[str, str]:
    """Reads Upload-Metadata: `key base64,key base64`, keys unique and of printable ASCII without comma and
    blank, values optional. Stricter than tusd, which skips what it cannot read."""
    values: dict[str, str] = {}
    for pair in header.split(",") if header else ():
        match = re.fullmatch(r"([!-+\--~]+)(?: ([A-Za-z0-9+/]*={0,2}))?", pair.strip(" \t"))
        if not match or match.group(1) in values:
            raise refused("ERR_INVALID_METADATA")
        values[match.group(1)] = _decode(match.group(2) or "", "ERR_INVALID_METADATA").decode(
            "utf-8", "surrogateescape")
    return values


def checksum(header: str) -> tuple[str, bytes] | None:
    """Reads Upload-Checksum: `algorithm base64`."""
    if not header:
        return None
    algorithm, _, encoded = header.partition(" ")
    if algorithm not in CHECKSUM_ALGORITHMS:
        raise refused("ERR_INVALID_CHECKSUM")
    return algorithm, _decode(encoded, "ERR_INVALID_CHECKSUM")


def _decode(text: str, code: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise refused(code) from None
