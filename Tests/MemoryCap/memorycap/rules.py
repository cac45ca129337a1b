"""What fails. Pure: measurements in, findings out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from .arrival import Arrival, Arrivals
from .measure import ENOUGH_HITS, Measurement
from .multipart import REFUSE_AT
from .rows import (
    DISTANT, PART_ALLOCATIONS, PROMISE_BYTES, REFUSING, REQUEST_ALLOCATIONS, REQUEST_ALLOCATIONS_GROWTH, Row, chunk_text, size_text,
)
from .scoreboard import STEADY

MOST_WITHHELD = 64 << 10
"""tus: so little before the point from which the receiver refuses, the program may give up: its shortest request."""


class Rule(Enum):
    PROMISE = "over the promise"
    BUDGET = "over the goal"
    GROWTH = "growth"
    ALLOCATION = "allocation in steady state"
    REQUEST = "allocations between requests"
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
    arrivals: Arrivals
    cgroup: tuple[int, bool] | None
    findings: list[Finding] = field(default_factory=list)

    @property
    def has_passed(self) -> bool:
        return not self.findings

    @property
    def allocations_in_requests(self) -> dict[str, int]:
        """In steady state, by function. None are allowed. Of requests that overlapped nothing can be said: the next
        one's head is made when the one before has been written, but not read by the receiver; so it counts as between
        them."""
        return {} if self.arrivals.has_overlapped else self.measured.steady_allocations

    @property
    def allocations_per_request(self) -> tuple[float, float] | None:
        """Of the first and of the second half of the steady state; None if there were no requests. One figure in both
        places if requests overlapped."""
        early, late = self.arrivals.steady_requests
        if not self.row.protocol.is_tus or self.row.reader == REFUSING or early < 2 or late < 2:
            return None
        calls = self.measured.between_allocations
        if self.arrivals.has_overlapped:
            return ((sum(calls) + self.measured.allocations[STEADY]) / (early + late),) * 2
        return calls[0] / early, calls[1] / late


def judge(outcome: Outcome, expected_sha256: list[str]) -> list[Finding]:
    """`expected_sha256`: of the row's files, in any order."""
    row, measured = outcome.row, outcome.measured
    found = []
    if measured.exit_code != row.expected_exit_code:
        said = " ".join(measured.output.split())[:200]
        found.append(Finding(Rule.EXIT_CODE, f"{measured.exit_code} instead of {row.expected_exit_code}: {said}"))
    found += _judge_arrivals(row, outcome.arrivals, expected_sha256)
    for rule, limit in ((Rule.PROMISE, PROMISE_BYTES), (Rule.BUDGET, row.protocol.budget_bytes)):
        if measured.peak > limit:
            found.append(Finding(rule, f"{measured.peak / 1e6:.2f} MB, {limit / 1e6:.1f} MB allowed"))
    if outcome.cgroup and outcome.cgroup[1]:
        found.append(Finding(Rule.PROMISE, "the cgroup's memory.max killed it"))
    if outcome.allocations_in_requests:
        calls = ", ".join(
            f"{function} {count} times{' or more' if count >= ENOUGH_HITS else ''}"
            for function, count in outcome.allocations_in_requests.items()
        )
        found.append(Finding(Rule.ALLOCATION, f"between 5 % and 95 % {calls}"))
    found += _judge_requests(outcome)
    if row.reader == DISTANT and not outcome.arrivals.has_overlapped:
        found.append(Finding(Rule.HARNESS, "the requests did not overlap, though the receiver is distant"))
    if measured.peak == 0 or measured.allocations[0] == 0:
        found.append(Finding(Rule.HARNESS, "nothing was measured, not even at the start"))
    return found


def _judge_requests(outcome: Outcome) -> list[Finding]:
    """A constant for each request, and the same for the first and for the last."""
    if outcome.allocations_per_request is None:
        return []
    early, late = outcome.allocations_per_request
    allowed = PART_ALLOCATIONS if outcome.row.is_live else REQUEST_ALLOCATIONS
    if max(early, late) > allowed:
        return [Finding(Rule.REQUEST, f"{max(early, late):.0f} calls, {allowed} allowed")]
    if not outcome.row.is_live and late > early + REQUEST_ALLOCATIONS_GROWTH:
        return [Finding(Rule.REQUEST, f"{early:.1f} calls in the first half of the upload, {late:.1f} in the second")]
    return []


def _judge_arrivals(row: Row, arrivals: Arrivals, expected_sha256: list[str]) -> list[Finding]:
    """All bytes of all files, the right ones, properly framed; or, of a refused upload, exactly what was let in."""
    if arrivals.problem:
        return [Finding(Rule.TRANSFER, arrivals.problem)]
    if len(arrivals.files) != row.files:
        return [Finding(Rule.TRANSFER, f"{len(arrivals.files)} files arrived instead of {row.files}")]
    found = [problem for arrival in arrivals.files if (problem := _problem_of(row, arrival))]
    arrived = sorted(arrival.file_sha256 for arrival in arrivals.files)
    if not found and row.reader != REFUSING and arrived != sorted(expected_sha256):
        found = ["other bytes arrived than the file has"]
    return [Finding(Rule.TRANSFER, problem) for problem in found]


def _problem_of(row: Row, arrival: Arrival) -> str:
    if arrival.problem:
        return arrival.problem
    is_refused = row.reader == REFUSING
    wanted = int(arrival.announced_bytes * REFUSE_AT) if is_refused else arrival.announced_bytes
    slack = MOST_WITHHELD if is_refused and row.protocol.is_tus else 0
    if not wanted - slack <= arrival.body_bytes <= wanted:
        return f"{arrival.body_bytes} bytes of the body arrived instead of {wanted}"
    if arrival.announced_bytes < row.size or (arrival.announced_bytes == row.size) != row.protocol.is_tus:
        return f"{arrival.announced_bytes} bytes were announced, for a file of {row.size}"
    if is_refused:
        return ""
    if arrival.file_bytes != row.size:
        return "other bytes arrived than the file has"
    missing = "the finalizing" if row.protocol.is_tus else "the closing boundary"
    return "" if arrival.is_whole else f"{missing} is missing"


@dataclass(frozen=True)
class Growth:
    """The same upload, small and huge or in few requests and in many: the difference must be nothing."""

    row: Row
    bytes: int

    @property
    def finding(self) -> Finding | None:
        if self.bytes <= self.row.growth_bytes:
            return None
        return Finding(Rule.GROWTH, f"{self.text}, {self.row.growth_bytes >> 10} KiB allowed")

    @property
    def text(self) -> str:
        chunk = f" by {chunk_text(self.row.chunk)}" if self.row.chunk else ""
        live = " --live" if self.row.is_live and not self.row.smaller.is_live else ""
        size = size_text(self.row.size)
        return f"{self.bytes / 1024:+.0f} KiB from {size_text(self.row.smaller.size)} to {size}{chunk}{live}"


def growths(outcomes: list[Outcome]) -> list[Growth]:
    """One for each row that was run, and the row to compare it with."""
    peaks = {outcome.row: outcome.measured.peak for outcome in outcomes}
    return [Growth(row, peak - peaks[row.smaller]) for row, peak in peaks.items() if row.smaller in peaks]
