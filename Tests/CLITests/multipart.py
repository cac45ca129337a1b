"""multipart/form-data as RFC 7578 and the HTML standard describe it, written independently of the program."""

from __future__ import annotations

import re


def boundary_of(request) -> bytes:
    """The boundary that a request announces, which must be one (RFC 2046, 5.1.1)."""
    value = request.header("Content-Type")
    match = re.fullmatch(r"multipart/form-data; boundary=([0-9A-Za-z'()+_,./:=?-]{1,70})", value)
    assert match, value
    return match.group(1).encode()


def escaped(name) -> bytes:
    """A name between quotes: CR, LF and the quote percent-encoded, all else as it is."""
    data = name if isinstance(name, bytes) else name.encode("utf-8")
    return data.replace(b"\r", b"%0D").replace(b"\n", b"%0A").replace(b'"', b"%22")


def header(boundary: bytes, fields, file_name, field_name="file", mime="video/mp4") -> bytes:
    """The body up to the file's first byte."""
    start = b"--" + boundary + b'\r\nContent-Disposition: form-data; name="'
    body = b"".join(start + escaped(name) + b'"\r\n\r\n' + _bytes(value) + b"\r\n" for name, value in fields)
    body += start + escaped(field_name) + b'"; filename="' + escaped(file_name) + b'"\r\n'
    return body + b"Content-Type: " + mime.encode() + b"\r\n\r\n"


def footer(boundary: bytes) -> bytes:
    return b"\r\n--" + boundary + b"--\r\n"


def body(boundary: bytes, fields, content: bytes, file_name, field_name="file", mime="video/mp4") -> bytes:
    return header(boundary, fields, file_name, field_name, mime) + content + footer(boundary)


def _bytes(value) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8")
