"""Starts of the program under test, and its output."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from .rules import Start
from .server import USER

HANGS_AFTER_SECONDS = 60.0
RETRY_MAX_DELAY = "500ms"
SECONDS_FOR_A_LIST = 20.0


@dataclass(frozen=True)
class Client:
    binary: Path
    folder: Path
    """Its home: whatever it writes should be in there."""
    password_file: Path
    stall_timeout: float

    @property
    def state_folder(self) -> Path:
        return self.folder / "state"

    def send(self, file: Path, port: int, retries: int) -> list[str]:
        target = ["--server", f"http://127.0.0.1:{port}", "--label", "chaos", "--protocol", "tus"]
        return [str(self.binary), "send", str(file), *target, *self._options(retries)]

    def resume(self, retries: int) -> list[str]:
        return [str(self.binary), "resume", "--all", *self._options(retries)]

    def _options(self, retries: int) -> list[str]:
        waits = ["--stall-timeout", f"{self.stall_timeout:g}s", "--retries", str(retries)]
        waits += ["--retry-max-delay", RETRY_MAX_DELAY]
        credentials = ["--user", USER, "--password-file", str(self.password_file)]
        return ["--state-dir", str(self.state_folder), "--json", *waits, *credentials]

    def start(self, command: list[str]) -> Run:
        return Run(command, self.folder)

    def states(self) -> list[str]:
        """What `list` says of each upload: one word each."""
        command = [str(self.binary), "list", "--json", "--state-dir", str(self.state_folder)]
        done = subprocess.run(
            command, env=environment(self.folder), capture_output=True, text=True, timeout=SECONDS_FOR_A_LIST
        )
        if done.returncode != 0:
            return [f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"]
        entries, bad_lines = read_events(done.stdout)
        return [str(entry.get("state", entry)) for entry in entries] + bad_lines

    def leaks(self, secrets: list[bytes]) -> list[str]:
        """Files below its home, but for the password's own, that hold a secret."""
        files = [path for path in self.folder.rglob("*") if path.is_file() and path != self.password_file]
        return [str(path.relative_to(self.folder)) for path in files if _holds(path, secrets)]


class Run:
    """A start in progress."""

    def __init__(self, command: list[str], folder: Path):
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            command, env=environment(folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
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
        events, bad_lines = read_events(out.decode(errors="replace"))
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

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder)}


def read_events(text: str) -> tuple[list[dict], list[str]]:
    """JSON objects, one a line, and the lines that are none."""
    events, bad_lines = [], []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if isinstance(event, dict):
            events.append(event)
        else:
            bad_lines.append(line)
    return events, bad_lines


def _holds(path: Path, secrets: list[bytes]) -> bool:
    content = path.read_bytes()
    return any(secret in content for secret in secrets)
