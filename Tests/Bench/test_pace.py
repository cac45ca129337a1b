"""What is told of a rate is what came, and when."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench.meter import Track  # noqa: E402
from bench.pace import OVERHEAD_BYTES, Pace, judge  # noqa: E402

RATE, STEP_MS = 1_000_000, 50
STEP_BYTES = RATE * STEP_MS // 1000


def track(counts: dict[int, int]) -> Track:
    """Even for 11 s, but for what `counts` says of single steps."""
    sent = [counts.get(step, STEP_BYTES) for step in range(11_000 // STEP_MS)]
    steps = [(step * STEP_MS * 1_000_000, count) for step, count in enumerate(sent) if count]
    return Track([(0, OVERHEAD_BYTES), *steps])


def pace(**counts) -> tuple[float, float, float]:
    run = judge(RATE, track({int(step[1:]): count for step, count in counts.items()}))
    return round(run.deviation, 3), round(run.burst_seconds, 3), round(run.pause_seconds, 3)


def test_even_steps_are_a_burst_of_one_step_and_a_pause_of_one():
    assert pace() == (0.005, 0.05, 0.05)


def test_a_pause_without_a_burst_costs_bytes():
    assert pace(_10=0, _11=0, _12=0) == (-0.01, 0.05, 0.2)


def test_bytes_that_come_late_and_at_once_are_a_burst():
    assert pace(_10=0, _11=0, _12=0, _13=4 * STEP_BYTES) == (0.005, 0.2, 0.2)


def test_bytes_that_come_early_are_a_burst_too():
    assert pace(_10=5 * STEP_BYTES)[1] == 0.25


@pytest.mark.parametrize("counts, is_met", [({}, True), ({10: 6 * STEP_BYTES}, False),
                                            ({step: 0 for step in range(10, 15)}, False)])
def test_the_median_of_the_runs_decides(counts, is_met):
    bad, good = judge(RATE, track(counts)), judge(RATE, track({}))
    assert Pace("tus", RATE, [good, bad, bad]).is_met is is_met
    assert Pace("tus", RATE, [good, good, bad]).is_met
