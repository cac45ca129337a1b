"""A streaming multipart/form-data parser (RFC 7578, RFC 2046 section 5.1.1) in constant memory.

It is strict where browsers and PHP are lenient, because its job is to show what a client really sent:
every delimiter ends in CRLF with nothing in between, every part has a Content-Disposition of type
form-data with a quoted name, and the closing delimiter must come. Raw part headers are kept.
"""

from __future__ import annotations

import re
from typing import Callable

from .messages import MAX_FIELD_BYTES, Digest, Part

MAX_PART_HEADER_BYTES = 64 << 10

_BOUNDARY = re.compile(r'^multipart/form-data\s*;.*?boundary=(?:"([^"]+)"|([^\s;"]+))\s*$', re.I | re.S)
_QUOTED = r'="((?:[^"\r\n])*)"'


class MultipartError(ValueError):
    """The body breaks a rule of multipart; the text names it."""


def boundary_of(content_type: str) -> str | None:
    """The boundary that a Content-Type header declares, or None if it is no multipart/form-data."""
    match = _BOUNDARY.match(content_type.strip())
    return (match.group(1) or match.group(2)) if match else None


class MultipartParser:
    """Takes the body in pieces of any size through `feed`, then `finish`; fills `parts`.

    `open_file(part)` may return a writable object that receives a file's bytes besides the digest.
    """

    def __init__(self, boundary: str, open_file: Callable[[Part], object] | None = None):
        if not 1 <= len(boundary) <= 70:
            raise MultipartError(f"boundary has {len(boundary)} characters, 1 to 70 are allowed")
        self.parts: list[Part] = []
        self._open_file = open_file or (lambda part: None)
        self._delimiter = b"\r\n--" + boundary.encode("latin-1")
        # The first delimiter may stand at the very start: pretend that a CRLF came before the body.
        self._pending = b"\r\n"
        self._state = self._read_preamble
        self._digest: Digest | None = None

    def feed(self, chunk) -> None:
        data = self._pending + bytes(chunk)
        position, state = 0, None
        while state is not self._state or position < len(data):
            state = self._state
            advanced = state(data, position)
            if advanced == position and state is self._state:
                break
            position = advanced
        self._pending = data[position:]

    def finish(self) -> None:
        if self._state != self._read_epilogue:
            raise MultipartError("the body ends before the closing delimiter")

    # The states: each takes what is there, and returns up to where it has consumed it.

    def _read_preamble(self, data: bytes, position: int) -> int:
        return self._until_delimiter(data, position, lambda view: None)

    def _read_content(self, data: bytes, position: int) -> int:
        return self._until_delimiter(data, position, self._take_content)

    def _until_delimiter(self, data: bytes, position: int, take) -> int:
        found = data.find(self._delimiter, position)
        if found < 0:
            # Hold back only what may be the start of a delimiter.
            held = data.find(b"\r", max(position, len(data) - len(self._delimiter) + 1))
            end = held if held >= 0 else len(data)
            take(memoryview(data)[position:end])
            return end
        take(memoryview(data)[position:found])
        self._end_part()
        self._state = self._read_delimiter_end
        return found + len(self._delimiter)

    def _read_delimiter_end(self, data: bytes, position: int) -> int:
        ending = data[position : position + 2]
        if len(ending) < 2:
            return position
        if ending == b"--":
            self._state = self._read_epilogue
        elif ending == b"\r\n":
            self._state = self._read_headers
        else:
            raise MultipartError(f"delimiter is followed by {ending!r}")
        return position + 2

    def _read_headers(self, data: bytes, position: int) -> int:
        end = data.find(b"\r\n\r\n", position)
        if end < 0:
            if len(data) - position > MAX_PART_HEADER_BYTES:
                raise MultipartError(f"part headers exceed {MAX_PART_HEADER_BYTES} bytes")
            return position
        part = parse_part_headers(data[position:end])
        self.parts.append(part)
        self._digest = Digest(self._open_file(part)) if part.is_file else None
        self._state = self._read_content
        return end + 4

    def _read_epilogue(self, data: bytes, position: int) -> int:
        return len(data)

    # Where the bytes go.

    def _take_content(self, view: memoryview) -> None:
        part = self.parts[-1]
        part.size += len(view)
        if self._digest is not None:
            self._digest.write(view)
        elif part.size > MAX_FIELD_BYTES:
            raise MultipartError(f"field {part.name!r} exceeds {MAX_FIELD_BYTES} bytes")
        else:
            part.value += bytes(view)

    def _end_part(self) -> None:
        if self._digest is not None:
            self.parts[-1].sha256 = self._digest.hexdigest()
            self._digest = None


def parse_part_headers(raw: bytes) -> Part:
    """Reads one part's header block. Every line must be `Name: value`; a bare CR or LF, which would
    be an injected line to a lenient reader, is an error."""
    values: dict[str, str] = {}
    for line in raw.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon or not re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise MultipartError(f"part header line {line!r} is not 'Name: value'")
        if b"\r" in value or b"\n" in value or b"\0" in value:
            raise MultipartError(f"part header {name!r} holds a bare CR, LF or NUL")
        key = name.decode("ascii").lower()
        if key in values:
            raise MultipartError(f"part header {key} comes twice")
        values[key] = value.decode("utf-8", "surrogateescape").strip(" \t")
    disposition = values.get("content-disposition", "")
    grammar = f"form-data; name{_QUOTED}(?:; filename{_QUOTED})?"
    match = re.fullmatch(grammar, disposition)
    if not match:
        raise MultipartError(f"Content-Disposition {disposition!r} is not form-data with quoted names")
    return Part(raw, match.group(1), match.group(2), values.get("content-type"))
