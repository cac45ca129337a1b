"""The harness proves itself: the program behind a script that breaks it must be caught, and for that reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterator

from .conduct import CALM, RESET, Conduct, Point, Trouble
from .plan import MIB, Attempt, Plan, Receiver
from .round import Outcome, Setting, run
from .rules import Rule

SIZE = 24 * MIB
CUT = Trouble(RESET, Point(12 * MIB))
"""Behind what one interruption may cost."""

SCRIPT = """#!/bin/sh
program='{program}'
command=$1
for last; do :; done
{spoiled}
exec "$program" "$@"
"""


class Script(Plan):
    """A plan whose one cut is given instead of drawn."""

    def __init__(self, is_cut: bool, retries: int, is_spooling: bool):
        super().__init__(seed=1, size=SIZE)
        self.receiver = Receiver(is_spooling, checksums=False, creation_with_upload=False, lock_seconds=0.0)
        self.server_kills, self.troubles, self._retries = [], int(is_cut), retries

    def conduct(self, number: int, has_trouble: bool) -> Conduct:
        return Conduct(trouble=CUT) if has_trouble and number == 0 else CALM

    def attempt(self, number: int) -> Attempt:
        return Attempt(resumes=False, kill=None, retries=self._retries, pause=0.0)


@dataclass(frozen=True)
class Canary:
    name: str
    rule: Rule | None
    """What must be found; None for nothing."""
    spoiled: str = ""
    """Lines of the shell before the program is started: $command, $last (the password's file), $HOME."""
    is_cut: bool = False
    retries: int = 5
    is_spooling: bool = False


CANARIES = [
    Canary("right", None, is_cut=True),
    Canary("right, without retries, at a server that spools", None, is_cut=True, retries=0, is_spooling=True),
    Canary("starts at 0 after an interruption", Rule.AGAIN, '[ $command = list ] || rm -rf "$HOME/state"', True, retries=0),
    Canary("sends all in one request", Rule.AGAIN, '[ $command = list ] || set -- "$@" --chunk-size 64M', True, is_spooling=True),
    Canary("delivers twice", Rule.RECORDINGS,
           '[ $command = list ] || HOME=$HOME/b "$program" "$@" --state-dir "$HOME/other" --org-name B > "$HOME/b.log"'),
    Canary("sends other bytes", Rule.CONTENT,
           '[ $command = list ] || printf spoiled | dd of="$2" bs=1 seek=5000000 conv=notrunc status=none'),
    Canary("claims a delivery", Rule.RECORDINGS, '[ $command = list ] || { echo \'{"event":"delivered"}\'; exit 0; }'),
    Canary("gives up without a reason", Rule.NO_REASON, '[ -e "$HOME/tried" ] || { touch "$HOME/tried"; exit 4; }'),
    Canary("ends with 1", Rule.EXIT_CODE, '"$program" "$@" && exit 0 || exit 1', True, retries=0),
    Canary("keeps the password", Rule.SECRET, 'cp "$last" "$HOME/notes"'),
    Canary("says something that is no JSON", Rule.OUTPUT, "[ $command = list ] || echo here we go"),
    Canary("does not list what it delivered", Rule.STATE, "[ $command != list ] || exit 0"),
]


def play(setting: Setting, canary: Canary) -> Outcome:
    folder = setting.folder / f"canary-{CANARIES.index(canary)}"
    folder.mkdir()
    script, base = folder / "program", folder / "base"
    script.write_text(SCRIPT.format(program=setting.binary, spoiled=canary.spoiled))
    script.chmod(0o755)
    with setting.base.open("rb") as file:
        base.write_bytes(file.read(SIZE).ljust(SIZE, b"\1"))
    plan = Script(canary.is_cut, canary.retries, canary.is_spooling)
    return run(replace(setting, binary=script, folder=folder, base=base, size=SIZE), plan.seed, plan)


def unnoticed(canary: Canary, outcome: Outcome) -> str:
    """Nothing, if the harness can be trusted."""
    found = {finding.rule for finding in outcome.findings}
    if canary.rule is None:
        return "; ".join(map(str, outcome.findings))
    if canary.rule in found:
        return ""
    return f"'{canary.rule.value}' was not found, only {', '.join(rule.value for rule in found) or 'nothing'}"


def examine(pool, setting: Setting) -> Iterator[tuple[Canary, str]]:
    """Each with what went unnoticed."""
    played = [(canary, pool.submit(play, setting, canary)) for canary in CANARIES]
    for canary, outcome in played:
        yield canary, unnoticed(canary, outcome.result())
