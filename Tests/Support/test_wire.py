"""The reader of passing bytes finds every message, however the bytes are cut."""

from __future__ import annotations

from collections import deque

import pytest
import wire
from line import Point

CREATION = b"POST /files/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nUpload-Length: 20\r\n\r\n"
FIRST = b"PATCH /files/1 HTTP/1.1\r\nHost: a\r\nupload-offset: 0\r\nContent-Length: 12\r\n\r\nGET / HTTP/1"  # a body like a head
SECOND = b"PATCH /files/1 HTTP/1.1\r\nHost: a\r\nUpload-Offset: 12\r\nContent-Length: 8\r\n\r\nabcdefgh"
OFFSET = b"HEAD /files/1 HTTP/1.1\r\nHost: a\r\n\r\n"
FINALIZE = b"POST /api/uploads/finalize HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
FORM = b"POST /api/uploads.php?ui=json HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n123"
JOIN = b"POST /files/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nUpload-Concat: final;/files/1 /files/2\r\n\r\n"
REQUESTS = CREATION + FIRST + SECOND + OFFSET + FINALIZE + FORM

ANSWERS = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nLocation: /files/1\r\nContent-Length: 0\r\n\r\n"
    b"HTTP/1.1 104 Resumption\r\n\r\nHTTP/1.1 204 No Content\r\nUpload-Offset: 12\r\n\r\n"
    b"HTTP/1.1 423 Locked\r\nContent-Length: 4\r\n\r\nbusy"
    b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"
    b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n{}\n\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
    b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
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
            (wire.FORM, None, 3),
        ]  # fmt: skip
        assert ends == [e.kind for e in found]


def test_what_joins_uploads_is_no_creation():
    for value, kind in ((b"final;/files/1 /files/2", wire.JOIN), (b"partial", wire.CREATION)):
        head = CREATION.replace(b"Upload-Length: 20", b"Upload-Concat: " + value)
        (segment,) = wire.Requests(0, deque()).feed(head)
        assert segment.exchange.kind == kind


def test_answers_are_found_at_every_split():
    for pieces in splits(ANSWERS):
        found, ends = read([REQUESTS], pieces)
        assert [e.status for e in found] == [201, 204, 423, 200, 201, 201] and len(ends) == 6
        assert [e.upload for e in found] == ["/files/1", "/files/1", "/files/1", "", "", ""]


@pytest.mark.parametrize(
    "head",
    [
        b"HELLO\r\n\r\n",
        b"PATCH /files/1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"PATCH /files/1 HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        pytest.param(b"x" * (wire.MAX_HEAD_BYTES + 1), id="too long"),
    ],
)
def test_a_message_that_cannot_be_followed_is_reported(head):
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
            place = point.place(len(piece), before, requests.feed(piece))
            if found is None and place is not None:
                found = before + place
            before += len(piece)
        assert found == len(expected)
