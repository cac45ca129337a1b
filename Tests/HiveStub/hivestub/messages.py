"""Requests and responses, as passed between the parts of the stub."""

from __future__ import annotations

import hashlib
import http
import json
import threading
from dataclasses import dataclass, field

MAX_FIELD_BYTES = 1 << 20
"""A form field (not a file) longer than this is refused, so that memory stays flat."""


class Refused(Exception):
    """The request cannot be processed; carries the answer that says so."""

    def __init__(self, answer: "Answer"):
        super().__init__(answer.status)
        self.answer = answer


@dataclass
class Part:
    """One part of a multipart body.

    `raw_headers` is the header block byte for byte, without the empty line that ends it. `name` and
    `filename` are what stands between the quotes: nothing is percent-decoded or unescaped, and bytes
    that are not UTF-8 survive as surrogate escapes.
    """

    raw_headers: bytes
    name: str
    filename: str | None
    content_type: str | None
    size: int = 0
    sha256: str | None = None
    value: bytes = b""
    """The content of a field; empty for a file, which is only hashed."""

    stored_at: str | None = None
    """Where the file's bytes were written, if the stub stores them."""

    @property
    def is_file(self) -> bool:
        return self.filename is not None

    @property
    def text(self) -> str:
        return self.value.decode("utf-8", "surrogateescape")


@dataclass
class Request:
    """A request as it came over the wire. It is in the log from its head on and fills while the body
    arrives; `finished` is set when the stub is done with it, whatever the outcome."""

    connection: int
    """Number of the TCP connection, from 1: two requests with one number shared a connection."""
    method: str
    target: str
    version: str
    head: bytes
    """Request line and headers, byte for byte, with the empty line."""
    headers: list[tuple[bytes, bytes]]
    content_length: int | None = None
    tls_version: str | None = None
    tls_cipher: str | None = None
    client_certificate: dict | None = None
    continue_sent: bool = False
    body_bytes: int = 0
    drained_bytes: int = 0
    """What the client sent after a response that ended the connection; known once it has ended."""
    complete: bool = False
    """All bytes that Content-Length announced have arrived."""
    body: bytes | None = None
    """The raw body, kept only up to the stub's `keep_body` bytes."""
    parts: list[Part] = field(default_factory=list)
    sha256: str | None = None
    """Digest of a body that is no multipart (PUT)."""
    status: int | None = None
    """Status of the final answer, or None if none was sent."""
    ending: str | None = None
    """Why the connection ended with this request, if it did; None where it was kept alive."""
    kind: str = "other"
    """What it is to the stub, as faults name it: see faults.SCOPES."""
    plan: dict = field(default_factory=dict, repr=False)
    """The faults that it meets."""
    finished: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def effective_method(self) -> str:
        """The method, or what X-HTTP-Method-Override makes of a POST."""
        override = self.header("X-HTTP-Method-Override").upper()
        return override if override and self.method == "POST" else self.method

    @property
    def fields(self) -> list[tuple[str, str]]:
        return [(part.name, part.text) for part in self.parts if not part.is_file]

    @property
    def files(self) -> list[Part]:
        return [part for part in self.parts if part.is_file]

    @property
    def file(self) -> Part | None:
        return self.files[0] if self.files else None

    def header_values(self, name: str) -> list[bytes]:
        wanted = name.lower().encode()
        return [value for key, value in self.headers if key.lower() == wanted]

    def header(self, name: str) -> str:
        """All values of a header joined by commas (RFC 9110 section 5.3); empty if there is none."""
        return ", ".join(value.decode("latin-1") for value in self.header_values(name))

    def describe(self) -> dict:
        return {
            "connection": self.connection,
            "method": self.method,
            "target": self.target,
            "kind": self.kind,
            "content_length": self.content_length,
            "body_bytes": self.body_bytes,
            "complete": self.complete,
            "status": self.status,
            "ending": self.ending,
        }

    def expects_continue(self) -> bool:
        return self.version == "HTTP/1.1" and self.header("Expect").lower() == "100-continue"


@dataclass
class Answer:
    """A final answer before it is framed: faults may still change its content, coding and framing."""

    status: int
    body: bytes = b""
    document: dict | None = None
    """A JSON answer; written the way PHP writes it, instead of `body`."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    content_type: str = "text/html; charset=UTF-8"
    framing: str = "chunked"
    """chunked, length, close, or none (204, and HEAD, which have no content)"""
    close: bool = False

    @property
    def reason(self) -> str:
        try:
            return http.HTTPStatus(self.status).phrase
        except ValueError:
            return "Unassigned"

    def content(self) -> bytes:
        return self.body if self.document is None else php_json(self.document)


def json_answer(status: int, document: dict, **options) -> Answer:
    return Answer(status, document=document, content_type="application/json", **options)


def html_answer(status: int, text: str, **options) -> Answer:
    """A page like Apache's own error documents."""
    answer = Answer(status, content_type="text/html; charset=iso-8859-1", **options)
    title = f"{status} {answer.reason}"
    answer.body = (
        '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n'
        f"<html><head>\n<title>{title}</title>\n</head><body>\n"
        f"<h1>{answer.reason}</h1>\n<p>{text}</p>\n</body></html>\n"
    ).encode("utf-8", "replace")
    return answer


def unauthorized() -> Answer:
    """Apache's answer to missing or wrong credentials (field-facts: bad or no password)."""
    return html_answer(
        401,
        "This server could not verify that you are authorized to access the document requested.",
        headers=[("WWW-Authenticate", 'Basic realm="GigHive Upload"')],
        close=True,
    )


def status_answer(status: int) -> Answer:
    """The answer for a bare status, as faults name it: 401 and 413 look like Apache's, others like PHP's."""
    if status == 401:
        return unauthorized()
    if status == 413:
        return html_answer(
            413,
            "The requested resource does not allow request data with POST requests, "
            "or the amount of data provided in the request exceeds the capacity limit.",
            close=True,
        )
    answer = json_answer(status, {}, close=True)
    answer.document = {"error": answer.reason, "message": f"HiveStub was told to answer {status}"}
    if status in (429, 503):
        answer.headers.append(("Retry-After", "1"))
    return answer


def php_json(document: dict) -> bytes:
    """JSON as PHP's json_encode writes it by default: no blanks, `\\/`, `\\uXXXX`."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("/", "\\/").encode("ascii")


class Digest:
    """Counts and hashes a file's bytes, and writes them on where a file is to be kept."""

    def __init__(self, output=None):
        self.size = 0
        self._sha256 = hashlib.sha256()
        self._output = output

    def write(self, data) -> None:
        self.size += len(data)
        self._sha256.update(data)
        if self._output is not None:
            self._output.write(data)

    def hexdigest(self) -> str:
        return self._sha256.hexdigest()
