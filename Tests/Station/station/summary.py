"""Output for people: one line a round, and the table of figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import mean

from line import OVERLOAD, SERVER_CUT

from . import rules
from .plan import MIB, Plan, WatchPlan
from .rules import Finding, Observation

SERVERS = {"spooling": "that spools", "checksums": "with checksums", "streaming": "that keeps what came"}
HEADER = f"{'seed':>6}  {'server':<10} {'starts':>6} {'recordings':>10} {'interruptions':>13} {'sent again':>11}  {'time':>6}"


@dataclass
class Outcome:
    """A round, what was observed, and what is wrong with it."""

    plan: Plan
    seconds: float
    seen: Observation
    figures: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    @property
    def watches(self) -> bool:
        return isinstance(self.plan, WatchPlan)


def line(outcome: Outcome) -> str:
    seen = outcome.seen
    again = f"{rules.sent_again(seen) / MIB:.2f} MiB" if seen.traffic.exchanges else "-"
    return (
        f"{outcome.plan.seed:>6}  {outcome.plan.receiver.name:<10} {'watch' if outcome.watches else len(seen.starts):>6} "
        f"{len(seen.recordings):>10} {len(seen.traffic.interruptions):>13} {again:>11}  {outcome.seconds:>5.1f}s  "
        f"{'FAILED' if outcome.findings else 'ok'}"
    )


def table(outcomes: list[Outcome], seconds: float) -> str:
    uploads = [outcome for outcome in outcomes if not outcome.watches]
    passed = sum(not outcome.findings for outcome in outcomes)
    live = sum(outcome.seen.is_live for outcome in outcomes)
    watched = f"{len(outcomes) - len(uploads)} of them with a watcher, of which {live} send what is being made"
    rows = {"rounds": f"{len(outcomes)}, {watched}; {passed} passed, {seconds:.0f} s"}
    if uploads:
        starts = [len(outcome.seen.starts) for outcome in uploads]
        rows["starts a delivery, without a watcher"] = f"{mean(starts):.1f} in the mean, {max(starts)} at most"
    rows["kill -9 of the server"] = str(sum(len(outcome.seen.outages) for outcome in outcomes))
    kinds = Counter(each.what for outcome in outcomes for each in outcome.seen.traffic.interruptions)
    kinds["5xx to a part of a recording"] = sum(outcome.seen.traffic.server_failures for outcome in outcomes)
    rows["interruptions"] = str(sum(kinds.values()))
    words = {SERVER_CUT: "the server ended it", OVERLOAD: "the machine was too slow"}
    rows |= {f"  {words.get(what, what)}": str(count) for what, count in kinds.most_common()}
    for name, described in SERVERS.items():
        rows |= _bytes_again([outcome for outcome in uploads if outcome.plan.receiver.name == name], described)
    totals = Counter()
    for outcome in outcomes:
        totals.update(outcome.figures)
    rows |= {name: str(count) for name, count in totals.items()}
    width = max(map(len, rows)) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows.items())


def _bytes_again(outcomes: list[Outcome], described: str) -> dict[str, str]:
    """The figures of the promise, for one kind of server."""
    if not outcomes:
        return {}
    again = sum(rules.sent_again(outcome.seen) for outcome in outcomes)
    allowances = sum(outcome.seen.traffic.allowances() for outcome in outcomes)
    falls = [(fall.bytes, outcome.plan.seed) for outcome in outcomes for fall in rules.fallbacks(outcome.seen.traffic, True)]
    most, seed = max(falls, default=(0, "-"))
    return {
        f"sent again, server {described}": f"{again / MIB:.1f} MiB in {len(outcomes)} rounds, "
        f"{again / max(allowances, 1) / MIB:.2f} an interruption, {most / MIB:.3f} at most (seed {seed}; 8 are allowed)"
    }
