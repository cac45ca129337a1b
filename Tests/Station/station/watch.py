"""A round with a watcher: writers, kills, restarts, outages and reloads at the same time, until everything is quiet."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Callable

from digests import sha256
from line import Conduct, Line

from . import plan as plans
from . import rules
from .plan import STALL_TIMEOUT_SECONDS, WatchPlan
from .program import Program, Watcher
from .rules import Finding, Observation, Rule, Traffic
from .server import USER, Server
from .upload import KILL
from .writers import SETTLE_SECONDS, THRESHOLD, Register, Section, Writer

WRITERS = 4
MOUNT_BYTES = 512 << 20


def why_no_fat() -> str:
    """Nothing, if a tree can be on a FAT file system."""
    if os.getuid() != 0:
        return "only root can mount one"
    return "" if "\tvfat\n" in Path("/proc/filesystems").read_text() else "this kernel has no vfat"


def mount(folder: Path, stack: ExitStack) -> None:
    """A FAT file system, until the round is over."""
    image = folder.with_name(f"{folder.name}.img")
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(MOUNT_BYTES)
    for command in (["mkfs.vfat", image], ["mount", "-t", "vfat", "-o", "loop", image, folder]):
        subprocess.run(command, check=True, capture_output=True)
    stack.callback(subprocess.run, ["umount", folder], check=True)


class WatchRound:
    def __init__(self, binary: Path, plan: WatchPlan, folder: Path, log: Callable[[str], None]):
        self.plan, self.folder, self._log = plan, folder, log
        self._dice = plan.dice("round of a watcher")
        self.program = Program(binary, folder, plan.password)
        self.server = Server(plan.receiver, folder, self.program.password_file)
        self.line = Line(0, self._conduct, True, STALL_TIMEOUT_SECONDS, log)
        self._configuration = folder / "watch.conf"
        self.watcher = Watcher(self.program, self._configuration)
        self.register = Register()
        self.seen = Observation(is_live=plan.live)
        self._gone: set[str] = set()
        self._reloads = 0

    def play(self, meddle: Callable[[WatchRound], None] = lambda round: None) -> list[Finding]:
        """meddle: what a canary does once everything has been written."""
        seen, line = self.seen, self.line
        with ExitStack() as stack:
            trees = zip(("stage", "booth", "loft"), self.plan.removals)
            self.sections = [Section(self.folder / name, removal) for name, removal in trees]
            if not why_no_fat():
                mount(self.folder / "card", stack)
                self.sections.insert(2, Section(self.folder / "card", plans.REMOVE, renames=False))
            stack.enter_context(self.server)
            line.server_port = self.server.port
            stack.enter_context(line)
            self._configure(self.sections[:-1])
            self.watcher.start()
            stack.callback(self.watcher.kill)
            self._write_and_strike()
            meddle(self)
            is_done = self._settle()
            if wrong := wrong_status(self._status(), is_done):
                seen.found.append(Finding(Rule.STATE, wrong))
            elif not is_done:
                seen.found.append(Finding(Rule.DELIVERY, f"something is left after {self.plan.patience:.0f} s"))
            if code := self.watcher.stop():
                seen.found.append(Finding(Rule.EXIT_CODE, f"{code} at SIGTERM"))
            seen.recordings, seen.outages = self.server.recordings(), self.server.outages
            seen.moved = {sha256(path) for each in self.sections for path in each.sent.iterdir()}
            seen.written, seen.stored, seen.server_errors = self.register.all, self.server.stored(), self.server.errors()
            seen.uploads, seen.leaks = self.program.ask("list"), self.program.leaks()
            seen.traffic = Traffic(line.exchanges, line.interruptions, line.refusals, line.problems)
            seen.found += self.register.found
            for exchange in line.exchanges:
                self._log(str(exchange))
            self._log(self.watcher.log())
            return rules.judge_watch(seen)

    @property
    def figures(self) -> dict[str, int]:
        ways = {f"recordings {way}": count for way, count in sorted(self.register.ways.items())}
        joined = {"recordings joined from parts": self.seen.traffic.joins} if self.plan.live else {}
        return {**ways, **joined, "recordings removed after the delivery": len(self._gone)}

    def _write_and_strike(self) -> None:
        """All strikes in their order, spread over the time that the writers need."""
        plan = self.plan
        writers = [
            Writer(number, len(range(number, plan.recordings, WRITERS)), plan.dice(f"writer {number}"), self.sections,
                   self.register, plan.pause, plan.live)
            for number in range(WRITERS)
        ]  # fmt: skip
        for writer in writers:
            writer.start()
        for strike in plan.strikes:
            self._pass(self._dice.uniform(*plan.strike_seconds))
            self.line.say(strike)
            getattr(self, "_" + strike.replace(" ", "_"))()
        for writer in writers:
            while writer.is_alive():
                self._pass(0.1)
            if writer.failure:
                raise writer.failure
        # What is written now must have the last configuration's label.
        for section in self.sections:
            section.labels = section.labels[-1:]
            writers[0]._moved_in(section, plan.dice(section.root.name).randbytes(5000), section.tree / "last.wav")

    # What happens.

    def _conduct(self, number: int) -> Conduct:
        struck = sum(interruption.connection is not None for interruption in self.line.interruptions)
        return self.plan.conduct(number, has_trouble=struck < self.plan.troubles)

    def _watcher_killed(self) -> None:
        self.line.interrupted_all(KILL)
        self.watcher.kill()
        time.sleep(self._dice.uniform(0, 0.3))
        self.watcher.start()

    def _worker_killed(self) -> None:
        """It is waited for, because there is one only now and then."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            if worker := self.watcher.worker:
                self.line.interrupted_all(KILL)
                os.kill(worker, signal.SIGKILL)
                return
            self._pass(0.01)

    def _server_restarted(self) -> None:
        self.server.kill(self._dice.uniform(0, 0.5))
        self.line.server_port = self.server.port

    def _outage(self) -> None:
        self.line.cut()
        self._pass(self._dice.uniform(0.5, 2))
        self.line.is_down = False

    def _reload(self) -> None:
        """Another section, then another label."""
        self._reloads += 1
        if self._reloads > 1:
            section = self.sections[self._reloads % 2]
            self.register.relabel(section, f"take {self._reloads} {{stem}}")
        self._configure(self.sections)
        self.line.interrupted_all(plans.RELOAD)
        self.watcher.signal(signal.SIGHUP)

    def _configure(self, sections: list[Section]) -> None:
        top = f"""server = http://127.0.0.1:{self.line.port}
user = {USER}
password-file = {self.program.password_file}
settle = {SETTLE_SECONDS * 1000:.0f}ms
jobs = 4
threshold = {THRESHOLD}
retry-max-delay = 1s
stall-timeout = {STALL_TIMEOUT_SECONDS:g}s
{"live = yes" if self.plan.live else ""}
"""
        new = self._configuration.with_suffix(".new")
        new.write_text("\n".join([top, *(section.configuration() for section in sections)]))
        new.rename(self._configuration)

    def _pass(self, seconds: float) -> None:
        """Time passes, and the judge looks."""
        until = time.monotonic() + seconds
        while True:
            self._look_for_removed()
            self.watcher.measure()
            if self.watcher.exit_code is not None:
                self.seen.found.append(Finding(Rule.EXIT_CODE, f"{self.watcher.exit_code}, and nobody had ended the watcher"))
                self.watcher.start()
            rest = until - time.monotonic()
            if rest <= 0:
                return
            time.sleep(min(rest, 0.1))

    def _look_for_removed(self) -> None:
        """The bytes of what is missing must be in the server's store."""
        for written in self.register.missing():
            if written.sha256 not in self._gone:
                self._gone.add(written.sha256)
                if not any(path.stat().st_size == written.size for path in self.server.store.glob(f"{written.sha256}*")):
                    self.seen.found.append(Finding(Rule.REMOVED, str(written.path)))

    # The end.

    def _settle(self) -> bool:
        """Waits until the server has everything and the watcher says that nothing is left. False if it does not come to that."""
        deadline = time.monotonic() + self.plan.patience
        while time.monotonic() < deadline:
            self._pass(0.3)
            written = self.register.all.values()
            required = {each.sha256 for each in written if each.is_required}
            there = {recording["sha256"] for recording in self.server.recordings()}
            if there >= required and not any(each.goes and each.path.exists() for each in written):
                if not wrong_status(self._status(), is_done=True):
                    return True
        return False

    def _status(self) -> dict:
        return self.program.ask("status")[0]


def wrong_status(status: dict, is_done: bool) -> str:
    """Of a watcher that is running and, if it is done, has nothing left to do."""
    if not status["watching"] or not status.get("groups"):
        return f"no watcher is seen: {status}"
    for group in status["groups"] if is_done else ():
        left = {name: group[name] for name in ("waiting_count", "set_aside_count", "uploads") if group[name]}
        if left or group["state"] != "ready":
            return f"{group['state']}, {left}, {group['set_aside']}"
    return ""
