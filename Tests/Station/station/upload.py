"""A round with one file: `send` and `resume` are killed and started again until they report that it is delivered."""

from __future__ import annotations

import shutil
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import Callable

from digests import sha256
from line import Conduct, Interruption, Line

from . import rules
from .plan import STALL_TIMEOUT_SECONDS, Attempt, Moment, ServerKill, UploadPlan
from .program import Program, Run
from .rules import Observation, Traffic, Written
from .server import Server

MOST_STARTS = 40
MOST_SECONDS = 180.0
"""When a round is given up: a good one takes a few seconds."""
KILL = "kill -9"
"""What an interruption by our own kill is called."""
LABEL, EVENT = "station", "The Station"


class UploadRound:
    def __init__(self, binary: Path, base: Path, plan: UploadPlan, folder: Path, log: Callable[[str], None]):
        """`base`: the file that every round changes a little."""
        self._plan, self._log = plan, log
        self._file = folder / plan.file_name
        self._program = Program(binary, folder, plan.password)
        self._server = Server(plan.receiver, folder, self._program.password_file)
        self._line = Line(0, self._conduct, True, STALL_TIMEOUT_SECONDS, log)
        self._restarts: list[threading.Thread] = []
        shutil.copyfile(base, self._file)
        with self._file.open("r+b") as file:
            file.truncate(plan.size)
            for offset, data in plan.content_changes():
                file.seek(offset)
                file.write(data)
        digest = sha256(self._file)
        self.seen = Observation({digest: Written(digest, plan.size, self._file, {LABEL}, EVENT)})

    def play(self) -> list[rules.Finding]:
        plan, line, seen, server = self._plan, self._line, self.seen, self._server
        with ExitStack() as stack:
            stack.enter_context(server)
            line.server_port = server.port
            stack.enter_context(line)
            disarm = [self._at(kill.moment, lambda kill=kill: self._kill_server(kill)) for kill in plan.server_kills]
            self._start_until_delivered()
            for take_back in disarm:
                take_back()
            for restart in self._restarts:
                restart.join()
            seen.recordings = server.recordings()
        seen.stored, seen.outages = server.stored(), server.outages
        seen.server_errors += server.errors()
        seen.traffic = Traffic(line.exchanges, line.interruptions, line.refusals, line.problems)
        seen.uploads, seen.leaks = self._program.ask("list"), self._program.leaks()
        for exchange in line.exchanges:
            self._log(str(exchange))
        return rules.judge_upload(seen)

    def _start_until_delivered(self) -> None:
        deadline = time.monotonic() + MOST_SECONDS
        for number in range(MOST_STARTS):
            if time.monotonic() > deadline:
                return
            attempt = self._plan.attempt(number)
            if self._start(number, attempt, attempt.resumes):
                return
            last = self.seen.starts[-1]
            # Another start would not be better where this one hung, or ended as it must not.
            if last.hung or not (last.was_killed or last.code == 0 or last.code in rules.NETWORK_CODES):
                return
            # The kill can come between the record's last change and the event: then there is nothing more to do.
            if (last.was_killed or last.code == 0) and [each["state"] for each in self._program.ask("list")] == ["delivered"]:
                return
            # It can also come before there is a record, so that there is nothing to resume.
            if attempt.resumes and last.code == 0 and self._start(number, attempt, False):
                return
            time.sleep(attempt.pause)

    def _start(self, number: int, attempt: Attempt, resumes: bool) -> bool:
        """Returns whether it said delivered."""
        target = ("--server", f"http://127.0.0.1:{self._line.port}", "--label", LABEL, "--org-name", EVENT, "--protocol", "tus")
        what = ("resume", "--all") if resumes else ("send", self._file, *target)
        command = self._program.command(*what, retries=attempt.retries)
        self._log(f"start {number + 1}: {' '.join(command)}; kill: {attempt.kill or 'never'}")
        run = Run(self._program, command)
        disarm = self._at(attempt.kill, run.kill) if attempt.kill else lambda: None
        try:
            start = run.wait(resumes)
        finally:
            disarm()
            run.kill()
        if start.was_killed:
            self._line.interrupted(Interruption(run.killed_at, KILL))
        self.seen.starts.append(start)
        self._log(f"start {number + 1} ended with {start.code}\n{start.output}{start.errors}")
        return start.delivered is not None

    # What strikes.

    def _conduct(self, number: int) -> Conduct:
        struck = sum(interruption.connection is not None for interruption in self._line.interruptions)
        return self._plan.conduct(number, has_trouble=struck < self._plan.troubles)

    def _at(self, moment: Moment, action: Callable[[], None]) -> Callable[[], None]:
        """Lets the action happen at the moment. Returns what prevents it."""
        if moment.point is None:
            return _later(moment.seconds, action)
        cancels = []
        delayed = (lambda: cancels.append(_later(moment.seconds, action))) if moment.seconds else action
        order = self._line.when(moment.point, delayed)

        def prevent() -> None:
            self._line.take_back(order)
            for cancel in cancels:
                cancel()

        return prevent

    def _kill_server(self, kill: ServerKill) -> None:
        self._line.say("kill -9 of the server")

        def restart() -> None:
            try:
                self._server.kill(kill.down_seconds)
                self._line.server_port = self._server.port
            except Exception:
                self.seen.server_errors.append(traceback.format_exc())

        thread = threading.Thread(target=restart, daemon=True)
        thread.start()
        # Only now: the round may end at this moment, and waits for those in the list.
        self._restarts.append(thread)


def _later(seconds: float, action: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer.cancel
