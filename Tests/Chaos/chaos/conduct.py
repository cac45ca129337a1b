"""The faults of a connection: drawn by the plan, carried out by the proxy."""

from __future__ import annotations

from dataclasses import dataclass

from .wire import Segment

RESET, CLOSE, RESET_CLIENT, RESET_SERVER, HALF_CLOSE = "reset", "close", "reset-client", "reset-server", "half-close"
SWALLOW, STALL = "swallow", "stall"
SERVER_CUT, OVERLOAD = "server", "overload"
"""What else interrupts: the server ends a connection; it takes nothing for so long that the client may give up."""
TROUBLES = {
    RESET: "RST to both sides; what was not passed on is gone",
    CLOSE: "FIN to both sides",
    RESET_CLIENT: "RST to the client, FIN to the server",
    RESET_SERVER: "FIN to the client, RST to the server",
    HALF_CLOSE: "FIN to the server, whose answer still passes; what the client sends is thrown away",
    SWALLOW: "takes up to a MiB of what the client sends and passes nothing on, then RST to both sides",
    STALL: "accepts and forwards nothing for a time, then continues",
}


@dataclass(frozen=True)
class Point:
    """A place in the bytes of a connection (or of a round: see Proxy.when)."""

    count: int | None
    """How many bytes of what is named below have passed; None: all of them."""
    kind: str | None = None
    """A kind of request (wire.KINDS): counted in the first such request's body. None: all bytes of the client."""
    is_answer: bool = False
    """Counted in the answer to such a request instead."""

    def position(self, segment: Segment, before: int) -> int | None:
        """Where in the block this point lies, if it lies in the segment. `before`: the client's bytes that had passed
        before the block; it counts only where no kind is named."""
        if self.kind is None:
            place = (self.count or 0) - before
            return max(place, segment.start) if not segment.is_answer and place <= segment.end else None
        if segment.exchange is None or segment.exchange.kind != self.kind or segment.is_answer != self.is_answer:
            return None
        if self.count is None:
            return segment.end if segment.ends_message else None
        if segment.is_head:
            return segment.end if self.count == 0 and segment.ends_head else None
        place = self.count - segment.first
        return segment.start + place if 0 <= place <= segment.end - segment.start else None

    def __str__(self) -> str:
        count = "all" if self.count is None else self.count
        of = "the client's bytes" if self.kind is None else f"the {'answer' if self.is_answer else 'body'} of {self.kind}"
        return f"after {count} of {of}"


@dataclass(frozen=True)
class Trouble:
    what: str
    point: Point
    seconds: float = 0.0
    """How long a stall or a swallowing lasts."""

    def __str__(self) -> str:
        return f"{self.what} {self.point}" + (f" for {self.seconds:.1f} s" if self.seconds else "")


@dataclass(frozen=True)
class Conduct:
    accept_delay: float = 0.0
    """Seconds between a connection's coming and the first byte that is taken from it."""
    latency: float = 0.0
    """Seconds that the beginning of each request and of each answer is held back."""
    bytes_per_second: float | None = None
    block_bytes: int = 64 << 10
    """The most that is taken, and so held, at a time."""
    crumbs: int = 0
    """So many of each message's first bytes pass one, two or three at a time."""
    trouble: Trouble | None = None

    def __str__(self) -> str:
        rate = f"{self.bytes_per_second / 1e6:.0f} MB/s" if self.bytes_per_second else "no limit"
        return (
            f"accept +{self.accept_delay * 1000:.0f} ms, latency {self.latency * 1000:.0f} ms, {rate}, "
            f"blocks {self.block_bytes}, crumbs {self.crumbs}, trouble: {self.trouble or 'none'}"
        )


CALM = Conduct()


@dataclass(frozen=True)
class Interruption:
    """Something that ended a connection, or held it up, without the client's doing."""

    time: float
    what: str
    connection: int | None = None
    is_open: bool = True
    """Whether a request was in flight. Without one there is nothing to send again."""


def place_of(point: Point, segments: list[Segment], before: int) -> int | None:
    places = (point.position(segment, before) for segment in segments)
    return next((place for place in places if place is not None), None)
