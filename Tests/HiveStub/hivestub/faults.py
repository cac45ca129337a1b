"""Faults on demand: one table, a parser for `NAME[=ARGUMENT][@COUNT]`, and the plan for a request.

A fault applies to every request, or with `@COUNT` to the first COUNT requests only, which is what
tests of retries need. Faults compose: those of the answer's content, coding, framing and writing are
applied one after the other; of those that end the exchange the earliest wins.
"""

from __future__ import annotations

import gzip
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from .messages import Answer, status_answer

ENDINGS = ("lingering", "fin", "rst", "keep")


@dataclass(frozen=True)
class EarlyStatus:
    status: int
    ending: str


@dataclass(frozen=True)
class Redirect:
    status: int
    location: str


class BodyFault(Exception):
    """Strikes when `after` bytes of the body were read."""

    def __init__(self, name: str, after: int, early: EarlyStatus | None = None):
        super().__init__(name)
        self.name, self.after, self.early = name, after, early


@dataclass(frozen=True)
class Kind:
    """A row of the table: how the argument is written, read, and what the fault does."""

    argument: str
    parse: Callable[[str], object]
    meaning: str


def _early_status(text: str) -> EarlyStatus:
    status, _, ending = text.partition(":")
    ending = ending or "lingering"
    if ending not in ENDINGS:
        raise ValueError(f"ending {ending!r} is none of {', '.join(ENDINGS)}")
    return EarlyStatus(int(status), ending)


def _early_status_after(text: str) -> BodyFault:
    after, _, rest = text.partition(":")
    return BodyFault("early-status-after", int(after), _early_status(rest))


def _redirect(text: str) -> Redirect:
    status, _, location = text.partition(":")
    return Redirect(int(status), location)


def _flag(text: str) -> bool:
    if text:
        raise ValueError("it takes no argument")
    return True


def _or_default(parse: Callable, default) -> Callable[[str], object]:
    return lambda text: parse(text) if text else default


def _choice(default: str, *others: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text and text not in others:
            raise ValueError(f"{text!r} is not {' or '.join(others)}")
        return text or default

    return parse


def _body_fault(name: str) -> Callable[[str], BodyFault]:
    return lambda text: BodyFault(name, int(text))


KINDS: dict[str, Kind] = {
    "early-status": Kind(
        "CODE[:ENDING]",
        _early_status,
        "final answer from the headers alone, no body read, no 100; ENDING: lingering (FIN, read on; "
        "the default), fin (FIN, reads nothing, closes after 2 s), rst (SO_LINGER 0 once the answer "
        "is acknowledged), keep (no FIN, reads the body, keeps the connection)",
    ),
    "early-status-after": Kind(
        "BYTES:CODE[:ENDING]",
        _early_status_after,
        "the same after BYTES of the body",
    ),
    "reset-after": Kind("BYTES", _body_fault("reset-after"), "RST after BYTES of the body, no answer"),
    "close-after": Kind("BYTES", _body_fault("close-after"), "FIN after BYTES of the body, no answer"),
    "stall-after": Kind(
        "BYTES",
        _body_fault("stall-after"),
        "reads nothing more after BYTES of the body, keeps the connection open",
    ),
    "slow-read": Kind(
        "BYTES_PER_SECOND",
        float,
        "reads the body no faster than this, with a small receive buffer",
    ),
    "silent": Kind("", _flag, "reads all, never answers"),
    "delay-answer": Kind("SECONDS", float, "waits before the final answer"),
    "split-answer": Kind(
        "[MILLISECONDS]",
        _or_default(float, 0.2),
        "one byte a packet (and a TLS record), with a pause between them (0.2 ms)",
    ),
    "interim": Kind("N", int, "N interim answers (100, 103, 104, 100 ...) before the final one"),
    "gzip": Kind("", _flag, "Content-Encoding: gzip"),
    "deflate": Kind("", _flag, "Content-Encoding: deflate, zlib-wrapped (RFC 1950)"),
    "raw-deflate": Kind("", _flag, "Content-Encoding: deflate, without the zlib wrapper (RFC 1951)"),
    "close-delimited": Kind("", _flag, "HTTP/1.0 answer without a length, ended by the close"),
    "content-length": Kind("", _flag, "answer framed by Content-Length instead of chunked"),
    "chunked": Kind(
        "[BYTES]",
        _or_default(int, 7),
        "answer in chunks of BYTES (7), with a chunk extension and a trailer",
    ),
    "no-100": Kind("", _flag, "ignores Expect: 100-continue, waits for the body"),
    "417": Kind(
        "[close]",
        _choice("keep", "close"),
        "417 to a request with Expect, accepts it without; the connection stays, or closes",
    ),
    "100-late": Kind("[SECONDS]", _or_default(float, 3.0), "sends the 100 after 3 s"),
    "wrong-checksum": Kind("", _flag, "another checksum_sha256 (or sha256) in a 2xx answer"),
    "wrong-size": Kind("", _flag, "size_bytes (or size) one too large in a 2xx answer"),
    "garbage": Kind("", _flag, "bytes that are no HTTP instead of the answer"),
    "truncated": Kind("", _flag, "announces more content than it sends, then closes"),
    "conflicting-lengths": Kind("", _flag, "two different Content-Length headers"),
    "http-redirect": Kind(
        "CODE:LOCATION",
        _redirect,
        "redirect from the headers alone, unless the request is already for LOCATION; {n} in LOCATION"
        " counts up and {target} repeats the target (endless redirects)",
    ),
    "raw-answer": Kind(
        "FILE",
        lambda text: Path(text).read_bytes(),
        "the file's bytes instead of the final answer, then FIN",
    ),
    "no-close-notify": Kind("", _flag, "TLS connections end without close_notify"),
}


class Fault:
    """A fault as it was ordered, with the number of requests it still applies to."""

    def __init__(self, order: str):
        rest, _, count = order.rpartition("@") if _ends_in_count(order) else (order, "", "")
        self.name, _, argument = rest.partition("=")
        if self.name not in KINDS:
            raise ValueError(f"no fault is named {self.name!r}; there are: {', '.join(KINDS)}")
        try:
            self.argument = KINDS[self.name].parse(argument)
        except (ValueError, OSError) as problem:
            raise ValueError(f"fault {order!r}: {problem}; write {usage(self.name)}") from None
        self.left: float = int(count) if count else float("inf")


def _ends_in_count(order: str) -> bool:
    return "@" in order and order.rpartition("@")[2].isdigit()


class Plan(dict):
    """The faults of one request: name -> argument."""

    def body_faults(self) -> list[BodyFault]:
        # A fresh exception each time: tracebacks must not pile up on a shared one.
        kept = [value for value in self.values() if isinstance(value, BodyFault)]
        return [BodyFault(fault.name, fault.after, fault.early) for fault in kept]


class FaultList:
    """All faults that were ordered; hands out the plan for the next request. Thread-safe."""

    def __init__(self, orders):
        self._faults = [Fault(order) for order in orders]
        self._lock = threading.Lock()

    def next_plan(self) -> Plan:
        with self._lock:
            active = [fault for fault in self._faults if fault.left > 0]
            for fault in active:
                fault.left -= 1
            return Plan((fault.name, fault.argument) for fault in active)


def usage(name: str) -> str:
    argument = KINDS[name].argument
    if argument.startswith("["):
        return f"{name}[={argument[1:]}"
    return f"{name}={argument}" if argument else name


def falsify(answer: Answer, plan: Plan) -> None:
    """wrong-checksum and wrong-size: a success that is not about the bytes that were sent."""
    document = answer.document
    if document is None or not 200 <= answer.status < 300:
        return
    for key in ("checksum_sha256", "sha256"):
        if "wrong-checksum" in plan and key in document:
            first = "0" if document[key][0] != "0" else "1"
            document[key] = first + document[key][1:]
    for key in ("size_bytes", "size"):
        if "wrong-size" in plan and key in document:
            document[key] += 1


def encode(content: bytes, plan: Plan) -> tuple[bytes, str | None]:
    """The content in the coding that the plan orders, and the coding's name (RFC 9110 section 8.4.1)."""
    if "gzip" in plan:
        return gzip.compress(content), "gzip"
    if "deflate" in plan:
        return zlib.compress(content), "deflate"
    if "raw-deflate" in plan:
        compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return compressor.compress(content) + compressor.flush(), "deflate"
    return content, None


def early_answer(early: EarlyStatus) -> Answer:
    answer = status_answer(early.status)
    answer.close = early.ending != "keep"
    return answer
