"""The program under test: starts that end by themselves, and a watcher that does not."""

from __future__ import annotations

import base64
import json
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from .plan import STALL_TIMEOUT_SECONDS
from .rules import Start
from .server import USER

HANGS_AFTER_SECONDS = 60.0
ANSWERS_WITHIN_SECONDS = 60.0
NOBODY_WATCHES = 3
"""The exit code of `status` while there is no watcher."""


class Program:
    """With a home of its own: whatever it writes should be in there."""

    def __init__(self, binary: Path, folder: Path, password: str):
        self.binary, self.home = binary, folder / "home"
        self.state = self.home / "state"
        self.home.mkdir(parents=True)
        self.password_file = folder / "password"
        self.password_file.touch(mode=0o600)
        self.password_file.write_text(password + "\n")
        self._secrets = [password.encode(), base64.b64encode(f"{USER}:{password}".encode())]

    def command(self, *arguments: str | Path, retries: int) -> list[str]:
        """Of a start that sends or resumes."""
        options = ["--user", USER, "--password-file", str(self.password_file), "--state-dir", str(self.state), "--config", ""]
        options += ["--set", f"stall-timeout={STALL_TIMEOUT_SECONDS:g}s", "--retry", str(retries), "--set", "retry-max-delay=500ms"]
        return [str(self.binary), *map(str, arguments), "--json", *options]

    def popen(self, command: list[str], **streams) -> subprocess.Popen:
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(self.home)}
        return subprocess.Popen(command, env=environment, cwd=self.home, stdin=subprocess.DEVNULL, **streams)

    def ask(self, what: str) -> list[dict]:
        """The JSON objects of `list` or `status`."""
        command = [str(self.binary), what, "--json", "--state-dir", str(self.state), "--config", ""]
        process = self.popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=ANSWERS_WITHIN_SECONDS)
        objects, bad_lines = read_objects(out.decode(errors="replace"))
        if process.returncode not in (0, NOBODY_WATCHES) or bad_lines:
            raise RuntimeError(f"{what}: exit code {process.returncode}: {bad_lines} {err[-300:]!r}")
        return objects

    def leaks(self) -> list[str]:
        """Files below its home that hold the password, or its Base64."""
        contents = {path: path.read_bytes() for path in self.home.rglob("*") if path.is_file()}
        return [str(path) for path, content in contents.items() if any(secret in content for secret in self._secrets)]


class Run:
    """A start in progress."""

    def __init__(self, program: Program, command: list[str]):
        self._began = time.monotonic()
        self._process = program.popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.killed_at: float | None = None
        self._lock = threading.Lock()

    def kill(self) -> None:
        """kill -9, unless it has ended."""
        with self._lock:
            if self.killed_at is None and self._process.poll() is None:
                self.killed_at = time.monotonic()
                self._process.kill()

    def wait(self, resumes: bool) -> Start:
        hung = False
        try:
            out, err = self._process.communicate(timeout=HANGS_AFTER_SECONDS)
        except subprocess.TimeoutExpired:
            hung = True
            self._process.kill()
            out, err = self._process.communicate()
        was_killed = self.killed_at is not None and self._process.returncode == -signal.SIGKILL
        events, bad_lines = read_objects(out.decode(errors="replace"))
        return Start(
            began=self._began,
            ended=time.monotonic(),
            code=self._process.returncode,
            resumes=resumes,
            was_killed=was_killed,
            hung=hung,
            delivered=next((event for event in reversed(events) if event.get("event") == "delivered"), None),
            # A kill may cut a line in two.
            bad_lines=[] if was_killed else bad_lines,
            errors=err.decode(errors="replace"),
            output=out.decode(errors="replace"),
        )


class Watcher:
    """`gighive-upload watch`, killed and started again. Its log is in its home, where secrets are looked for."""

    def __init__(self, program: Program, configuration: Path):
        self._program = program
        self._command = [str(program.binary), "watch", "--config", str(configuration), "--state-dir", str(program.state)]
        self._log = program.home / "watch.log"
        self.peak_kib = 0
        """VmHWM of all watching processes, as far as it was seen."""

    def start(self) -> None:
        """Returns when signals do not end it any more."""
        with self._log.open("ab") as log:
            self._process = self._program.popen(self._command, stdout=log, stderr=log)
        while self.exit_code is None and not self._status("SigCgt", 16) & 1 << signal.SIGTERM - 1:
            time.sleep(0.005)

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def worker(self) -> int | None:
        try:
            return int(Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()[0])
        except (OSError, IndexError):
            return None

    def measure(self) -> None:
        self.peak_kib = max(self.peak_kib, self._status("VmHWM", 10))

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self._process.terminate()
        try:
            return self._process.wait(HANGS_AFTER_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def _status(self, name: str, base: int) -> int:
        try:
            found = re.search(rf"{name}:\s*([0-9a-f]+)", Path(f"/proc/{self._process.pid}/status").read_text())
        except OSError:
            return 0
        return int(found.group(1), base) if found else 0


def read_objects(text: str) -> tuple[list[dict], list[str]]:
    """JSON objects, one a line, and the lines that are none."""
    objects, bad_lines = [], []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        objects += [value] if isinstance(value, dict) else []
        bad_lines += [] if isinstance(value, dict) else [line]
    return objects, bad_lines
