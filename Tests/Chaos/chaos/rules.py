"""The rules of a round: from observations to findings."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from .conduct import STALL, Interruption
from .plan import MIB
from .wire import Exchange

CHUNK_BYTES = 8 * MIB
"""What an interruption may cost, in bytes of the file that are sent again: the promise."""

ALLOWANCE_BYTES = 0
"""What it may cost beyond. Only the bodies of requests that carry the file are counted, and exactly, so nothing is needed
for heads."""

REQUESTS_UNDER_WAY = 2
"""How many requests a client may send before the first one's answer: together they are one chunk."""

NETWORK_CODES = {4: "no connection", 9: "server failure", 11: "conflict"}
"""How a start may end while the network fails. The next one must resume."""

KILLED = -9
TRANSIENT = (408, 409, 423, 429, 500, 502, 503, 504, 400, 404, 410)
"""Answers that may follow from an interruption, and end a start that has no retries left."""


class Rule(Enum):
    DELIVERY = "not delivered"
    CONTENT = "other bytes than the file's"
    RECORDINGS = "not exactly one recording"
    AGAIN = "sent again"
    EXIT_CODE = "exit code"
    NO_REASON = "gave up without a reason"
    HANG = "hangs"
    OUTPUT = "output"
    STATE = "state"
    SECRET = "secret on disk"
    WIRE = "wire"
    HARNESS = "harness"


@dataclass(frozen=True)
class Finding:
    rule: Rule
    text: str

    def __str__(self) -> str:
        return f"{self.rule.value}: {self.text}"


@dataclass
class Start:
    """One start of the client, and how it ended."""

    began: float
    ended: float
    code: int
    resumes: bool = False
    was_killed: bool = False
    """Whether our kill -9 ended it."""
    hung: bool = False
    delivered: dict | None = None
    """Its last `delivered` event."""
    bad_lines: list[str] = field(default_factory=list)
    errors: str = ""
    output: str = ""


@dataclass
class Observation:
    """All that is known when a round is over."""

    size: int
    sha256: str
    starts: list[Start] = field(default_factory=list)
    recordings: list[dict] = field(default_factory=list)
    """What the server lists: sha256 and size."""
    stored: list[tuple[str, int]] = field(default_factory=list)
    """SHA-256 and size of the finished files in the server's store, by the harness's own reading."""
    exchanges: list[Exchange] = field(default_factory=list)
    interruptions: list[Interruption] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)
    outages: list[tuple[float, float]] = field(default_factory=list)
    """When the server was down."""
    states: list[str] = field(default_factory=list)
    """What the client's `list` says of each upload."""
    leaks: list[str] = field(default_factory=list)
    """Files of the state directory that hold the secret."""
    problems: list[str] = field(default_factory=list)
    """What went wrong in the proxy's reading: bytes that were no HTTP."""
    server_errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Fallback:
    """The client went back in the file: it sends bytes again."""

    exchange: Exchange
    bytes: int
    interruptions: int
    """How many interruptions happened since the request before it began."""


def judge(seen: Observation) -> list[Finding]:
    found = _judge_starts(seen)
    # An upload that was given up leaves behind what it leaves; one finding says that.
    if not any(finding.rule is Rule.DELIVERY for finding in found):
        found += _judge_server(seen) + _judge_state(seen)
    found += _judge_bytes(seen)
    found += [Finding(Rule.SECRET, name) for name in seen.leaks]
    found += [Finding(Rule.WIRE, problem) for problem in seen.problems]
    found += [Finding(Rule.HARNESS, error) for error in seen.server_errors]
    return found


def sent_again(seen: Observation) -> int:
    """Bytes of the file that passed more than once."""
    return sum(exchange.body_bytes for exchange in _carriers(seen)) - seen.size


def server_failures(seen: Observation) -> int:
    """Requests that carried bytes of the file and were answered by 5xx: they are interruptions, too."""
    return sum((exchange.status or 0) >= 500 for exchange in _carriers(seen))


def fallbacks(seen: Observation) -> list[Fallback]:
    """All places where the client went back. Their sum, less where it jumped ahead, is what was sent again."""
    found = []
    carriers = _carriers(seen)
    for before, exchange in zip(carriers, carriers[1:]):
        back = before.end - (exchange.offset or 0)
        if back > 0 and exchange.body_bytes:
            found.append(Fallback(exchange, back, _count_between(seen, before, exchange)))
    return found


def _count_between(seen: Observation, before: Exchange, exchange: Exchange) -> int:
    """Interruptions that can be why the one request was followed by the other. A connection may have been cut, or its
    client killed, when the request was on its way and the proxy did not know of it; a stall can be survived."""
    count = 0
    for interruption in seen.interruptions:
        is_new = before.connection != exchange.connection and interruption.what != STALL
        count += (before.connected if is_new else before.sent) <= interruption.time <= exchange.began
    return count


def _carriers(seen: Observation) -> list[Exchange]:
    """Requests that carried bytes of the file, in the order in which the client sent them."""
    carriers = [exchange for exchange in seen.exchanges if exchange.carries_file and exchange.body_bytes]
    return sorted(carriers, key=lambda exchange: (exchange.sent, exchange.began))


def _count(seen: Observation, after: float, until: float) -> int:
    return sum(after <= interruption.time <= until for interruption in seen.interruptions)


def _judge_server(seen: Observation) -> list[Finding]:
    found = []
    if len(seen.recordings) != 1:
        found.append(Finding(Rule.RECORDINGS, f"{len(seen.recordings)}: {seen.recordings}"))
    for recording in seen.recordings:
        if (recording.get("sha256"), recording.get("size")) != (seen.sha256, seen.size):
            found.append(Finding(Rule.CONTENT, f"listed as {recording}, the file is {seen.sha256}, {seen.size} bytes"))
    if seen.stored != [(seen.sha256, seen.size)]:
        found.append(Finding(Rule.CONTENT, f"stored {seen.stored}, the file is {seen.sha256}, {seen.size} bytes"))
    return found


def _judge_starts(seen: Observation) -> list[Finding]:
    found = []
    last = seen.starts[-1] if seen.starts else None
    # A kill can hit between the record's last change and the event. `list` says it then, and `resume` has nothing to do.
    was_silent = last and (last.was_killed or last.resumes and last.code == 0) and seen.states == ["delivered"]
    if not last or not (last.delivered or was_silent):
        found.append(Finding(Rule.DELIVERY, f"not after {len(seen.starts)} starts"))
    for number, start in enumerate(seen.starts, 1):
        found += [Finding(rule, f"start {number}: {text}") for rule, text in _judge_start(seen, start)]
    return found


def _judge_start(seen: Observation, start: Start):
    said = " ".join(start.errors.split())[-300:]
    if start.hung:
        yield Rule.HANG, f"no end after {start.ended - start.began:.0f} s. {said}"
        return
    for line in start.bad_lines:
        yield Rule.OUTPUT, f"no JSON event: {line[:100]!r}"
    if start.delivered:
        claimed = start.delivered.get("checksum_sha256")
        if claimed != seen.sha256:
            yield Rule.CONTENT, f"the client claims {claimed}, the file is {seen.sha256}"
        if start.code not in (0, KILLED):
            yield Rule.EXIT_CODE, f"{start.code} after it said delivered"
    if start.was_killed or start.code == 0:
        return
    if start.code not in NETWORK_CODES:
        yield Rule.EXIT_CODE, f"{start.code}. {said}"
    elif not _had_reason(seen, start):
        yield Rule.NO_REASON, f"{start.code} ({NETWORK_CODES[start.code]}), yet nothing had happened. {said}"


def _had_reason(seen: Observation, start: Start) -> bool:
    """Whether anything happened that a client may give up for. The upload may be locked since an earlier start was killed."""
    if _count(seen, start.began, start.ended) or any(start.began <= time <= start.ended for time in seen.refusals):
        return True
    if any(down <= start.ended and start.began <= up for down, up in seen.outages):
        return True
    during = [exchange for exchange in seen.exchanges if start.began <= exchange.began <= start.ended]
    return any(exchange.status in TRANSIENT for exchange in during)


def _judge_bytes(seen: Observation) -> list[Finding]:
    found = []
    allowed = CHUNK_BYTES + ALLOWANCE_BYTES
    count = sum(interruption.is_open for interruption in seen.interruptions) + server_failures(seen)
    again = sent_again(seen)
    if again > count * allowed:
        found.append(Finding(Rule.AGAIN, f"{again} bytes in all, {count} interruptions allow {count * allowed}"))
    if again < 0 and seen.recordings:
        found.append(Finding(Rule.WIRE, f"{-again} bytes of the file did not pass the proxy"))
    for fallback in fallbacks(seen):
        at = f"by {fallback.exchange}"
        # A refusal (423, 409) can cost what was sent before it was read; the sum above does not grow by it.
        if fallback.bytes > allowed:
            found.append(Finding(Rule.AGAIN, f"{fallback.bytes} bytes at once, {allowed} allowed, {at}"))
        elif not fallback.interruptions and not _was_refused(seen, fallback.exchange):
            found.append(Finding(Rule.AGAIN, f"{fallback.bytes} bytes, nothing had happened, {at}"))
    return found


def _was_refused(seen: Observation, exchange: Exchange) -> bool:
    """Whether the previous request, or the one that it was pipelined after, was refused."""
    carriers = _carriers(seen)
    position = next(number for number, other in enumerate(carriers) if other is exchange)
    before = carriers[max(0, position - REQUESTS_UNDER_WAY) : position]
    return any((each.status or 0) >= 400 and each.connection == before[-1].connection for each in before)


def _judge_state(seen: Observation) -> list[Finding]:
    if seen.states == ["delivered"]:
        return []
    return [Finding(Rule.STATE, f"`list` says {seen.states} instead of one delivered upload")]


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
