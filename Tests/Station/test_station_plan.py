"""A seed says everything, and two hundred seeds say a lot."""

from __future__ import annotations

from station.plan import EVERY, REMOVALS, STALL_TIMEOUT_SECONDS, STUMBLES, LivePlan, UploadPlan, WatchPlan, plan_of

from line import HOLD, STALL, TROUBLES
from wire import FORM, JOIN, KINDS

PLANS = [UploadPlan(seed) for seed in range(1, 201)]


def everything(plan: UploadPlan):
    return str(vars(plan)), plan.content_changes(), [(plan.attempt(n), plan.conduct(n, True)) for n in range(6)], plan.password


def test_a_seed_always_says_the_same():
    assert all(everything(UploadPlan(seed)) == everything(UploadPlan(seed)) for seed in range(20))
    assert all(str(vars(WatchPlan(seed))) == str(vars(WatchPlan(seed))) for seed in range(20))


def test_two_hundred_rounds_have_it_all():
    for name in ("is_spooling", "checksums", "creation_with_upload"):
        assert {getattr(plan.receiver, name) for plan in PLANS} == {True, False}
    assert {stumble for plan in PLANS for stumble in plan.receiver.stumbles} == set(STUMBLES)
    assert any(plan.receiver.lock_seconds for plan in PLANS) and any(plan.server_kills for plan in PLANS)
    assert {plan.kills for plan in PLANS} == {0, 1, 2, 3}
    attempts = [plan.attempt(number) for plan in PLANS for number in range(3)]
    assert {attempt.resumes for attempt in attempts} == {True, False}
    kills = [attempt.kill for attempt in attempts if attempt.kill]
    assert any(kill.point is None for kill in kills)
    troubles = [trouble for plan in PLANS for number in range(4) if (trouble := plan.conduct(number, True).trouble)]
    assert {trouble.what for trouble in troubles} == set(TROUBLES) - {HOLD}
    for points in ([kill.point for kill in kills if kill.point], [trouble.point for trouble in troubles]):
        assert {point.kind for point in points} == {None, *KINDS}
        assert {point.is_answer for point in points} == {True, False}
    stalls = [trouble.seconds for trouble in troubles if trouble.what == STALL]
    assert all(seconds < 0.5 * STALL_TIMEOUT_SECONDS or seconds > 1.25 * STALL_TIMEOUT_SECONDS for seconds in stalls)
    assert min(stalls) < STALL_TIMEOUT_SECONDS < max(stalls)


def test_two_rounds_with_a_watcher_remove_in_each_way():
    assert {removal for seed in (10, 20) for removal in WatchPlan(seed).removals} == set(REMOVALS)
    conducts = [WatchPlan(seed).conduct(number, True) for seed in (10, 20, 30) for number in range(20)]
    assert FORM in {conduct.trouble.point.kind for conduct in conducts if conduct.trouble}


def test_of_ten_rounds_one_has_a_watcher_and_one_recorders():
    kinds = [type(plan_of(seed)) for seed in range(1, EVERY + 1)]
    assert {kind: kinds.count(kind) for kind in kinds} == {UploadPlan: EVERY - 2, WatchPlan: 1, LivePlan: 1}
    assert plan_of(5) == LivePlan(5) and plan_of(5).live
    troubles = [trouble for seed in (5, 15, 25) for number in range(20) if (trouble := plan_of(seed).conduct(number, True).trouble)]
    assert JOIN in {trouble.point.kind for trouble in troubles}
