"""The harness proves itself: a program or a round that is spoiled must be found, and for that reason."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from line import RESET, Conduct, Point, Trouble

from .plan import REMOVE, KEEP, MIB, MOVE, RELOAD, Attempt, LivePlan, Plan, Receiver, UploadPlan, WatchPlan
from .rules import Finding, Rule
from .watch import WatchRound

SIZE = 24 * MIB
CUT = Trouble(RESET, Point(12 * MIB))
"""Behind what one interruption may cost."""

SCRIPT = """#!/bin/sh
program='{program}'
command=$1
if [ $command = list ]; then {listed}; exec "$program" "$@"; fi
{spoiled}
exec "$program" "$@"
"""


class CalmPlan(UploadPlan):
    """Nothing happens."""

    cut: Trouble | None = None

    def __init__(self):
        super().__init__(seed=1, size=SIZE)
        self.receiver, self.server_kills = Receiver(is_spooling=True, checksums=False, creation_with_upload=False), []

    def conduct(self, number: int, has_trouble: bool) -> Conduct:
        return Conduct(trouble=self.cut if number == 0 else None)

    def attempt(self, number: int) -> Attempt:
        return Attempt(resumes=False, kill=None, retries=0, pause=0.0)


class CutPlan(CalmPlan):
    """But for one cut."""

    cut = CUT


class CalmWatch(WatchPlan):
    """A few recordings and no trouble but what `spoil` does."""

    def __init__(self):
        super().__init__(seed=7, recordings=12, pause=0.01, patience=8.0)
        self.receiver = Receiver(is_spooling=False, checksums=False, creation_with_upload=False)
        self.strikes, self.troubles, self.removals = [RELOAD], 0, [KEEP, REMOVE, MOVE]


class CalmLive(LivePlan):
    """The same with recorders."""

    def __init__(self):
        super().__init__(seed=7, recordings=4, pause=0.01, patience=8.0)
        self.receiver = Receiver(is_spooling=False, checksums=False, creation_with_upload=False)
        self.strikes, self.troubles, self.removals = [], 0, [KEEP, KEEP, KEEP]


@dataclass(frozen=True)
class Canary:
    name: str
    rules: set[Rule]
    """What must be found."""
    spoiled: str = ""
    """Lines of the shell before the program is started."""
    plan: Callable[[], Plan] = CalmPlan
    listed: str = ":"
    """The same before `list`."""
    meddle: Callable[[WatchRound], None] = lambda run: None

    def script(self, program: Path, path: Path) -> None:
        path.write_text(SCRIPT.format(program=program, spoiled=self.spoiled, listed=self.listed))
        path.chmod(0o755)


def spoil(run: WatchRound) -> None:
    stage, booth, *_, loft = run.sections
    # A file with two names is delivered, and not removed.
    linked = booth.outside / "linked.wav"
    linked.write_bytes(b"linked" * 1000)
    os.link(linked, booth.tree / "linked.wav")
    run.register.add(booth, linked.read_bytes(), booth.tree / "linked.wav")
    deadline = time.monotonic() + 20
    while len(run.server.recordings()) < len(run.register.all) and time.monotonic() < deadline:
        run._pass(0.1)
    kept = [each for each in run.register.all.values() if each.path.is_relative_to(stage.tree) and each.is_required]
    # The server goes on naming the digest of a recording, but has other bytes.
    (stored,) = run.server.store.glob(f"{kept[0].sha256}*")
    stored.write_bytes(stored.read_bytes()[:-1] + b"\0\0")
    # What nobody was told to remove, and what was not delivered yet, disappears; and what was moved, too.
    kept[1].path.unlink()
    run.line.cut()
    (booth.tree / "late").mkdir()
    (booth.tree / "late/late.wav").write_bytes(b"late" * 1000)
    run.register.add(booth, b"late" * 1000, booth.tree / "late/late.wav")
    shutil.rmtree(booth.tree / "late")
    run.line.is_down = False
    next(loft.sent.iterdir()).unlink()
    # Another program delivers half a recording, one to a second event, one to a wrong event, and one again and again.
    half, wrong = run.folder / "half.wav", run.folder / "wrong.wav"
    half.write_bytes(kept[2].path.read_bytes()[:2000])
    wrong.write_bytes(b"wrong" * 1000)
    run.register.add(stage, b"wrong" * 1000, wrong)
    sent = [(half, stage.event), (kept[2].path, "x"), (wrong, booth.event), *[(kept[3].path, stage.event)] * 15]
    for number, (path, event) in enumerate(sent):
        target = ["--server", f"http://127.0.0.1:{run.line.port}", "--label", path.stem, "--org-name", event]
        command = run.program.command("send", path, *target, retries=0)
        command[command.index("--state-dir") + 1] = str(run.folder / f"other-{number}")
        run.program.popen(command, stdout=subprocess.DEVNULL).wait(timeout=60)
    # A watcher that ends, and one that writes the password into its log.
    run.watcher.signal(signal.SIGTERM)
    with (run.program.home / "watch.log").open("ab") as log:
        log.write(run.program.password_file.read_bytes())


CANARIES = [
    Canary("a station that is spoiled in many ways", {
        Rule.CONTENT, Rule.EVENT, Rule.STRANGE, Rule.TWICE, Rule.MISSING, Rule.REMOVED, Rule.PLACE, Rule.AGAIN, Rule.EXIT_CODE,
        Rule.SECRET, Rule.DELIVERY}, plan=CalmWatch, meddle=spoil),
    Canary("a program that is right", set(), plan=CutPlan),
    Canary("starts at 0 after an interruption", {Rule.AGAIN}, 'rm -rf "$HOME/state"', plan=CutPlan),
    Canary("sends other bytes", {Rule.MISSING, Rule.STRANGE, Rule.CONTENT},
           'printf spoiled | dd of="$2" bs=1 seek=5000000 conv=notrunc status=none'),
    Canary("claims a delivery", {Rule.MISSING}, "echo '{\"event\":\"delivered\"}'; exit 0"),
    Canary("gives up without a reason", {Rule.NO_REASON}, '[ -e "$HOME/tried" ] || { touch "$HOME/tried"; exit 4; }'),
    Canary("is careless", {Rule.OUTPUT, Rule.SECRET, Rule.EXIT_CODE, Rule.STATE},
           'echo here we go; cp "$HOME/../password" "$HOME/notes"; "$program" "$@" && exit 1', listed="exit 0"),
    Canary("waits for the end of what is being made", {Rule.LIVE}, 'sed -i /live/d "$HOME/../watch.conf"', plan=CalmLive),
    Canary("never says that it has delivered", {Rule.DELIVERY}, '"$program" "$@" > "$HOME/out"; exit 1'),
]  # fmt: skip


def unnoticed(found: list[Finding], expected: set[Rule]) -> str:
    """Nothing, if the harness can be trusted."""
    missed = [f"'{rule.value}' was not found" for rule in expected - {finding.rule for finding in found}]
    return "; ".join([*missed, *map(str, found)]) if missed or not expected else ""
