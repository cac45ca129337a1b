"""Each rule fails, and only it, when what it forbids is observed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chaos.conduct import Interruption  # noqa: E402
from chaos.plan import MIB  # noqa: E402
from chaos.rules import CHUNK_BYTES, Observation, Rule, Start, judge, sent_again  # noqa: E402
from chaos.wire import PATCH, Exchange  # noqa: E402

SHA256, OTHER = "ab" * 32, "cd" * 32
SIZE = 32 * MIB
DELIVERED = {"event": "delivered", "checksum_sha256": SHA256}


def patch(began: float, offset: int, count: int, status: int | None = 204) -> Exchange:
    """Connection 1 came at 10 s, connection 3 at 30 s."""
    tens = int(began // 10)
    exchange = Exchange(tens, "PATCH", "/files/1", PATCH, count, offset, began, connected=10.0 * tens)
    exchange.body_bytes, exchange.status = count, status
    return exchange


def observation(*exchanges: Exchange, interrupted_at: tuple[float, ...] = (15.0,), **changes) -> Observation:
    """A round of two starts: the first ends at 20 s with 4, the second delivers at 40 s."""
    seen = Observation(SIZE, SHA256)
    seen.starts = [Start(10, 20, 4), Start(30, 40, 0, delivered=DELIVERED)]
    seen.recordings = [{"sha256": SHA256, "size": SIZE, "label": "chaos"}]
    seen.stored = [(SHA256, SIZE)]
    seen.states = ["delivered"]
    seen.exchanges = list(exchanges) or [patch(11, 0, 8 * MIB), patch(31, 8 * MIB, 24 * MIB)]
    seen.interruptions = [Interruption(time, "reset", 1) for time in interrupted_at]
    for name, value in changes.items():
        setattr(seen, name, value)
    return seen


def rules_of(seen: Observation) -> list[Rule]:
    return [finding.rule for finding in judge(seen)]


def test_a_good_round_passes():
    assert rules_of(observation()) == []


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"recordings": []}, {Rule.RECORDINGS}),
        ({"recordings": [{"sha256": SHA256, "size": SIZE}] * 2}, {Rule.RECORDINGS}),
        ({"recordings": [{"sha256": OTHER, "size": SIZE}]}, {Rule.CONTENT}),
        ({"recordings": [{"sha256": SHA256, "size": SIZE - 1}]}, {Rule.CONTENT}),
        ({"stored": []}, {Rule.CONTENT}),
        ({"stored": [(SHA256, SIZE), (OTHER, 7)]}, {Rule.CONTENT}),
        ({"stored": [(OTHER, SIZE)]}, {Rule.CONTENT}),
        ({"states": []}, {Rule.STATE}),
        ({"states": ["pending"]}, {Rule.STATE}),
        ({"states": ["delivered", "pending"]}, {Rule.STATE}),
        ({"leaks": ["state/1"]}, {Rule.SECRET}),
        ({"problems": ["no HTTP"]}, {Rule.WIRE}),
        ({"server_errors": ["Traceback"]}, {Rule.HARNESS}),
    ],
)
def test_what_is_left_behind_can_fail(changes, expected):
    assert set(rules_of(observation(**changes))) == expected


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"delivered": None}, [Rule.DELIVERY]),
        ({"delivered": {"event": "delivered", "checksum_sha256": OTHER}}, [Rule.CONTENT]),
        ({"delivered": {"event": "delivered"}}, [Rule.CONTENT]),
        ({"code": 10}, [Rule.EXIT_CODE, Rule.EXIT_CODE]),
        ({"hung": True}, [Rule.HANG]),
        ({"bad_lines": ["hello"]}, [Rule.OUTPUT]),
    ],
)
def test_the_last_start_can_fail(changes, expected):
    seen = observation()
    for name, value in changes.items():
        setattr(seen.starts[-1], name, value)
    assert rules_of(seen) == expected


@pytest.mark.parametrize("code", [1, 2, 3, 5, 6, 7, 8, 10, 12, 13, -9, -11, 139])
def test_a_start_gives_up_with_a_code_of_the_network_only(code):
    seen = observation()
    seen.starts[0].code = code
    assert rules_of(seen) == [Rule.EXIT_CODE]


def test_a_start_that_gives_up_for_nothing_fails():
    assert rules_of(observation(interrupted_at=(5.0, 25.0))) == [Rule.NO_REASON]


@pytest.mark.parametrize(
    "changes",
    [
        {"refusals": [15.0]},
        {"outages": [(5.0, 11.0)]},
        {"exchanges": [patch(11, 0, 0, 423), patch(31, 0, SIZE)]},
        {"exchanges": [patch(11, 0, 0, 500), patch(31, 0, SIZE)]},
    ],
)
def test_a_locked_upload_or_a_server_that_is_down_is_a_reason(changes):
    assert rules_of(observation(interrupted_at=(), **changes)) == []


def test_our_own_kill_is_no_failure():
    seen = observation()
    seen.starts[0] = Start(10, 20, -9, was_killed=True)
    assert rules_of(seen) == []


def test_a_kill_may_come_before_the_event():
    seen = observation()
    seen.starts[-1] = Start(30, 40, -9, was_killed=True)
    assert rules_of(seen) == []
    seen.states = ["pending"]
    assert rules_of(seen) == [Rule.DELIVERY]


def test_resume_may_find_an_upload_that_was_delivered_before_the_kill():
    seen = observation()
    seen.starts[-1] = Start(30, 40, 0, resumes=True)
    assert rules_of(seen) == []
    seen.starts[-1].resumes = False
    assert rules_of(seen) == [Rule.DELIVERY]


# Bytes.


def test_a_chunk_may_be_lost_with_each_interruption():
    lost = (patch(11, 0, CHUNK_BYTES, None), patch(31, 0, CHUNK_BYTES, None), patch(33, 0, SIZE))
    assert sent_again(observation(*lost)) == 2 * CHUNK_BYTES
    assert rules_of(observation(*lost, interrupted_at=(15.0, 32.0))) == []


def test_the_sum_is_bounded_by_the_number_of_interruptions():
    lost = (patch(11, 0, CHUNK_BYTES, None), patch(31, 0, CHUNK_BYTES, 423), patch(33, 0, SIZE))
    assert rules_of(observation(*lost)) == [Rule.AGAIN]


def test_an_interruption_without_a_request_allows_nothing():
    seen = observation(patch(11, 0, 1000, None), patch(31, 0, SIZE))
    seen.interruptions = [Interruption(15.0, "reset", 1, is_open=False)]
    assert rules_of(seen) == [Rule.AGAIN]


def test_no_interruption_costs_more_than_a_chunk_even_if_there_were_many():
    many = (12.0, 13.0, 14.0, 15.0)
    exact = (patch(11, 0, CHUNK_BYTES, None), patch(31, 0, SIZE))
    assert rules_of(observation(*exact, interrupted_at=many)) == []
    over = (patch(11, 0, CHUNK_BYTES + 1, None), patch(31, 0, SIZE))
    assert rules_of(observation(*over, interrupted_at=many)) == [Rule.AGAIN]


def test_bytes_that_are_sent_again_without_a_reason_fail():
    for interrupted_at in ((5.0,), (35.0,)):
        seen = observation(patch(11, 0, 8 * MIB), patch(31, 4 * MIB, 28 * MIB), interrupted_at=interrupted_at)
        seen.starts = [Start(10, 40, 0, delivered=DELIVERED)]
        assert rules_of(seen) == [Rule.AGAIN]


def test_a_refused_request_may_be_repeated():
    refused = (patch(11, 0, 1000, 423), patch(31, 0, SIZE))
    seen = observation(*refused, interrupted_at=(10.5,))
    assert rules_of(seen) == []


def test_a_server_failure_is_an_interruption():
    for status, expected in ((504, []), (409, [Rule.AGAIN])):
        seen = observation(patch(11, 0, 1000, status), patch(31, 0, SIZE), interrupted_at=())
        assert rules_of(seen) == expected


def test_bytes_that_went_around_the_proxy_fail():
    assert rules_of(observation(patch(31, 8 * MIB, SIZE - 8 * MIB))) == [Rule.WIRE]


# The summary.
