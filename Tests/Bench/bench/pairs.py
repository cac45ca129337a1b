"""Paired runs: A B A B …, compared within each pair, so that what slows the machine down for a while slows both."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path

from .clients import Client
from .machine import Disturbance
from .measure import Run, run
from .receiver import Receiver

PATIENCE = 4
"""So many times the pairs that were asked for are tried, until enough were undisturbed."""


@dataclass(frozen=True)
class Quartiles:
    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> "Quartiles":
        return cls(*statistics.quantiles(values, n=4, method="inclusive"))


@dataclass
class Comparison:
    """All pairs of our program and one other."""

    scenario: str
    peer: Client
    ours: list[Run] = field(default_factory=list)
    theirs: list[Run] = field(default_factory=list)
    disturbed: int = 0
    """Pairs that were thrown away, and those that had to be kept although they were disturbed."""
    kept_disturbed: int = 0

    def of_ours(self, quantity: str) -> Quartiles:
        return Quartiles.of([getattr(run, quantity) for run in self.ours])

    def of_theirs(self, quantity: str) -> Quartiles:
        return Quartiles.of([getattr(run, quantity) for run in self.theirs])

    def ratio(self, quantity: str) -> Quartiles:
        """Ours by theirs, in each pair."""
        return Quartiles.of([getattr(a, quantity) / getattr(b, quantity) for a, b in zip(self.ours, self.theirs)])

    def times_as_fast(self, quantity: str) -> Quartiles:
        """Theirs by ours, in each pair."""
        return Quartiles.of([getattr(b, quantity) / getattr(a, quantity) for a, b in zip(self.ours, self.theirs)])


def compare(
    scenario: str, ours: Client, peer: Client, file: Path, receiver: Receiver, launcher: Path, pairs: int,
    environment: dict[str, str] | None = None, patience: int = PATIENCE,
) -> Comparison:
    """Runs pairs until enough were undisturbed. Whether a pair counts is decided by what other processes did
    in the meantime, never by its times; if the machine does not calm down, disturbed pairs fill up what is missing."""
    comparison = Comparison(scenario, peer)
    set_aside: list[tuple[float, Run, Run]] = []
    for client in (ours, peer):  # Once unmeasured: programs and libraries come into the page cache.
        _run(client, file, receiver, launcher, environment)
    for _ in range(pairs * patience):
        with Disturbance(receiver) as disturbance:
            a = _run(ours, file, receiver, launcher, environment)
            b = _run(peer, file, receiver, launcher, environment)
            disturbance.own_seconds += a.cpu_seconds + b.cpu_seconds
        if disturbance.share > Disturbance.LIMIT:
            set_aside.append((disturbance.share, a, b))
            continue
        comparison.ours.append(a)
        comparison.theirs.append(b)
        if len(comparison.ours) == pairs:
            break
    set_aside.sort(key=lambda pair: pair[0])
    for _, a, b in set_aside[: pairs - len(comparison.ours)]:
        comparison.ours.append(a)
        comparison.theirs.append(b)
        comparison.kept_disturbed += 1
    comparison.disturbed = len(set_aside) - comparison.kept_disturbed
    return comparison


def _run(client: Client, file: Path, receiver: Receiver, launcher: Path, environment: dict[str, str] | None) -> Run:
    everything = {**dict(client.environment), **(environment or {})}
    return run(client.arguments(file, receiver.url), everything, receiver, launcher, client.uploads)
