"""Every call of a scenario in turn, in every way, in as many processes as there are processors."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

from .bench import Bench, Fault, Outcome
from .scenarios import Broken, Scenario

MEMORY = "memory"

@dataclass(frozen=True)
class Sweep:
    """All calls of one function in one scenario."""

    scenario: Scenario
    function: str
    retries: int
    step: int = 1
    """1: every call; more: every so many."""
    first: int = 1
    last: int | None = None
    """None: until a run ends before it, so also the calls that only failures lead to."""
    is_whole: bool = True
    """Whether to try every way of each call, or only the first."""
    canary: str = ""

    @property
    def is_json(self) -> bool:
        # One style a sweep: what is said counts among the calls.
        return self.retries > 0


@dataclass
class Result:
    sweep: Sweep
    outcomes: list[Outcome] = field(default_factory=list)
    reached: int = 0
    """Calls that were made to fail."""
    broken: str = ""
    """Why it could not be done."""


_bench: Bench


def _begin(program: Path, library: Path, certificates) -> None:
    global _bench
    _bench = Bench(program, library, certificates)


def _work(sweep: Sweep) -> Result:
    result = Result(sweep)
    number = sweep.first
    try:
        while (sweep.last is None or number <= sweep.last) and (outcomes := _calls(sweep, number)):
            result.outcomes += outcomes
            result.reached += 1
            number += sweep.step
    except Broken as reason:
        result.broken = str(reason)
    return result


def _calls(sweep: Sweep, number: int) -> list[Outcome]:
    """One call, in its ways. Empty if the scenario ended before it."""
    outcomes: list[Outcome] = []
    while True:
        fault = Fault(sweep.function, number, len(outcomes), sweep.canary)
        outcome = _bench.run(sweep.scenario, sweep.retries, sweep.is_json, fault)
        if outcome.hit is None:
            # Where the order of events is the network's, the call can be missing in one run and not in the next.
            return outcomes
        outcomes.append(outcome)
        if len(outcomes) >= outcome.hit.ways or not sweep.is_whole:
            return outcomes


def _survey(task: tuple[Scenario, str, Path]) -> tuple[Scenario, Counter, str]:
    """Which functions a scenario calls, and how often, when nothing fails."""
    scenario, function, trace = task
    try:
        outcome = _bench.run(scenario, 0, False, Fault(function, 0), trace)
    except Broken as reason:
        return scenario, Counter(), str(reason)
    if outcome.faulty.code != 0 or outcome.problem:
        words = outcome.problem or outcome.faulty.err.strip()
        return scenario, Counter(), f"without a fault: exit code {outcome.faulty.code}: {words}"
    lines = trace.read_text(errors="replace").splitlines() if trace.exists() else []
    return scenario, Counter(line.split("\t")[1] for line in lines), ""


class Workers:
    def __init__(self, program: Path, library: Path, certificates):
        count = len(os.sched_getaffinity(0))
        context = multiprocessing.get_context("spawn")
        self._pool = context.Pool(count, _begin, (program, library, certificates))

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_) -> None:
        self._pool.terminate()
        self._pool.join()

    def survey(self, scenarios: list[Scenario], function: str, folder: Path) -> dict[Scenario, Counter]:
        """Raises Broken if one of them does not work even without a fault."""
        tasks = [(scenario, function, folder / f"{scenario.name}-{function or 'calls'}") for scenario in scenarios]
        counts = {}
        for scenario, count, broken in self._pool.imap(_survey, tasks):
            if broken:
                raise Broken(f"{scenario.name}: {broken}")
            counts[scenario] = count
        return counts

    def run(self, sweeps: list[Sweep]) -> Iterator[Result]:
        yield from self._pool.imap_unordered(_work, sweeps)
