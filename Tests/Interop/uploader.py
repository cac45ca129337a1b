"""Runs the product's binary and reads what it says about each file."""

import json
import os
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from servers import USERS, Servers

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("GIGHIVE_UPLOAD", ROOT / "dist" / "gighive-upload-x86_64"))
OUTCOMES = ("delivered", "failed")
LABEL = "Encore, naïve & „loud“"


@dataclass
class Run:
    exit_code: int
    stderr: str
    seconds: float
    peak_memory_bytes: int
    events: list = field(default_factory=list)

    @property
    def outcomes(self) -> list:
        """One event a file: how it ended."""
        return [event for event in self.events if event["event"] in OUTCOMES]

    @property
    def outcome(self) -> dict:
        assert len(self.outcomes) == 1, f"one outcome expected: {self}"
        return self.outcomes[0]


class Uploader:
    def __init__(self, servers: Servers):
        if not os.access(BINARY, os.X_OK):
            pytest.fail(f"{BINARY} is not there: `make static`, or name another in GIGHIVE_UPLOAD", pytrace=False)
        self._servers = servers
        self._home = servers.root / "home"
        self._home.mkdir()
        self.password_file = self._home / "password"
        self.password_file.write_text(USERS["uploader"] + "\n")
        self.password_file.chmod(0o600)

    def send(self, site: str, scheme: str, *files: Path, options=(), event="Interop", form=None,
             path=None, host="localhost", trust=True, timeout=120) -> Run:
        """Sends to a site, or with `path` to that address of it as a plain multipart endpoint.

        `form` takes the place of the usual options that describe the event.
        """
        base = self._servers.url(site, scheme, host)
        where = ["--server", base] if path is None else ["--multipart-url", base + path]
        trusted = ["--cacert", self._servers.ca] if trust and scheme == "https" else []
        if form is None:
            form = ["--org-name", event, "--event-type", "band", "--event-date", "2026-11-20", "--label", LABEL]
        return self._run(["send", *files, *where, "--user", "uploader", "--password-file", self.password_file,
                          *trusted, *form, "--json", *options], timeout)

    def _run(self, arguments: list, timeout: float) -> Run:
        # An environment of its own: no proxy, no netrc, no state of the person who runs the tests.
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self._home)}
        begun = time.monotonic()
        process = subprocess.Popen([BINARY, *map(os.fspath, arguments)], env=environment, cwd=self._home,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        memory = _PeakMemory(process.pid)
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            memory.stop()
        events = [json.loads(line) for line in stdout.splitlines()]
        return Run(process.returncode, stderr.decode(errors="replace"), time.monotonic() - begun,
                   memory.bytes, events)


class _PeakMemory:
    """Watches VmHWM: the kernel keeps the high-water mark, so a poll that misses the peak sees it later.

    Popen returns after the exec, so nothing of this interpreter's memory is counted.
    """

    INTERVAL_SECONDS = 0.02

    def __init__(self, pid: int):
        self.bytes = 0
        self._status = Path(f"/proc/{pid}/status")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.is_set():
            self._read()
            self._ended.wait(self.INTERVAL_SECONDS)

    def _read(self) -> None:
        try:
            lines = self._status.read_text().splitlines()
        except OSError:  # it has ended
            return
        for line in lines:
            if line.startswith("VmHWM:"):
                self.bytes = max(self.bytes, int(line.split()[1]) * 1024)
