"""Each rule fails, and only it, when what it forbids is measured."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from memorycap.arrival import Arrival, Arrivals  # noqa: E402
from memorycap.measure import Measurement  # noqa: E402
from memorycap.rows import (  # noqa: E402
    DISTANT, FAST, HTTP, HTTPS, HUGE, LARGE, MEDIUM, REFUSING, SMALL_CHUNK, TUS_HTTP, TUS_HTTPS, Row, full, quick,
)
from memorycap.rules import Outcome, Rule, growths, judge  # noqa: E402

SHA256 = "ab" * 32
ROW, TUS_ROW = Row(HTTP, MEDIUM, FAST), Row(TUS_HTTPS, MEDIUM, FAST)
BODY = MEDIUM + 900


def measurement(**changes) -> Measurement:
    return dataclasses.replace(Measurement(exit_code=0, peak=3_900_000, allocations=(3000, 0, 100)), **changes)


def arrival(**changes) -> Arrival:
    return dataclasses.replace(Arrival(BODY, BODY, MEDIUM, SHA256, True), **changes)


def tus_arrival(**changes) -> Arrival:
    return dataclasses.replace(Arrival(MEDIUM, MEDIUM, MEDIUM, SHA256, True, 22), **changes)


def rules_of(row=ROW, measured=None, arrived=None, cgroup=None, requests=(0, 0), overlapped=False) -> set[Rule]:
    files = arrived or [tus_arrival() if row.protocol.is_tus else arrival()]
    arrivals = Arrivals(files, overlapped, requests)
    outcome = Outcome(row, measured or measurement(), arrivals, cgroup)
    return {finding.rule for finding in judge(outcome, [SHA256] * row.files)}


@pytest.mark.parametrize("row", [ROW, TUS_ROW])
def test_a_good_run_passes(row):
    assert rules_of(row, cgroup=(20_000_000, False)) == set()


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
def test_a_measurement_can_fail(changes, rule):
    assert rules_of(measured=measurement(**changes)) == {rule}


@pytest.mark.parametrize(
    "changes",
    [
        {"file_sha256": "cd" * 32},
        {"file_bytes": MEDIUM - 1},
        {"body_bytes": BODY - 1},
        {"is_whole": False},
        {"announced_bytes": 0, "body_bytes": 0},
        {"problem": "the receiver died"},
    ],
)
def test_bytes_that_did_not_arrive_fail(changes):
    assert rules_of(arrived=[arrival(**changes)]) == {Rule.TRANSFER}


@pytest.mark.parametrize(
    "changes",
    [
        {"file_sha256": "cd" * 32},
        {"file_bytes": MEDIUM - 1, "body_bytes": MEDIUM - 1},
        {"body_bytes": MEDIUM + 1},
        {"announced_bytes": MEDIUM - 1, "body_bytes": MEDIUM - 1},
        {"is_whole": False},
    ],
)
def test_a_tus_upload_that_did_not_arrive_or_was_not_finalized_fails(changes):
    assert rules_of(TUS_ROW, arrived=[tus_arrival(**changes)]) == {Rule.TRANSFER}


def test_every_file_of_several_has_to_arrive():
    row = Row(TUS_HTTPS, MEDIUM, files=2)
    assert rules_of(row, arrived=[tus_arrival(), tus_arrival()]) == set()
    assert rules_of(row, arrived=[tus_arrival()]) == {Rule.TRANSFER}
    assert rules_of(row, arrived=[tus_arrival(), tus_arrival(file_sha256="cd" * 32)]) == {Rule.TRANSFER}


def test_fifty_megabytes_break_promise_and_goal():
    assert rules_of(measured=measurement(peak=50_000_001)) == {Rule.PROMISE, Rule.BUDGET}


def test_a_kill_by_the_cgroup_breaks_the_promise():
    assert rules_of(cgroup=(50_000_000, True)) == {Rule.PROMISE}


@pytest.mark.parametrize("protocol, body, made", [(HTTPS, BODY, arrival), (TUS_HTTPS, MEDIUM, tus_arrival)])
def test_a_refused_upload_has_to_end_with_8_after_half_of_the_body(protocol, body, made):
    row = Row(protocol, MEDIUM, REFUSING)
    half, less = ([made(body_bytes=count, file_sha256="", is_whole=False)] for count in (body // 2, body // 2 - 70_000))
    assert rules_of(row, measurement(exit_code=8), half) == set()
    assert rules_of(row, measurement(exit_code=0), half) == {Rule.EXIT_CODE}
    assert rules_of(row, measurement(exit_code=8), less) == {Rule.TRANSFER}


@pytest.mark.parametrize(
    "early, late, fails",
    [(1000, 1000, False), (1000, 1010, False), (1000, 1011, True), (1510, 1500, True), (0, 0, False)],
)
def test_between_requests_there_may_be_a_constant_and_no_more(early, late, fails):
    measured = measurement(between_allocations=(early, late))
    assert rules_of(TUS_ROW, measured, requests=(10, 10)) == ({Rule.REQUEST} if fails else set())


@pytest.mark.parametrize("early, late, fails", [(3000, 10_000, False), (3000, 10_010, True), (10_010, 3000, True)])
def test_between_parts_of_what_is_made_there_may_be_more(early, late, fails):
    measured = measurement(between_allocations=(early, late))
    row = Row(TUS_HTTPS, MEDIUM, is_live=True)
    assert rules_of(row, measured, requests=(10, 10)) == ({Rule.REQUEST} if fails else set())


@pytest.mark.parametrize("steady, fails", [(3000, False), (3001, True)])
def test_allocations_of_overlapping_requests_count_as_between_them(steady, fails):
    measured = measurement(allocations=(3000, steady, 100), steady_allocations={"malloc": steady})
    assert rules_of(TUS_ROW, measured, requests=(10, 10), overlapped=True) == ({Rule.REQUEST} if fails else set())
    assert Rule.ALLOCATION in rules_of(TUS_ROW, measured, requests=(10, 10))


def test_a_distant_receiver_has_to_make_requests_overlap():
    row = Row(TUS_HTTPS, MEDIUM, DISTANT)
    assert rules_of(row, overlapped=True) == set()
    assert rules_of(row) == {Rule.HARNESS}


@pytest.mark.parametrize("extra, fails", [(500_000, False), (500_001, True)])
def test_what_is_made_may_take_a_little_more_than_what_is_finished(extra, fails):
    live = Row(TUS_HTTP, MEDIUM, is_live=True)
    peaks = {Row(TUS_HTTP, MEDIUM): 3_900_000, live: 3_900_000 + extra}
    [growth] = growths([Outcome(row, measurement(peak=peak), Arrivals([]), None) for row, peak in peaks.items()])
    assert growth.row is live and (growth.finding is not None) == fails


@pytest.mark.parametrize("extra, fails", [(0, False), (128 << 10, False), ((128 << 10) + 1, True), (-9999, False)])
@pytest.mark.parametrize(
    "base, larger",
    [
        (ROW, Row(HTTP, HUGE, FAST)),
        (Row(TUS_HTTP, MEDIUM), Row(TUS_HTTP, MEDIUM, chunk=SMALL_CHUNK)),
        (Row(TUS_HTTP, MEDIUM, is_resumed=True), Row(TUS_HTTP, HUGE, is_resumed=True)),
        (Row(TUS_HTTP, MEDIUM, is_live=True), Row(TUS_HTTP, LARGE, is_live=True)),
    ],
)
def test_growth_is_with_the_size_and_with_the_number_of_requests(base, larger, extra, fails):
    peaks = {base: 3_900_000, larger: 3_900_000 + extra, Row(HTTPS, HUGE, FAST): 9}
    found = growths([Outcome(row, measurement(peak=peak), Arrivals([]), None) for row, peak in peaks.items()])
    assert [(growth.bytes, growth.finding is not None) for growth in found] == [(extra, fails)]


def test_the_rows_of_ci_are_a_part_of_all_rows_and_growth_is_compared_in_both():
    everything = full()
    assert len(set(everything)) == len(everything)
    assert set(quick()) - {row for row in quick() if row.rate} <= set(everything)
    for rows in (everything, quick()):
        assert any(row.smaller in rows for row in rows if row.chunk)
        assert any(row.smaller in rows for row in rows if row.size > MEDIUM)
