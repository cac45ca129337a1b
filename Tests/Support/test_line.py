"""The line changes nothing, cuts at the byte that was ordered, and counts what passed."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time

import line
import pytest
import wire
from line import MOST_SWALLOWED_BYTES, Conduct, Line, Point, Trouble

BODY = random.Random(1).randbytes(3_000_000)
REQUEST = b"PATCH /files/1 HTTP/1.1\r\nHost: a\r\nUpload-Offset: 0\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
HEAD_BYTES = len(REQUEST) - len(BODY)
ANSWER = b"HTTP/1.1 204 No Content\r\nUpload-Offset: %d\r\n\r\n" % len(BODY)
ENDED, RESET = "ended", "reset"


class Peer:
    """A server that takes one connection after the other, answers once `answers_after` bytes are in, and notes it all."""

    def __init__(self, answers_after: int | None = len(REQUEST), closes: bool = False):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._answers_after, self._closes = answers_after, closes
        self.port = self._listener.getsockname()[1]
        self.received = bytearray()
        self.end = None
        self.over = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                with self._listener.accept()[0] as connection:
                    self._take(connection)

    def _take(self, connection: socket.socket) -> None:
        answers_after = self._answers_after
        try:
            while block := connection.recv(65536):
                self.received += block
                if answers_after is not None and len(self.received) >= answers_after:
                    connection.sendall(ANSWER if self._answers_after else b"")
                    answers_after = None
                    if self._closes:
                        break
            self.end = ENDED
        except OSError:
            self.end = RESET
        self.over.set()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def talk(port: int, data: bytes = REQUEST) -> tuple[bytes, str]:
    """Sends, then reads until the connection is over. Returns the answer, and how it ended."""
    answer, end = b"", ENDED
    with socket.create_connection(("127.0.0.1", port)) as sock:
        try:
            sock.sendall(data)
        except OSError:
            end = RESET  # the kernel says it once only
        try:
            while len(answer) < len(ANSWER):
                block = sock.recv(65536)
                if not block:
                    return answer, end
                answer += block
        except OSError:
            return answer, RESET
    return answer, ""


def http(peer: Peer, treatment: Conduct = Conduct(), **options) -> Line:
    return Line(peer.port, lambda number: treatment, reads_http=True, **options)


def trouble(what: str, point: Point, seconds: float = 0.0) -> Conduct:
    return Conduct(trouble=Trouble(what, point, seconds))


@pytest.mark.parametrize(
    "treatment",
    [
        Conduct(crumbs=500, latency=0.001, accept_delay=0.01),
        Conduct(block_bytes=61_441, bytes_per_second=100e6),
        trouble(line.STALL, Point(1_234_567), 0.1),
        trouble(line.STALL, Point(3, wire.PATCH, is_answer=True), 0.1),
    ],
    ids=["crumbs", "rate", "stall", "stalled answer"],
)
def test_nothing_is_changed(treatment):
    with Peer() as peer, http(peer, treatment) as way:
        assert talk(way.port) == (ANSWER, "")
        peer.over.wait(5)
    assert peer.received == REQUEST
    assert [(e.body_bytes, e.status, e.answer_bytes) for e in way.exchanges] == [(len(BODY), 204, len(ANSWER))]
    assert (way.taken, way.passed) == (len(REQUEST), len(REQUEST))
    assert not way.interruptions and not way.problems


CUTS = [
    (line.RESET, RESET, RESET),
    (line.CLOSE, ENDED, ENDED),
    (line.RESET_CLIENT, RESET, ENDED),
    (line.RESET_SERVER, ENDED, RESET),
    (line.SWALLOW, RESET, RESET),
]


@pytest.mark.parametrize("what, client_end, server_end", CUTS)
@pytest.mark.parametrize("count", [0, 1, 1_234_567])
def test_a_cut_comes_after_exactly_so_many_bytes(what, client_end, server_end, count):
    with Peer(None) as peer, http(peer, trouble(what, Point(count, wire.PATCH), 0.3)) as way:
        answer, end = talk(way.port)
        peer.over.wait(5)
    # A reset may destroy what the server has not read; it never adds.
    assert len(peer.received) <= way.passed == HEAD_BYTES + count
    if server_end == ENDED:
        assert len(peer.received) == HEAD_BYTES + count
    assert REQUEST.startswith(bytes(peer.received))
    # What was on its way to a client that was still sending can turn a FIN into an RST.
    assert answer == b"" and end in (client_end, RESET) and peer.end == server_end
    assert [interruption.what for interruption in way.interruptions] == [what]


def test_the_answer_still_passes_after_a_half_close():
    with Peer(HEAD_BYTES + 1000) as peer, http(peer, trouble(line.HALF_CLOSE, Point(1000, wire.PATCH))) as way:
        assert talk(way.port, REQUEST[:100_000])[0] == ANSWER
        peer.over.wait(5)
    assert (len(peer.received), peer.end) == (HEAD_BYTES + 1000, ENDED)


@pytest.mark.parametrize("what", [line.SWALLOW, line.HALF_CLOSE])
def test_swallowed_bytes_count_as_sent_and_are_limited(what):
    with Peer(None) as peer, http(peer, trouble(what, Point(0, wire.PATCH), 0.5)) as way:
        talk(way.port)
    assert way.exchanges[0].body_bytes <= MOST_SWALLOWED_BYTES + (128 << 10) < len(BODY)
    assert way.exchanges[0].body_bytes >= MOST_SWALLOWED_BYTES or what == line.HALF_CLOSE
    assert way.passed == HEAD_BYTES


@pytest.mark.parametrize("count", [0, 1, len(ANSWER) - 1])
def test_an_answer_is_lost_where_ordered(count):
    with Peer() as peer, http(peer, trouble(line.CLOSE, Point(count, wire.PATCH, is_answer=True))) as way:
        assert talk(way.port) == (ANSWER[:count], ENDED)
    assert peer.received == REQUEST
    assert [interruption.is_open for interruption in way.interruptions] == [True]


@pytest.mark.parametrize("counts_from, expected", [(0.05, [line.STALL]), (0.5, [])])
def test_a_long_stall_is_an_interruption_and_a_short_one_is_none(counts_from, expected):
    with Peer() as peer, http(peer, trouble(line.STALL, Point(50_000), 0.1), stall_counts_from=counts_from) as way:
        assert talk(way.port) == (ANSWER, "")
    # On a busy machine, the line itself can be late.
    assert [interruption.what for interruption in way.interruptions if interruption.what != line.OVERLOAD] == expected


@pytest.mark.parametrize("answers_after, expected", [(100_000, []), (0, [line.SERVER_CUT])], ids=["answered", "silent"])
def test_a_server_that_ends_a_request_interrupts_it(answers_after, expected):
    with Peer(answers_after, closes=True) as peer, http(peer) as way:
        talk(way.port)
    assert [interruption.what for interruption in way.interruptions] == expected


def test_without_a_server_the_client_is_refused():
    with Peer() as peer:
        pass
    with http(peer) as way:
        assert talk(way.port) == (b"", RESET)
    assert len(way.refusals) == 1 and not way.interruptions


def test_an_order_is_carried_out_once_and_at_its_point():
    seen = []
    with Peer(None) as peer, http(peer) as way:
        way.when(Point(1_000_000), lambda: seen.append(("bytes", way.passed)))
        way.when(Point(None, wire.PATCH), lambda: seen.append(("body", way.passed)))
        never = way.when(Point(0, wire.FINALIZE), lambda: seen.append(("never", 0)))
        way.take_back(way.when(Point(5), lambda: seen.append(("taken back", 0))))
        with socket.create_connection(("127.0.0.1", way.port)) as sock:
            sock.sendall(REQUEST)
        peer.over.wait(5)
    assert seen == [("bytes", 1_000_000), ("body", len(REQUEST))] and not never.is_done


def wait_for(condition) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_held_connection_ends_when_it_is_dropped():
    with Peer() as peer, Line(peer.port) as way:
        held = way.strike(Trouble(line.HOLD, Point(1_000_000)))
        with socket.create_connection(("127.0.0.1", way.port)) as sock:
            sock.sendall(REQUEST[:1_000_100])
            wait_for(lambda: held.is_done and len(peer.received) == 1_000_000)
            assert not peer.over.is_set()
            way.drop()
            assert peer.over.wait(5)
    assert (way.passed, way.connections, peer.end) == (1_000_000, 1, ENDED)


def test_nothing_passes_a_line_that_is_cut():
    with Peer() as peer, http(peer) as way:
        with socket.create_connection(("127.0.0.1", way.port)) as sock:
            sock.sendall(REQUEST[:1000])
            wait_for(lambda: len(peer.received) == 1000)
            way.cut()
            peer.over.wait(5)
            assert talk(way.port) == (b"", RESET)
        way.is_down = False
        assert peer.end == RESET and [each.what for each in way.interruptions] == [line.OUTAGE]
        assert talk(way.port)[0] == ANSWER
