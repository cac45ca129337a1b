"""A seed says everything, and two hundred seeds say a lot."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chaos.conduct import STALL, TROUBLES  # noqa: E402
from chaos.plan import STALL_TIMEOUT_SECONDS, STUMBLES, Plan  # noqa: E402
from chaos.wire import KINDS  # noqa: E402

SEEDS = range(1, 201)


def everything(plan: Plan):
    attempts = [plan.attempt(number) for number in range(6)]
    conducts = [plan.conduct(number, True) for number in range(6)]
    return plan, plan.content_changes(), attempts, conducts, plan.password


def test_a_seed_always_says_the_same():
    assert all(everything(Plan(seed)) == everything(Plan(seed)) for seed in range(20))


def test_two_hundred_rounds_have_it_all():
    plans = [Plan(seed) for seed in SEEDS]
    for name in ("is_spooling", "checksums", "creation_with_upload"):
        assert {getattr(plan.receiver, name) for plan in plans} == {True, False}
    assert {stumble for plan in plans for stumble in plan.receiver.stumbles} == set(STUMBLES)
    assert any(plan.receiver.lock_seconds for plan in plans) and any(plan.server_kills for plan in plans)
    assert {plan.kills for plan in plans} == {0, 1, 2, 3}
    attempts = [plan.attempt(number) for plan in plans for number in range(3)]
    assert {attempt.resumes for attempt in attempts} == {True, False}
    kills = [attempt.kill for attempt in attempts if attempt.kill]
    assert any(kill.point is None for kill in kills)
    troubles = [conduct.trouble for plan in plans for number in range(4) if (conduct := plan.conduct(number, True)).trouble]
    assert {trouble.what for trouble in troubles} == set(TROUBLES)
    for points in ([kill.point for kill in kills if kill.point], [trouble.point for trouble in troubles]):
        assert {point.kind for point in points} == {None, *KINDS}
        assert {point.is_answer for point in points} == {True, False}


def test_stalls_are_clearly_longer_or_clearly_shorter_than_the_clients_patience():
    stalls = [
        conduct.trouble.seconds
        for seed in SEEDS
        for number in range(4)
        if (conduct := Plan(seed).conduct(number, True)).trouble and conduct.trouble.what == STALL
    ]
    assert all(seconds < 0.5 * STALL_TIMEOUT_SECONDS or seconds > 1.25 * STALL_TIMEOUT_SECONDS for seconds in stalls)
    assert min(stalls) < STALL_TIMEOUT_SECONDS < max(stalls)
