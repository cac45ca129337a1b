"""Writes a response: framing (RFC 9112 section 6), and the faults of framing and writing."""

from __future__ import annotations

import threading
from email.utils import formatdate

from .faults import Plan, encode, falsify
from .messages import Answer
from .streams import Stream

GARBAGE = b"\x15\x03\x03\x00\x02\x02\x46 220 this is not HTTP\r\n\x00\xff\r\n\r\n"

INTERIM = (
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n",
    b"HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 6\r\n\r\n",
)


def must_close(answer: Answer, plan: Plan) -> bool:
    """Whether the connection cannot continue after this answer."""
    fatal = ("close-delimited", "garbage", "raw-answer")
    return answer.close or answer.framing == "close" or any(name in plan for name in fatal)


def render(answer: Answer, plan: Plan, http_1_0: bool, close: bool, head_only: bool = False) -> bytes:
    """The answer's bytes, after all faults that change them."""
    if "raw-answer" in plan:
        return plan["raw-answer"]
    if "garbage" in plan:
        return GARBAGE
    falsify(answer, plan)
    content, coding = encode(answer.content(), plan) if answer.framing != "none" else (b"", None)
    framing = _framing(answer, plan, http_1_0)
    lines = [
        f"HTTP/1.{0 if framing == 'close' else 1} {answer.status} {answer.reason}",
        f"Date: {formatdate(usegmt=True)}",
        "Server: Apache",
    ]
    if "malformed-header" in plan:
        lines.append(plan["malformed-header"])
    lines += [f"{name}: {value}" for name, value in answer.headers]
    if coding:
        lines.append(f"Content-Encoding: {coding}")
    if close:
        lines.append("Connection: close")
    framing_lines, body = _frame(content, framing, plan)
    lines += framing_lines
    if answer.content_type:
        lines.append(f"Content-Type: {answer.content_type}")
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    if head_only or framing == "none":
        return head
    return head + body


def _framing(answer: Answer, plan: Plan, http_1_0: bool) -> str:
    if "close-delimited" in plan:
        return "close"
    has_length = any(name == "Content-Length" for name, _ in answer.headers)  # that of a HEAD
    if "content-length" in plan and not has_length:
        return "length"
    if answer.framing == "none":
        return "none"
    if "chunked" in plan:
        return "chunked"
    return "close" if http_1_0 and answer.framing == "chunked" else answer.framing


def _frame(content: bytes, framing: str, plan: Plan) -> tuple[list[str], bytes]:
    if framing in ("close", "none"):
        return [], content
    if framing == "length":
        return [f"Content-Length: {len(content)}"], content
    header = ["Transfer-Encoding: chunked"]
    if "chunked" not in plan:
        chunk = b"%x\r\n%s\r\n" % (len(content), content) if content else b""
        return header, chunk + b"0\r\n\r\n"
    size = plan["chunked"]
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    chunks = b"".join(b'%x;note="HiveStub"\r\n%s\r\n' % (len(piece), piece) for piece in pieces)
    return header, chunks + b"0\r\nX-Trailer: end\r\n\r\n"


def send(stream: Stream, data: bytes, plan: Plan, stopping: threading.Event) -> None:
    """Interim answers, then the final one, whole or byte by byte."""
    for number in range(plan.get("interim", 0)):
        _write(stream, INTERIM[number % len(INTERIM)], plan, stopping)
    _write(stream, data, plan, stopping)


def _write(stream: Stream, data: bytes, plan: Plan, stopping: threading.Event) -> None:
    if "split-answer" not in plan:
        stream.send(data)
        return
    for position in range(len(data)):
        stream.send(data[position : position + 1])
        if stopping.wait(plan["split-answer"] / 1000):
            return
