"""Each rule fails, and only it, when what it forbids is measured."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from memorycap.measure import Measurement  # noqa: E402
from memorycap.receiver import Arrival  # noqa: E402
from memorycap.rows import FAST, HTTP, HTTPS, HUGE, MEDIUM, REFUSING, Row  # noqa: E402
from memorycap.rules import Outcome, Rule, growths, judge  # noqa: E402

SHA256 = "ab" * 32
ROW = Row(HTTP, MEDIUM, FAST)
BODY = MEDIUM + 900


def measurement(**changes) -> Measurement:
    return dataclasses.replace(Measurement(exit_code=0, peak=3_900_000, allocations=(3000, 0, 100)), **changes)


def arrival(**changes) -> Arrival:
    return dataclasses.replace(Arrival(BODY, BODY, MEDIUM, SHA256, True), **changes)


def rules_of(row=ROW, measured=None, arrived=None, cgroup=None) -> set[Rule]:
    outcome = Outcome(row, measured or measurement(), arrived or arrival(), cgroup)
    return {finding.rule for finding in judge(outcome, SHA256)}


def test_a_good_run_passes():
    assert rules_of(cgroup=(20_000_000, False)) == set()


@pytest.mark.parametrize(
    "changes, rule",
    [
        ({"exit_code": 1}, Rule.EXIT_CODE),
        ({"exit_code": 139}, Rule.EXIT_CODE),
        ({"peak": 5_800_001}, Rule.BUDGET),
        ({"steady_allocations": {"malloc": 1}}, Rule.ALLOCATION),
        ({"allocations": (0, 0, 0)}, Rule.HARNESS),
        ({"peak": 0}, Rule.HARNESS),
    ],
)
def test_what_is_measured_can_fail(changes, rule):
    assert rules_of(measured=measurement(**changes)) == {rule}


@pytest.mark.parametrize(
    "changes",
    [
        {"file_sha256": "cd" * 32},
        {"file_bytes": MEDIUM - 1},
        {"body_bytes": BODY - 1},
        {"is_framing_whole": False},
        {"announced_bytes": 0, "body_bytes": 0},
        {"problem": "the receiver died"},
    ],
)
def test_bytes_that_did_not_arrive_fail(changes):
    assert rules_of(arrived=arrival(**changes)) == {Rule.TRANSFER}


def test_fifty_megabytes_break_promise_and_goal():
    assert rules_of(measured=measurement(peak=50_000_001)) == {Rule.PROMISE, Rule.BUDGET}


def test_a_kill_by_the_cgroup_breaks_the_promise():
    assert rules_of(cgroup=(50_000_000, True)) == {Rule.PROMISE}


def test_a_refused_upload_has_to_end_with_8_after_half_of_the_body():
    row, half = Row(HTTPS, MEDIUM, REFUSING), arrival(body_bytes=BODY // 2, file_bytes=0, file_sha256="")
    assert rules_of(row, measurement(exit_code=8), half) == set()
    assert rules_of(row, measurement(exit_code=0), half) == {Rule.EXIT_CODE}


@pytest.mark.parametrize("extra, fails", [(0, False), (64 << 10, False), ((64 << 10) + 1, True), (-9999, False)])
def test_growth_is_from_the_medium_to_the_huge_file(extra, fails):
    peaks = {ROW: 3_900_000, Row(HTTP, HUGE, FAST): 3_900_000 + extra, Row(HTTPS, HUGE, FAST): 9}
    found = growths([Outcome(row, measurement(peak=peak), arrival(), None) for row, peak in peaks.items()])
    assert [(growth.bytes, growth.finding is not None) for growth in found] == [(extra, fails)]
