"""One round: a file, a server, a proxy in between, and a client that is killed and restarted until it reports delivered."""

from __future__ import annotations

import base64
import shutil
import tempfile
import threading
import time
import traceback
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from . import rules
from .client import Client
from .conduct import Conduct, Interruption
from .plan import STALL_TIMEOUT_SECONDS, Moment, Plan
from .proxy import Proxy
from .rules import Finding, Observation, Rule, digest_of
from .server import USER, Server

MOST_STARTS = 40
MOST_SECONDS = 180.0
"""When a round is given up: a good one takes a few seconds."""
DELIVERED = "delivered"
KILL = "kill -9"
"""What an interruption by our own kill is called."""


@dataclass(frozen=True)
class Setting:
    """What all rounds share."""

    binary: Path
    folder: Path
    base: Path
    """The file that every round changes a little."""
    size: int


@dataclass
class Outcome:
    """A round, what was observed, and what is wrong with it."""

    plan: Plan
    seconds: float
    seen: Observation
    findings: list[Finding] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    @property
    def has_passed(self) -> bool:
        return not self.findings


def run(setting: Setting, seed: int, plan: Plan | None = None) -> Outcome:
    """Never raises: what goes wrong here is a finding. `plan`: instead of what the seed says."""
    began = time.monotonic()
    plan = plan or Plan(seed, setting.size)
    log: list[str] = []
    seen = Observation(size=setting.size, sha256="")
    try:
        with tempfile.TemporaryDirectory(prefix=f"round-{seed}-", dir=setting.folder) as folder:
            Round(setting, plan, Path(folder), seen, log.append).run()
        findings = rules.judge(seen)
    except Exception:
        findings = [Finding(Rule.HARNESS, traceback.format_exc())]
    return Outcome(plan, time.monotonic() - began, seen, findings, log)


class Round:
    def __init__(self, setting: Setting, plan: Plan, folder: Path, seen: Observation, log: Callable[[str], None]):
        self._setting, self._plan, self._folder, self._seen, self._log = setting, plan, folder, seen, log
        self._file = folder / plan.file_name
        self._password = plan.password
        password_file = folder / "password"
        password_file.touch(mode=0o600)
        password_file.write_text(self._password + "\n")
        home = folder / "home"
        home.mkdir()
        self._client = Client(setting.binary, home, password_file, STALL_TIMEOUT_SECONDS)
        self._server = Server(plan.receiver, folder, password_file)
        self._proxy = Proxy(0, self._conduct_for, STALL_TIMEOUT_SECONDS, log)
        self._restarts: list[threading.Thread] = []
        self._failures: list[str] = []

    def run(self) -> None:
        plan, proxy, seen = self._plan, self._proxy, self._seen
        self._log(f"seed {plan.seed}: {plan}")
        self._make_file()
        with ExitStack() as stack:
            stack.callback(self._server.stop)
            self._server.start()
            proxy.upstream_port = self._server.port
            stack.enter_context(proxy)
            disarm = [self._at(kill.moment, lambda kill=kill: self._kill_server(kill)) for kill in plan.server_kills]
            self._start_until_delivered()
            for take_back in disarm:
                take_back()
            for restart in self._restarts:
                restart.join()
            proxy.stop()
            seen.recordings = self._server.recordings()
        seen.stored = self._server.stored()
        seen.server_errors = self._server.errors() + self._failures
        seen.exchanges, seen.interruptions = proxy.exchanges, proxy.interruptions
        seen.refusals, seen.problems, seen.outages = proxy.refusals, proxy.problems, self._server.outages
        seen.states = self._client.states()
        basic = base64.b64encode(f"{USER}:{self._password}".encode())
        seen.leaks = self._client.leaks([self._password.encode(), basic])
        for exchange in seen.exchanges:
            self._log(str(exchange))

    def _make_file(self) -> None:
        shutil.copyfile(self._setting.base, self._file)
        with self._file.open("r+b") as file:
            for offset, data in self._plan.content_changes():
                file.seek(offset)
                file.write(data)
        self._seen.sha256 = digest_of(self._file)

    def _start_until_delivered(self) -> None:
        deadline = time.monotonic() + MOST_SECONDS
        for number in range(MOST_STARTS):
            if time.monotonic() > deadline:
                return
            attempt = self._plan.attempt(number)
            if self._start(number, attempt, attempt.resumes) or not self._can_go_on():
                return
            last = self._seen.starts[-1]
            # The kill can come between the record's last change and the event: then there is nothing more to do.
            if (last.was_killed or last.code == 0) and self._client.states() == [DELIVERED]:
                return
            # It can also come before there is a record, so that there is nothing to resume.
            if attempt.resumes and last.code == 0 and self._start(number, attempt, False):
                return
            time.sleep(attempt.pause)

    def _can_go_on(self) -> bool:
        """Another start would not be better where the last one hung, or ended as it must not."""
        last = self._seen.starts[-1]
        return not last.hung and (last.was_killed or last.code == 0 or last.code in rules.NETWORK_CODES)

    def _start(self, number: int, attempt, resumes: bool) -> bool:
        """Returns whether it said delivered."""
        client, log = self._client, self._log
        if resumes:
            command = client.resume(attempt.retries)
        else:
            command = client.send(self._file, self._proxy.port, attempt.retries)
        log(f"start {number + 1}: {' '.join(command)}; kill: {attempt.kill or 'never'}")
        run = client.start(command)
        disarm = self._at(attempt.kill, run.kill) if attempt.kill else lambda: None
        try:
            start = run.wait(resumes)
        finally:
            disarm()
            run.end()
        if start.was_killed:
            self._proxy.interrupted(Interruption(run.killed_at, KILL))
        self._seen.starts.append(start)
        log(f"start {number + 1} ended with {start.code}\n{start.output}{start.errors}")
        return start.delivered is not None

    # What strikes.

    def _conduct_for(self, number: int) -> Conduct:
        struck = sum(interruption.connection is not None for interruption in self._proxy.interruptions)
        return self._plan.conduct(number, has_trouble=struck < self._plan.troubles)

    def _at(self, moment: Moment, action: Callable[[], None]) -> Callable[[], None]:
        """Lets the action happen at the moment. Returns what prevents it."""
        if moment.point is None:
            return _later(moment.seconds, action)
        timers = []
        if not moment.seconds:
            return self._proxy.when(moment.point, action)
        take_back = self._proxy.when(moment.point, lambda: timers.append(_later(moment.seconds, action)))

        def prevent() -> None:
            take_back()
            for cancel in timers:
                cancel()

        return prevent

    def _kill_server(self, kill) -> None:
        self._proxy.say("kill -9 of the server")

        def restart() -> None:
            try:
                self._server.kill(kill.down_seconds)
                self._proxy.upstream_port = self._server.port
            except Exception:
                self._failures.append(traceback.format_exc())

        thread = threading.Thread(target=restart, daemon=True)
        self._restarts.append(thread)
        thread.start()


def _later(seconds: float, action: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer.cancel
