"""The proxy changes nothing, cuts at the byte that was ordered, and counts what passed."""

from __future__ import annotations

import random
import socket
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chaos import conduct, wire  # noqa: E402
from chaos.conduct import Conduct, Point, Trouble  # noqa: E402
from chaos.connection import MOST_SWALLOWED_BYTES  # noqa: E402
from chaos.proxy import Proxy  # noqa: E402

BODY = random.Random(1).randbytes(3_000_000)
REQUEST = b"PATCH /files/1 HTTP/1.1\r\nHost: a\r\nUpload-Offset: 0\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
HEAD_BYTES = len(REQUEST) - len(BODY)
ANSWER = b"HTTP/1.1 204 No Content\r\nUpload-Offset: %d\r\n\r\n" % len(BODY)
ENDED, RESET = "ended", "reset"


class Peer:
    """A server that takes one connection after the other, answers once `answers_after` bytes are in, and notes it all."""

    def __init__(self, answers_after: int | None = len(REQUEST), closes: bool = False, reads: bool = True):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._answers_after, self._closes, self._reads = answers_after, closes, reads
        self.port = self._listener.getsockname()[1]
        self.received = bytearray()
        self.end = None
        self.over = threading.Event()
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            while True:
                self._take(self._listener.accept()[0])
        except OSError:
            pass

    def _take(self, connection: socket.socket) -> None:
        self._connections.append(connection)
        if not self._reads:
            return
        answers_after = self._answers_after
        try:
            while block := connection.recv(65536):
                self.received += block
                if answers_after is not None and len(self.received) >= answers_after:
                    connection.sendall(ANSWER)
                    answers_after = None
                    if self._closes:
                        break
            self.end = ENDED
        except OSError:
            self.end = RESET
        if self._closes or self.end != ENDED:
            connection.close()
        else:
            connection.shutdown(socket.SHUT_WR)
        self.over.set()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            connection.close()


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


def with_trouble(what: str, point: Point, seconds: float = 0.0):
    return lambda number: Conduct(trouble=Trouble(what, point, seconds))


@pytest.mark.parametrize(
    "treatment",
    [
        Conduct(),
        Conduct(crumbs=500, latency=0.001, accept_delay=0.01),
        Conduct(block_bytes=61_441, bytes_per_second=100e6),
        Conduct(block_bytes=4097, crumbs=7),
        Conduct(trouble=Trouble(conduct.STALL, Point(1_234_567), 0.1)),
        Conduct(trouble=Trouble(conduct.STALL, Point(3, wire.PATCH, is_answer=True), 0.1)),
    ],
    ids=str,
)
def test_nothing_is_changed(treatment):
    with Peer() as peer, Proxy(peer.port, lambda number: treatment) as proxy:
        assert talk(proxy.port) == (ANSWER, "")
        peer.over.wait(5)
    assert peer.received == REQUEST
    assert [(e.body_bytes, e.status, e.answer_bytes) for e in proxy.exchanges] == [(len(BODY), 204, len(ANSWER))]
    assert not proxy.interruptions and not proxy.problems


@pytest.mark.parametrize(
    "what, client_end, server_end",
    [
        (conduct.RESET, RESET, RESET),
        (conduct.CLOSE, ENDED, ENDED),
        (conduct.RESET_CLIENT, RESET, ENDED),
        (conduct.RESET_SERVER, ENDED, RESET),
        (conduct.SWALLOW, RESET, RESET),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 1_234_567])
def test_a_cut_comes_after_exactly_so_many_bytes(what, client_end, server_end, count):
    point = Point(count, wire.PATCH)
    with Peer(None) as peer, Proxy(peer.port, with_trouble(what, point, 0.3)) as proxy:
        answer, end = talk(proxy.port)
        peer.over.wait(5)
    # A reset may destroy what the server has not read; it never adds.
    assert len(peer.received) <= HEAD_BYTES + count
    if server_end == ENDED:
        assert len(peer.received) == HEAD_BYTES + count
    assert REQUEST.startswith(bytes(peer.received))
    assert answer == b""
    # What was on its way to a client that was still sending can turn a FIN into an RST.
    assert end in (client_end, RESET)
    assert peer.end == server_end
    assert [interruption.what for interruption in proxy.interruptions] == [what]


def test_the_answer_still_passes_after_a_half_close():
    with Peer(HEAD_BYTES + 1000) as peer:
        with Proxy(peer.port, with_trouble(conduct.HALF_CLOSE, Point(1000, wire.PATCH))) as proxy:
            assert talk(proxy.port, REQUEST[:100_000])[0] == ANSWER
            peer.over.wait(5)
    assert (len(peer.received), peer.end) == (HEAD_BYTES + 1000, ENDED)


def test_what_is_swallowed_counts_as_sent_and_is_limited():
    with Peer(None) as peer, Proxy(peer.port, with_trouble(conduct.SWALLOW, Point(0, wire.PATCH), 0.5)) as proxy:
        talk(proxy.port)
    assert MOST_SWALLOWED_BYTES <= proxy.exchanges[0].body_bytes <= MOST_SWALLOWED_BYTES + (128 << 10) < len(BODY)
    assert len(peer.received) <= HEAD_BYTES


@pytest.mark.parametrize("count", [0, 1, len(ANSWER) - 1])
def test_an_answer_is_lost_where_ordered(count):
    point = Point(count, wire.PATCH, is_answer=True)
    with Peer() as peer, Proxy(peer.port, with_trouble(conduct.CLOSE, point)) as proxy:
        assert talk(proxy.port) == (ANSWER[:count], ENDED)
    assert peer.received == REQUEST
    assert [interruption.is_open for interruption in proxy.interruptions] == [True]


def test_a_long_stall_is_an_interruption_and_a_short_one_is_none():
    for counts_from, expected in ((0.05, [conduct.STALL]), (0.5, [])):
        stall = with_trouble(conduct.STALL, Point(50_000), 0.1)
        with Peer() as peer, Proxy(peer.port, stall, stall_counts_from=counts_from) as proxy:
            assert talk(proxy.port) == (ANSWER, "")
        # On a busy machine, the proxy itself can be late.
        found = [interruption.what for interruption in proxy.interruptions]
        assert [what for what in found if what != conduct.OVERLOAD] == expected


def test_a_server_that_ends_a_request_interrupts_it():
    with Peer(answers_after=100_000, closes=True) as peer, Proxy(peer.port) as proxy:
        talk(proxy.port)
    assert not proxy.interruptions  # it had answered

    class Silent(Peer):
        def _take(self, connection):
            connection.recv(1000)
            connection.close()

    with Silent() as peer, Proxy(peer.port) as proxy:
        talk(proxy.port)
    assert [interruption.what for interruption in proxy.interruptions] == ["server"]


def test_without_a_server_the_client_is_refused():
    with Peer() as peer:
        port = peer.port
    with Proxy(port) as proxy:
        assert talk(proxy.port) == (b"", RESET)
    assert len(proxy.refusals) == 1 and not proxy.interruptions


def test_an_order_is_carried_out_once_and_at_its_point():
    seen = []
    with Peer(None) as peer, Proxy(peer.port) as proxy:
        proxy.when(Point(1_000_000), lambda: seen.append(("bytes", proxy.taken_bytes)))
        proxy.when(Point(None, wire.PATCH), lambda: seen.append(("body", proxy.taken_bytes)))
        proxy.when(Point(0, wire.FINALIZE), lambda: seen.append(("never", 0)))
        take_back = proxy.when(Point(5), lambda: seen.append(("taken back", 0)))
        take_back()
        with socket.create_connection(("127.0.0.1", proxy.port)) as sock:
            sock.sendall(REQUEST)
        peer.over.wait(5)
    assert [name for name, _ in seen] == ["bytes", "body"]
    assert 1_000_000 <= seen[0][1] <= 1_000_000 + (64 << 10) and seen[1][1] == len(REQUEST)


# The long line.
