"""The reader of passing bytes finds every message, however the bytes are cut."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chaos import wire  # noqa: E402
from chaos.conduct import Point  # noqa: E402

CREATION = b"POST /files/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nUpload-Length: 20\r\n\r\n"
FIRST = b"PATCH /files/1 HTTP/1.1\r\nHost: a\r\nupload-offset: 0\r\nContent-Length: 12\r\n\r\n" + b"GET / HTTP/1."
SECOND = b"PATCH /files/1 HTTP/1.1\r\nHost: a\r\nUpload-Offset: 12\r\nContent-Length: 8\r\n\r\n" + b"abcdefgh"
OFFSET = b"HEAD /files/1 HTTP/1.1\r\nHost: a\r\n\r\n"
FINALIZE = b"POST /api/uploads/finalize HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
FIRST = FIRST[:-1]  # a body that looks like a head: 12 bytes
REQUESTS = CREATION + FIRST + SECOND + OFFSET + FINALIZE

ANSWERS = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nLocation: /files/1\r\nContent-Length: 0\r\n\r\n"
    b"HTTP/1.1 104 Resumption\r\n\r\nHTTP/1.1 204 No Content\r\nUpload-Offset: 12\r\n\r\n"
    b"HTTP/1.1 423 Locked\r\nContent-Length: 4\r\n\r\nbusy"
    b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"
    b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n{}\n\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
)


def read(pieces: list[bytes], answers: list[bytes]):
    unanswered: deque[wire.Exchange] = deque()
    requests, reader = wire.Requests(7, unanswered), wire.Answers(unanswered)
    for piece in pieces:
        segments = requests.feed(piece)
        assert [segment.start for segment in segments] == [0, *(segment.end for segment in segments[:-1])]
        assert segments[-1].end == len(piece)
    ends = [segment.exchange.kind for piece in answers for segment in reader.feed(piece) if segment.ends_message]
    assert not unanswered
    return requests.all, ends


def splits(data: bytes):
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    for at in range(1, len(data)):
        yield [data[:at], data[at:]]


def test_requests_are_found_at_every_split():
    for pieces in splits(REQUESTS):
        found, ends = read(pieces, [ANSWERS])
        assert [(e.kind, e.offset, e.body_bytes) for e in found] == [
            (wire.CREATION, 0, 0), (wire.PATCH, 0, 12), (wire.PATCH, 12, 8), (wire.OFFSET, None, 0), (wire.FINALIZE, None, 2),
        ]  # fmt: skip
        assert ends == [e.kind for e in found]


def test_answers_are_found_at_every_split():
    for pieces in splits(ANSWERS):
        found, ends = read([REQUESTS], pieces)
        assert [e.status for e in found] == [201, 204, 423, 200, 201]
        assert len(ends) == 5


@pytest.mark.parametrize(
    "head",
    [
        b"HELLO\r\n\r\n",
        b"PATCH /files/1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"PATCH /files/1 HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        pytest.param(b"x" * (wire.MAX_HEAD_BYTES + 1), id="too long"),
    ],
)
def test_what_cannot_be_followed_is_said(head):
    with pytest.raises(wire.NotHTTP):
        wire.Requests(0, deque()).feed(head)


@pytest.mark.parametrize(
    "point, expected",
    [
        (Point(0, wire.PATCH), CREATION + FIRST[:-12]),
        (Point(5, wire.PATCH), CREATION + FIRST[:-7]),
        (Point(None, wire.PATCH), CREATION + FIRST),
        (Point(0, wire.OFFSET), CREATION + FIRST + SECOND + OFFSET),
        (Point(3), REQUESTS[:3]),
    ],
)
def test_a_point_is_the_same_byte_at_every_split(point, expected):
    for pieces in splits(REQUESTS):
        requests, before, found = wire.Requests(0, deque()), 0, None
        for piece in pieces:
            places = [point.position(segment, before) for segment in requests.feed(piece)]
            hit = next((place for place in places if place is not None), None)
            if found is None and hit is not None:
                found = before + hit
            before += len(piece)
        assert found == len(expected)
