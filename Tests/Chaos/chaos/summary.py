"""Output for people: one line per round, and the table of figures."""

from __future__ import annotations

from collections import Counter
from statistics import mean

from . import rules
from .conduct import OVERLOAD, SERVER_CUT
from .plan import MIB
from .round import KILL, Outcome

SERVERS = {"spooling": "that spools", "checksums": "with checksums", "streaming": "that keeps what came"}
HEADER = f"{'seed':>6}  {'server':<10} {'starts':>6} {'kills':>5} {'interruptions':>13} {'sent again':>11}  {'time':>6}"


def line(outcome: Outcome) -> str:
    seen = outcome.seen
    kills = sum(start.was_killed for start in seen.starts)
    again = f"{rules.sent_again(seen) / MIB:.2f} MiB" if seen.exchanges else "-"
    return (
        f"{outcome.plan.seed:>6}  {outcome.plan.receiver.name:<10} {len(seen.starts):>6} {kills:>5} "
        f"{len(seen.interruptions):>13} {again:>11}  {outcome.seconds:>5.1f}s  {'ok' if outcome.has_passed else 'FAILED'}"
    )


def table(outcomes: list[Outcome], seconds: float) -> str:
    if not outcomes:
        return "no rounds"
    rows = [("rounds", _rounds(outcomes, seconds))]
    rows += [("starts a delivery", _spread([len(outcome.seen.starts) for outcome in outcomes]))]
    rows += [("kill -9 of the server", str(sum(len(outcome.seen.outages) for outcome in outcomes)))]
    kinds = Counter(interruption.what for outcome in outcomes for interruption in outcome.seen.interruptions)
    kinds["5xx to a part of the file"] = sum(rules.server_failures(outcome.seen) for outcome in outcomes)
    rows += [("interruptions", str(sum(kinds.values())))]
    rows += [(f"  {_described(what)}", str(count)) for what, count in sorted(kinds.items(), key=lambda item: -item[1])]
    for name in ("spooling", "checksums", "streaming"):
        rows += _bytes_again([outcome for outcome in outcomes if outcome.plan.receiver.name == name], name)
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows)


def _rounds(outcomes: list[Outcome], seconds: float) -> str:
    seeds = sorted(outcome.plan.seed for outcome in outcomes)
    passed = sum(outcome.has_passed for outcome in outcomes)
    size = outcomes[0].plan.size / MIB
    return f"{len(outcomes)} of {size:g} MiB (seeds {seeds[0]} to {seeds[-1]}), {passed} passed, {seconds:.0f} s"


def _bytes_again(outcomes: list[Outcome], name: str) -> list[tuple[str, str]]:
    """The figures of the promise, for one kind of server."""
    outcomes = [outcome for outcome in outcomes if outcome.seen.exchanges]
    if not outcomes:
        return []
    again = sum(rules.sent_again(outcome.seen) for outcome in outcomes)
    interruptions = sum(len(outcome.seen.interruptions) + rules.server_failures(outcome.seen) for outcome in outcomes)
    falls = [(fall.bytes, outcome.plan.seed) for outcome in outcomes for fall in rules.fallbacks(outcome.seen)]
    most, seed = max(falls, default=(0, None))
    worst = f" (seed {seed})" if seed is not None else ""
    each = f"{again / max(interruptions, 1) / MIB:.2f}"
    return [
        (f"sent again, server {SERVERS[name]}", f"{again / MIB:.1f} MiB in {len(outcomes)} rounds"),
        ("  an interruption, mean", f"{each} MiB"),
        ("  an interruption, most", f"{most / MIB:.3f} MiB{worst}, {rules.CHUNK_BYTES / MIB:g} MiB allowed"),
    ]


def _spread(values: list[int]) -> str:
    return f"{mean(values):.1f} in the mean, {max(values)} at most"


def _described(what: str) -> str:
    words = {KILL: "kill -9 of the client", SERVER_CUT: "the server ended it", OVERLOAD: "the machine was too slow"}
    return words.get(what, what)
