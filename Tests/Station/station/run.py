"""One run: writers, kills, restarts and outages at the same time, until everything is quiet; then the judge."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from chaos.plan import Receiver
from chaos.server import Server

from . import judge
from .judge import Finding, Rule
from .line import Line
from .watcher import Watcher
from .writers import Register, Writer

WRITERS = 4
PASSWORD = "secret"


@dataclass(frozen=True)
class Plan:
    seed: int
    recordings: int
    kills: int
    restarts: int
    outages: int
    removes: bool
    """--after delete."""
    pause: float = 0.05
    """The mean pause of a writer, in seconds."""
    patience: float = 240.0
    """How long it may take, after the last trouble, until everything is delivered."""


@dataclass
class Result:
    plan: Plan
    findings: list[Finding] = field(default_factory=list)
    figures: dict[str, object] = field(default_factory=dict)
    log: str = ""


class Run:
    def __init__(self, binary: Path, folder: Path, plan: Plan):
        self.plan = plan
        self.folder = folder
        self.tree = folder / "tree"
        outside = folder / "outside"
        for directory in (self.tree, outside):
            directory.mkdir(parents=True)
        (folder / "server").mkdir()
        password = folder / "server" / "password"
        password.write_text(PASSWORD + "\n")
        receiver = Receiver(is_spooling=False, checksums=False, creation_with_upload=False, lock_seconds=0.0)
        self.server = Server(receiver, folder / "server", password)
        self.server.start()
        self.line = Line(lambda: self.server.port)
        options = ("--after", "delete") if plan.removes else ()
        self.watcher = Watcher(binary, folder, self.tree, self.line.url, options)
        self.register = Register()
        share = [plan.recordings // WRITERS + (number < plan.recordings % WRITERS) for number in range(WRITERS)]
        self.writers = [
            Writer(number, count, plan.seed, self.tree, outside, self.register, plan.pause) for number, count in enumerate(share)
        ]
        self._random = random.Random(plan.seed)
        self._gone: set[str] = set()
        self.findings: list[Finding] = []
        self.done = {"watcher killed": 0, "worker killed": 0, "server restarted": 0, "outage": 0}

    def play(self, meddle=lambda run: None) -> Result:
        """meddle: what a canary does once everything has been written."""
        began = time.monotonic()
        self.watcher.start()
        try:
            for writer in self.writers:
                writer.start()
            self._trouble()
            for writer in self.writers:
                writer.join()
                if writer.failure:
                    raise writer.failure
            meddle(self)
            is_done = self._settle()
            self._conclude(is_done)
        finally:
            if self.watcher.is_running:
                self.watcher.kill()
            self.server.stop()
            self.line.close()
        return self._result(time.monotonic() - began)

    # What happens.

    def _trouble(self) -> None:
        """All troubles in one random order, spread over the time that the writers need."""
        plan = self.plan
        troubles = [self._kill] * plan.kills + [self._restart] * plan.restarts + [self._outage] * plan.outages
        self._random.shuffle(troubles)
        for trouble in troubles:
            self._pass(self._random.uniform(0.2, 0.9))
            trouble()

    def _kill(self) -> None:
        """Of the worker, if it is its turn and there is one; it is waited for, because there is one only now and then."""
        if self.done["worker killed"] < self.done["watcher killed"]:
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                if self.watcher.kill_worker():
                    self.done["worker killed"] += 1
                    return
                self._pass(0.01)
        self.watcher.kill()
        self.done["watcher killed"] += 1
        time.sleep(self._random.uniform(0, 0.3))
        self.watcher.start()

    def _restart(self) -> None:
        self.server.kill(self._random.uniform(0, 0.5))
        self.done["server restarted"] += 1

    def _outage(self) -> None:
        self.line.cut()
        self._pass(self._random.uniform(0.5, 2))
        self.line.mend()
        self.done["outage"] += 1

    def _pass(self, seconds: float) -> None:
        """Time passes, and the judge looks."""
        until = time.monotonic() + seconds
        while True:
            if self.plan.removes:
                self.findings += judge.removed_too_early(self.register, self.server, self._gone)
            self.watcher.measure()
            if not self.watcher.is_running:
                self.watcher.ended()
                self.findings.append(Finding(Rule.ENDED, f"exit code {self.watcher.exit_codes[-1]}"))
                self.watcher.start()
            rest = until - time.monotonic()
            if rest <= 0:
                return
            time.sleep(min(rest, 0.1))

    # The end.

    def _settle(self) -> bool:
        """Waits until the server has everything and the watcher says that nothing is left. False if it does not come to that."""
        deadline = time.monotonic() + self.plan.patience
        while time.monotonic() < deadline:
            self._pass(0.5)
            there = {recording["sha256"] for recording in self.server.recordings()}
            if there >= set(self.register.all) and not judge.wrong_status(self.watcher.status(), is_done=True):
                if not self.plan.removes or len(self.register.missing()) == len(self.register.all):
                    return True
        return False

    def _conclude(self, is_done: bool) -> None:
        self.findings += judge.on_the_server(self.register, self.server)
        if self.plan.removes:
            left = [written for written in self.register.all.values() if written.path.exists()]
            self.findings += [Finding(Rule.LEFT, str(written.path)) for written in left]
        elif missing := self.register.missing():
            self.findings += [Finding(Rule.REMOVED, str(written.path)) for written in missing]
        # Without an end there is a recording that the watcher has not finished, and it must say so.
        self.findings += judge.wrong_status(self.watcher.status(), is_done)
        if not is_done and not self.findings:
            self.findings.append(Finding(Rule.STATUS, f"something was left after {self.plan.patience:.0f} s"))
        self._end_seconds = self.watcher.stop()
        if self.watcher.exit_codes[-1] != 0:
            self.findings.append(Finding(Rule.ENDED, f"exit code {self.watcher.exit_codes[-1]} at SIGTERM"))
        self.findings += self._secrets()

    def _secrets(self) -> list[Finding]:
        places = [self.folder / "watch.log", *(self.folder / "state").rglob("*")]
        words = (PASSWORD.encode(), b"dXBsb2FkZXI6c2VjcmV0")
        return [Finding(Rule.SECRET, str(path)) for path in places if path.is_file() and any(word in path.read_bytes() for word in words)]

    def _result(self, seconds: float) -> Result:
        ways: dict[str, int] = {}
        for writer in self.writers:
            for way, count in writer.ways.items():
                ways[way] = ways.get(way, 0) + count
        figures: dict[str, object] = {"recordings": len(self.register.all), **ways, **self.done}
        figures["on the server"] = len(self.register.all) - sum(finding.rule is Rule.MISSING for finding in self.findings)
        figures["removed after the delivery"] = len(self._gone) if self.plan.removes else "-"
        figures["watcher's peak, KiB"] = self.watcher.peak_kib
        figures["end after SIGTERM, s"] = f"{self._end_seconds:.1f}"
        figures["time, s"] = f"{seconds:.0f}"
        return Result(self.plan, self.findings, figures, self.watcher.log())
