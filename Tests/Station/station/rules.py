"""The rules of a round: from observations to findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Iterator

from line import STALL, Interruption
from wire import FORM, JOIN, Exchange

from .plan import REMOVE, KEEP, MIB, MOVE, RELOAD

CHUNK_BYTES = 8 * MIB
"""What an interruption may cost, in bytes of the file that are sent again: the promise. Only the bodies of requests that carry
the file are counted, and exactly, so nothing is allowed for heads."""

REQUESTS_UNDER_WAY = 2
"""How many requests a client may send before the first one's answer: together they are one chunk."""

NETWORK_CODES = {4: "no connection", 9: "server failure", 11: "conflict"}
"""How a start may end while the network fails. The next one must resume."""

KILLED = -9
TRANSIENT = (408, 409, 423, 429, 500, 502, 503, 504, 400, 404, 410)
"""Answers that may follow from an interruption, and end a start that has no retries left."""


class Rule(Enum):
    DELIVERY = "not reported as delivered"
    MISSING = "a recording is not on the server"
    TWICE = "a recording is on the server more than once"
    STRANGE = "something is on the server that was never a complete recording"
    CONTENT = "other bytes than the recording's"
    EVENT = "another event or label than was asked for"
    REMOVED = "a recording was removed before the server had it, or though nobody asked for it"
    PLACE = "a delivered recording is not where it should be"
    AGAIN = "sent again"
    LIVE = "nothing was sent while it was made"
    EXIT_CODE = "exit code"
    NO_REASON = "gave up without a reason"
    HANG = "hangs"
    OUTPUT = "output"
    STATE = "list or status"
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
class Written:
    """A recording that is complete."""

    sha256: str
    size: int
    path: Path
    """Where it is now, as long as nobody but its writer has moved it."""
    labels: set[str]
    """What it may be called on the server."""
    event: str
    """The `org-name` that it must have there."""
    is_required: bool = True
    """False for one that its writer has gone on with: it may have been delivered as it was."""
    removal: str = ""
    """What becomes of it after its delivery (plan.REMOVALS)."""
    rewritten: int = 0
    """How often its recorder has written something again that may have been sent before."""
    stems: set[str] = field(default_factory=set)
    """All its names without their extensions: an upload can have begun under any of them."""
    formers: set[str] = field(default_factory=set)
    """Paths that it had before."""

    def named(self, paths: set[Path], labels: list[str]) -> None:
        """It has other paths, or is sent with other labels now."""
        self.stems |= {path.stem for path in paths}
        self.formers |= {str(path) for path in paths} - {str(self.path)}
        self.labels |= {label.format(stem=stem) for label in labels for stem in self.stems}

    @property
    def goes(self) -> bool:
        """Whether it must not stay after its delivery."""
        return self.is_required and self.removal in (REMOVE, MOVE)


@dataclass
class Start:
    """One start of `send` or `resume`, and how it ended."""

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
class Traffic:
    """What a line has seen, or a test has made up."""

    exchanges: list[Exchange] = field(default_factory=list)
    interruptions: list[Interruption] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def carriers(self) -> list[Exchange]:
        """Requests that carried bytes of a recording, in the order in which the client sent them."""
        carriers = [exchange for exchange in self.exchanges if exchange.carries_file and exchange.body_bytes]
        return sorted(carriers, key=lambda exchange: (exchange.sent, exchange.began))

    @property
    def joins(self) -> int:
        """How often the server has made a recording of the parts that were sent while it was made."""
        return sum(exchange.kind == JOIN and exchange.status == 201 for exchange in self.exchanges)

    @property
    def server_failures(self) -> int:
        """Requests that carried bytes of a recording and were answered by 5xx: they are interruptions, too."""
        return sum((exchange.status or 0) >= 500 for exchange in self.carriers)

    def allowances(self, *but: str) -> int:
        """How often something may be sent again, but for interruptions that the sender can wait for."""
        return sum(each.is_open and each.what not in but for each in self.interruptions) + self.server_failures


@dataclass
class Observation:
    """All that is known when a round is over."""

    written: dict[str, Written] = field(default_factory=dict)
    """By digest."""
    starts: list[Start] = field(default_factory=list)
    recordings: list[dict] = field(default_factory=list)
    """What the server lists."""
    stored: list[tuple[str, str, int]] = field(default_factory=list)
    """Digest in the name, digest and size of the finished files in the server's store, by the harness's own reading."""
    traffic: Traffic = field(default_factory=Traffic)
    outages: list[tuple[float, float]] = field(default_factory=list)
    """When the server was down."""
    is_live: bool = False
    """Whether recordings were to be sent while they were made."""
    uploads: list[dict] = field(default_factory=list)
    """What `list` says of each upload."""
    moved: set[str] = field(default_factory=set)
    """Digests of what is in the directories of `--after move`."""
    leaks: list[str] = field(default_factory=list)
    """Files in the program's home that hold the secret."""
    server_errors: list[str] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)
    """What was found while the round went on."""

    @property
    def states(self) -> list[str]:
        return [str(upload.get("state")) for upload in self.uploads]


def judge_upload(seen: Observation) -> list[Finding]:
    """Of a round with one file."""
    found = _judge_starts(seen)
    # An upload that was given up leaves behind what it leaves; one finding says that.
    if not any(finding.rule is Rule.DELIVERY for finding in found):
        found += judge_server(seen)
        if seen.states != ["delivered"]:
            found.append(Finding(Rule.STATE, f"`list` says {seen.uploads} instead of one delivered upload"))
    return found + judge_bytes(seen, is_one_upload=True) + _judge_rest(seen)


def judge_watch(seen: Observation) -> list[Finding]:
    """Of a round with a watcher."""
    found = judge_server(seen) + judge_bytes(seen, is_one_upload=False) + _judge_rest(seen) + _judge_places(seen)
    # An attempt at what its writer has gone on with may have failed.
    outdated = {(str(each.path), each.size) for each in seen.written.values() if not each.is_required}
    left = [upload for upload in seen.uploads if upload["state"] != "delivered" and (upload["file"], upload["total"]) not in outdated]
    if seen.is_live:
        # What was begun and killed before a byte was sent does not find a file that has grown and got another name.
        formers = {former for each in seen.written.values() for former in each.formers}
        left = [upload for upload in left if upload["file"] not in formers or upload["bytes"] or upload["file_state"] != "gone"]
    return found + [Finding(Rule.STATE, f"`list` says {upload}") for upload in left]


def judge_live(rounds: list[Observation]) -> list[Finding]:
    """Of all rounds together: on a busy machine, a recorder may be done before the watcher has seen how its file grows."""
    live = [seen for seen in rounds if seen.is_live]
    if not live or any(seen.traffic.joins for seen in live):
        return []
    return [Finding(Rule.LIVE, f"{sum(len(seen.recordings) for seen in live)} recordings, and none was made of parts")]


def _judge_rest(seen: Observation) -> list[Finding]:
    found = [Finding(Rule.SECRET, name) for name in seen.leaks] + [Finding(Rule.WIRE, each) for each in seen.traffic.problems]
    return seen.found + found + [Finding(Rule.HARNESS, error) for error in seen.server_errors]


# What is there.


def judge_server(seen: Observation) -> list[Finding]:
    """Each recording is there once and whole, for its event, and nothing else is."""
    counts = Counter(recording["sha256"] for recording in seen.recordings)
    found = [
        Finding(Rule.MISSING, str(each.path)) for each in seen.written.values() if each.is_required and not counts[each.sha256]
    ]
    found += [Finding(Rule.TWICE, f"{digest}, {count} times") for digest, count in counts.items() if count > 1]
    for recording in seen.recordings:
        written = seen.written.get(recording["sha256"])
        if written is None:
            found.append(Finding(Rule.STRANGE, str(recording)))
        elif recording["label"] not in written.labels or recording["org_name"] != written.event:
            found.append(Finding(Rule.EVENT, f"{recording}, not one of {written.labels} of {written.event}"))
        elif recording["size"] != written.size:
            found.append(Finding(Rule.CONTENT, f"{written.path} has {written.size} bytes, on the server {recording['size']}"))
    for digest in counts:
        if (digest, digest) not in {(name, content) for name, content, _ in seen.stored}:
            found.append(Finding(Rule.CONTENT, f"{digest} is listed, but its bytes are not in the store"))
    return found + [Finding(Rule.STRANGE, f"{name} in the store") for name, _, _ in seen.stored if name not in counts]


def _judge_places(seen: Observation) -> list[Finding]:
    found = []
    delivered = {recording["sha256"] for recording in seen.recordings}
    for each in seen.written.values():
        is_there = each.path.exists()
        if not is_there and each.is_required and each.removal == KEEP:
            found.append(Finding(Rule.REMOVED, str(each.path)))
        elif each.sha256 not in delivered or not each.is_required:
            continue
        elif is_there and each.goes:
            found.append(Finding(Rule.PLACE, f"{each.path} is still there"))
        elif not is_there and each.removal == MOVE and each.sha256 not in seen.moved:
            found.append(Finding(Rule.PLACE, f"{each.path} is not in the directory of delivered recordings"))
    return found


# Starts.


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


def _judge_start(seen: Observation, start: Start) -> Iterator[tuple[Rule, str]]:
    said = " ".join(start.errors.split())[-300:]
    if start.hung:
        yield Rule.HANG, f"no end after {start.ended - start.began:.0f} s. {said}"
        return
    for line in start.bad_lines:
        yield Rule.OUTPUT, f"no JSON event: {line[:100]!r}"
    if start.delivered:
        claimed = start.delivered.get("checksum_sha256")
        if claimed not in seen.written:
            yield Rule.CONTENT, f"the program claims {claimed}, the file is {set(seen.written)}"
        if start.code not in (0, KILLED):
            yield Rule.EXIT_CODE, f"{start.code} after it said delivered"
    elif not start.was_killed and start.code != 0:
        if start.code not in NETWORK_CODES:
            yield Rule.EXIT_CODE, f"{start.code}. {said}"
        elif not _had_reason(seen, start):
            yield Rule.NO_REASON, f"{start.code} ({NETWORK_CODES[start.code]}), yet nothing had happened. {said}"


def _had_reason(seen: Observation, start: Start) -> bool:
    """Whether anything happened that a client may give up for. The upload may be locked since an earlier start was killed."""
    traffic = seen.traffic
    times = [interruption.time for interruption in traffic.interruptions] + traffic.refusals
    if any(start.began <= time <= start.ended for time in times):
        return True
    if any(down <= start.ended and start.began <= up for down, up in seen.outages):
        return True
    return any(start.began <= each.began <= start.ended and each.status in TRANSIENT for each in traffic.exchanges)


# Bytes.


@dataclass(frozen=True)
class Fallback:
    """The client went back in the file: it sends bytes again."""

    exchange: Exchange
    bytes: int
    interruptions: int
    """How many interruptions happened since the request before it began."""
    was_refused: bool
    """Whether the previous request, or the one that it was pipelined after, was refused."""


def judge_bytes(seen: Observation, is_one_upload: bool) -> list[Finding]:
    found, traffic = [], seen.traffic
    again, allowances = sent_again(seen), traffic.allowances()
    listed = {recording["sha256"] for recording in seen.recordings}
    # What its writer has gone on with while it was being sent is no longer of use.
    outdated = [each for each in seen.written.values() if not each.is_required and each.sha256 not in listed]
    # A part that its recorder writes again is sent again.
    rewritten = sum(each.rewritten for each in seen.written.values()) * CHUNK_BYTES
    if again > allowances * CHUNK_BYTES + sum(each.size for each in outdated) + rewritten:
        found.append(Finding(Rule.AGAIN, f"{again} bytes in all, {allowances} interruptions allow {allowances * CHUNK_BYTES}"))
    if again < 0 and seen.recordings:
        found.append(Finding(Rule.WIRE, f"{-again} bytes did not pass the line"))
    # A form cannot be resumed: each interruption may cost one.
    delivered = sum(recording["via"] == "multipart" for recording in seen.recordings)
    forms = sum(exchange.kind == FORM for exchange in traffic.carriers) - delivered
    if forms > (allowances := traffic.allowances(RELOAD)) + len(outdated):
        found.append(Finding(Rule.AGAIN, f"{forms} forms too many, {allowances} interruptions, {len(outdated)} outdated"))
    for fallback in fallbacks(traffic, is_one_upload):
        at = f"by {fallback.exchange}"
        # A refusal (423, 409) can cost what was sent before it was read; the sum above does not grow by it.
        if fallback.bytes > CHUNK_BYTES:
            found.append(Finding(Rule.AGAIN, f"{fallback.bytes} bytes at once, {CHUNK_BYTES} allowed, {at}"))
        elif not fallback.interruptions and not fallback.was_refused:
            found.append(Finding(Rule.AGAIN, f"{fallback.bytes} bytes, nothing had happened, {at}"))
    return found


def sent_again(seen: Observation) -> int:
    """Bytes that passed over tus more than once."""
    carried = sum(exchange.body_bytes for exchange in seen.traffic.carriers if exchange.kind != FORM)
    via = {recording["sha256"]: recording["via"] for recording in seen.recordings}
    expected = (each for each in seen.written.values() if each.is_required or each.sha256 in via)
    return carried - sum(each.size for each in expected if via.get(each.sha256) != "multipart")


def fallbacks(traffic: Traffic, is_one_upload: bool) -> list[Fallback]:
    """All places where the client went back in an upload. Their sum, less where it jumped ahead, is what was sent again."""
    uploads: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in traffic.carriers:
        if exchange.upload or is_one_upload:
            uploads["" if is_one_upload else exchange.upload].append(exchange)
    found = []
    for carriers in uploads.values():
        for number, (before, exchange) in enumerate(zip(carriers, carriers[1:])):
            back = before.end - (exchange.offset or 0)
            if back > 0:
                under_way = carriers[max(0, number + 1 - REQUESTS_UNDER_WAY) : number + 1]
                was_refused = any((each.status or 0) >= 400 and each.connection == before.connection for each in under_way)
                found.append(Fallback(exchange, back, _count_between(traffic, before, exchange), was_refused))
    return found


def _count_between(traffic: Traffic, before: Exchange, exchange: Exchange) -> int:
    """Interruptions that can be why the one request was followed by the other. A connection may have been cut, or its
    client killed, when the request was on its way and the line did not know of it; a stall can be survived."""
    count = 0
    for interruption in traffic.interruptions:
        is_new = before.connection != exchange.connection and interruption.what != STALL
        count += (before.connected if is_new else before.sent) <= interruption.time <= exchange.began
    return count
