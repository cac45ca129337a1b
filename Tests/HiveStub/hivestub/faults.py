"""Faults on demand: reads `[SCOPE/]NAME[=ARGUMENT][@COUNT]`, and makes the plan for a request.

A fault applies to every request of its scope; with `@COUNT` to the first COUNT of them only, which is
what tests of retries need, with `@FIRST-LAST` to those in that range (`@3-3` is the third alone, `@3-`
all from the third). Faults compose: those of the answer's content, coding, framing and writing are
applied one after the other; of those that end the exchange the earliest wins.
"""

from __future__ import annotations

import gzip
import re
import threading
import zlib

from .fault_arguments import BodyFault, EarlyStatus
from .fault_kinds import KINDS, usage
from .messages import Answer, Request, status_answer

TUS_KINDS = ("create", "join", "head", "patch", "terminate", "options")
SCOPES = ("tus", *TUS_KINDS, "finalize", "delete", "multipart", "asset", "media", "other")
"""Besides these, a scope may be a method in capitals; an overridden POST counts as what it stands for."""

_ORDER = re.compile(
    r"(?:(?P<scope>[A-Za-z]+)/)?(?P<name>[^=@]+)(?:=(?P<argument>.*?))?"
    r"(?:@(?P<first>[0-9]+)(?P<range>-(?P<last>[0-9]*))?)?", re.S)


class Fault:
    """A fault as it was ordered, and how many requests of its scope have come."""

    def __init__(self, order: str):
        match = _ORDER.fullmatch(order)
        self.name = match["name"] if match else order
        if self.name not in KINDS:
            raise ValueError(f"no fault is named {self.name!r}; there are: {', '.join(KINDS)}")
        kind = KINDS[self.name]
        try:
            self.argument = kind.parse(match["argument"] or "")
        except (ValueError, OSError) as problem:
            raise ValueError(f"fault {order!r}: {problem}; write {usage(self.name)}") from None
        self._scopes = _scopes(match["scope"]) if match["scope"] else kind.scopes
        self._first, self._last = _range(match)
        if kind.counts:
            self._last = self.argument
        self._seen = 0

    def meets(self, request: Request) -> bool:
        if self._scopes and request.kind not in self._scopes and request.effective_method not in self._scopes:
            return False
        self._seen += 1
        return self._first <= self._seen <= self._last


def _scopes(text: str) -> tuple[str, ...]:
    if text == "tus":
        return TUS_KINDS
    if text not in SCOPES and not text.isupper():
        raise ValueError(f"scope {text!r} is no method in capitals and none of {', '.join(SCOPES)}")
    return (text,)


def _range(match: re.Match) -> tuple[float, float]:
    if match["first"] is None:
        return 1, float("inf")
    number = int(match["first"])
    if match["range"] is None:
        return 1, number
    return number, int(match["last"]) if match["last"] else float("inf")


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

    def next_plan(self, request: Request) -> Plan:
        with self._lock:
            return Plan((fault.name, fault.argument) for fault in self._faults if fault.meets(request))


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
