"""Runs the product's binary and reads what it says about each file."""

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from peak import PeakMemory
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
        return [event for event in self.events if event.get("event") in OUTCOMES]

    @property
    def findings(self) -> str:
        """What `doctor` says."""
        return "\n".join(event["message"] for event in self.events if event["event"] == "check")

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
        """Sends to a site in one request, or with `path` to that address of it as a plain multipart endpoint.

        `form` takes the place of the usual options that describe the event.
        """
        base = self._servers.url(site, scheme, host)
        where = ["--server", base, "--protocol", "multipart"] if path is None else ["--multipart-url", base + path]
        if form is None:
            form = ["--org-name", event, "--event-type", "band", "--event-date", "2026-11-20", "--label", LABEL]
        return self.run("send", *files, *where, *self.credentials(scheme if trust else "http"),
                        *form, "--json", *options, timeout=timeout)

    def credentials(self, scheme: str) -> list:
        trusted = ["--cacert", self._servers.ca] if scheme == "https" else []
        return ["--user", "uploader", "--password-file", self.password_file, *trusted]

    def run(self, *arguments, timeout=120) -> Run:
        with self.start(*arguments) as running:
            return running.finish(timeout)

    def start(self, *arguments) -> "Running":
        """Runs the binary beside the test; to be used in `with`, which ends it at the latest."""
        return Running(arguments, self._home)


class Running:
    def __init__(self, arguments: tuple, home: Path):
        # A clean environment: no proxy, no netrc, no state of the person who runs the tests.
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(home)}
        self._begun = time.monotonic()
        self._stdout, self._stderr = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self._process = subprocess.Popen([BINARY, *map(os.fspath, arguments)], env=environment, cwd=home,
                                         stdin=subprocess.DEVNULL, stdout=self._stdout, stderr=self._stderr)
        self._memory = PeakMemory(self._process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._memory.stop()
        self._stdout.close()
        self._stderr.close()

    def wait_until(self, condition, timeout: float = 60) -> None:
        """Until the condition holds, while the uploader runs."""
        deadline = time.monotonic() + timeout
        while not condition():
            if self._process.poll() is not None:
                pytest.fail(f"ended too early: {self.finish()}")
            assert time.monotonic() < deadline, "the condition does not come true"
            time.sleep(0.02)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def finish(self, timeout: float = 120) -> Run:
        """Waits for its end."""
        self._process.wait(timeout)
        self._memory.stop()
        for output in (self._stdout, self._stderr):
            output.seek(0)
        events = [json.loads(line) for line in self._stdout.read().splitlines()]
        return Run(self._process.returncode, self._stderr.read().decode(errors="replace"),
                   time.monotonic() - self._begun, self._memory.kib * 1024, events)
