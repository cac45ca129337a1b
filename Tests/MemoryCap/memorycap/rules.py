"""What fails. Pure: measurements in, findings out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from .measure import ENOUGH_HITS, Measurement
from .receiver import REFUSE_AT, Arrival
from .rows import GROWTH_BYTES, HUGE, MEDIUM, PROMISE_BYTES, REFUSING, Row, size_text


class Rule(Enum):
    PROMISE = "over the promise"
    BUDGET = "over the goal"
    GROWTH = "growth"
    ALLOCATION = "allocation in steady state"
    EXIT_CODE = "exit code"
    TRANSFER = "transfer"
    HARNESS = "harness"


@dataclass(frozen=True)
class Finding:
    rule: Rule
    text: str

    def __str__(self) -> str:
        return f"{self.rule.value}: {self.text}"


@dataclass
class Outcome:
    """A row, what was measured, and what is wrong with it."""

    row: Row
    measured: Measurement
    arrival: Arrival
    cgroup: tuple[int, bool] | None
    findings: list[Finding] = field(default_factory=list)

    @property
    def has_passed(self) -> bool:
        return not self.findings


def judge(outcome: Outcome, expected_sha256: str) -> list[Finding]:
    row, measured = outcome.row, outcome.measured
    found = []
    if measured.exit_code != row.expected_exit_code:
        said = " ".join(measured.output.split())[:200]
        found.append(Finding(Rule.EXIT_CODE, f"{measured.exit_code} instead of {row.expected_exit_code}: {said}"))
    found += _judge_arrival(row, outcome.arrival, expected_sha256)
    for rule, limit in ((Rule.PROMISE, PROMISE_BYTES), (Rule.BUDGET, row.protocol.budget_bytes)):
        if measured.peak > limit:
            found.append(Finding(rule, f"{measured.peak / 1e6:.2f} MB, {limit / 1e6:.1f} MB allowed"))
    if outcome.cgroup and outcome.cgroup[1]:
        found.append(Finding(Rule.PROMISE, "the cgroup's memory.max killed it"))
    if measured.steady_allocations:
        calls = ", ".join(
            f"{function} {count} times{' or more' if count >= ENOUGH_HITS else ''}"
            for function, count in measured.steady_allocations.items()
        )
        found.append(Finding(Rule.ALLOCATION, f"between 5 % and 95 % {calls}"))
    if measured.peak == 0 or measured.allocations[0] == 0:
        found.append(Finding(Rule.HARNESS, "nothing was measured, not even at the start"))
    return found


def _judge_arrival(row: Row, arrival: Arrival, expected_sha256: str) -> list[Finding]:
    """All bytes, the right ones, properly framed; or, of a refused upload, exactly what was let in."""
    if arrival.problem:
        return [Finding(Rule.TRANSFER, arrival.problem)]
    wanted = int(arrival.announced_bytes * REFUSE_AT) if row.reader == REFUSING else arrival.announced_bytes
    if arrival.body_bytes != wanted or arrival.announced_bytes <= row.size:
        return [Finding(Rule.TRANSFER, f"{arrival.body_bytes} bytes of the body arrived instead of {wanted}")]
    if row.reader == REFUSING:
        return []
    if arrival.file_bytes != row.size or arrival.file_sha256 != expected_sha256:
        return [Finding(Rule.TRANSFER, "other bytes arrived than the file has")]
    return [] if arrival.is_framing_whole else [Finding(Rule.TRANSFER, "the closing boundary is missing")]


@dataclass(frozen=True)
class Growth:
    """The same upload, small and huge: the difference must be nothing."""

    protocol: str
    reader: str
    bytes: int

    @property
    def finding(self) -> Finding | None:
        if self.bytes <= GROWTH_BYTES:
            return None
        return Finding(Rule.GROWTH, f"{self.text}, {GROWTH_BYTES >> 10} KiB allowed")

    @property
    def text(self) -> str:
        return f"{self.bytes / 1024:+.0f} KiB from {size_text(MEDIUM)} to {size_text(HUGE)}"


def growths(outcomes: list[Outcome]) -> list[Growth]:
    """One for each protocol and reader that was run with both sizes."""
    peaks = {(o.row.protocol.name, o.row.reader, o.row.size): o.measured.peak for o in outcomes}
    pairs = [key for key in peaks if key[2] == MEDIUM and (*key[:2], HUGE) in peaks]
    return [Growth(name, reader, peaks[name, reader, HUGE] - peaks[name, reader, MEDIUM]) for name, reader, _ in pairs]
