"""The harness proves itself: a program that goes wrong where a call fails must be caught, and for that reason."""

from __future__ import annotations

from dataclasses import dataclass

from .rules import Rule, judge
from .scenarios import SCENARIOS
from .sweep import Result, Sweep, Workers


@dataclass(frozen=True)
class Canary:
    name: str
    """What failing.c makes the program do."""
    rule: Rule
    """What must be found."""
    scenario: str = "tus-http"
    function: str = "connect"


CANARIES = [
    Canary("claim", Rule.CLAIM),
    Canary("claim", Rule.CLAIM, "delete-http"),
    Canary("signal", Rule.EXIT_CODE),
    Canary("internal", Rule.EXIT_CODE),
    Canary("hang", Rule.HANG),
    Canary("silent", Rule.SENTENCE),
    Canary("tell", Rule.SECRET),
    Canary("spoil", Rule.AGAIN),
    Canary("other", Rule.RIGHT_CODE),
    Canary("forget", Rule.RESUMABLE, "resume-http"),
    Canary("litter", Rule.LEFT_OVER),
    Canary("hide", Rule.LEFT_OVER, "after-move"),
    Canary("claim", Rule.CLAIM, "clean", "renameat2"),
    Canary("claim", Rule.KEPT, "after-delete", "renameat2"),
    Canary("spoil", Rule.LOST, "after-delete"),
    Canary("other", Rule.BALLAST, "after-delete", "write"),
]


def examine(workers: Workers) -> list[tuple[Canary, str]]:
    """Returns each with what went unnoticed: nothing, if the harness can be trusted."""
    scenarios = {scenario.name: scenario for scenario in SCENARIOS}
    sweeps = {
        Sweep(scenarios[one.scenario], one.function, 0, step=1 << 30, is_whole=False, canary=one.name): one
        for one in CANARIES}
    return [(sweeps[result.sweep], _unnoticed(sweeps[result.sweep], result)) for result in workers.run(list(sweeps))]


def _unnoticed(canary: Canary, result: Result) -> str:
    if result.broken or not result.outcomes:
        return f"it could not be run: {result.broken or 'the call was not reached'}"
    rules = {rule for rule, _ in judge(result.outcomes[0])}
    if canary.rule in rules:
        return ""
    return f"'{canary.rule.value}' was not violated, only {', '.join(rule.value for rule in rules) or 'nothing'}"
