"""Runs the program like a user's shell, with a hard time limit, and reads its output."""

from __future__ import annotations

import functools
import os
import re
import signal
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

import schema
from peak import PeakMemory

HANGS_AFTER_SECONDS = 60

RETRYING = ("send", "resume", "cancel", "delete")
"""The commands that try again after a failure."""


@dataclass
class Outcome:
    """The result of a run. `out` and `err` are decoded; bytes that are not UTF-8 fail the test."""

    code: int
    out: str
    err: str
    peak_kib: int = 0
    """VmHWM, as last seen before the end, or as `--verbose` says it there; 0 if it was not measured."""

    @property
    def events(self) -> list[dict]:
        """The output of --json: every line must be as documented."""
        return [schema.check(line) for line in self.out.splitlines()]

    @property
    def outcome(self) -> dict:
        return self.events[-1]

    def check(self) -> Outcome:
        """Itself. Fails the test unless the exit code is 0."""
        assert self.code == 0, self
        return self

    def __str__(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Running:
    """A run in progress."""

    def __init__(self, command: list, measure: bool = False, **options):
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, **options)
        self.pid = self.process.pid
        self._memory = PeakMemory(self.pid) if measure else None

    def signal(self, number: int) -> None:
        """Not before the program has said what it does about SIGINT and SIGTERM."""
        if number in (signal.SIGINT, signal.SIGTERM):
            wait_until(lambda: self.process.poll() is not None or self.expects(number), what="a program that catches signals")
        self.process.send_signal(number)

    def expects(self, number: int) -> bool:
        """Whether it catches or ignores the signal."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return True
        masks = re.findall(r"Sig(?:Cgt|Ign):\s*([0-9a-f]+)", status)
        return not masks or any(int(mask, 16) >> (number - 1) & 1 for mask in masks)

    def wait(self, seconds: float = HANGS_AFTER_SECONDS) -> Outcome:
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            pytest.fail(f"hangs: no end after {seconds} s\n--- stdout\n{out}\n--- stderr\n{err}")
        peak_kib = 0
        if self._memory:
            self._memory.stop()
            said = re.search(rb"peak memory \(VmHWM\) ([0-9]+) KiB", err or b"")
            peak_kib = max(self._memory.kib, int(said[1]) if said else 0)
        text = [(stream or b"").decode("utf-8") for stream in (out, err)]
        return Outcome(self.process.returncode, *text, peak_kib=peak_kib)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Program:
    """The program with a clean environment, its own directory and its own state directory.

    Unless a test says otherwise it does not try again after a failure: most are about what one failure comes to.
    """

    def __init__(self, path: Path, directory: Path, state_home: Path, emulator: list[str]):
        self.path = path
        self.state_home = state_home
        self.emulator = emulator
        """What runs a program for another processor, such as qemu-aarch64-static; empty for the machine's own."""
        self.directory = directory
        self._running: list[Running] = []

    @property
    def command(self) -> list[str]:
        return [*self.emulator, str(self.path)]

    @property
    def state(self) -> Path:
        """The directory with its records, once there are any."""
        return self.state_home / "gighive-upload"

    def start(
        self, *arguments, env: dict | None = None, cwd=None, measure: bool = False, retries: int | None = 0, under: list = [], **options
    ) -> Running:
        """env: replaces variables, or takes those away that are None. retries: None leaves it to the program. under: what runs it."""
        if retries is not None and arguments and arguments[0] in RETRYING:
            arguments = (arguments[0], "--retry", retries, *arguments[1:])
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        command = [_bytes(argument) for argument in (*under, *self.command, *arguments)]
        running = Running(command, measure, env=self.environment(env), cwd=cwd or self.directory, **options)
        self._running.append(running)
        return running

    def environment(self, changes: dict | None = None) -> dict:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C.UTF-8"}
        environment |= {"XDG_STATE_HOME": str(self.state_home), **(changes or {})}
        return {name: value for name, value in environment.items() if value is not None}

    def run(self, *arguments, seconds: float = HANGS_AFTER_SECONDS, **options) -> Outcome:
        return self.start(*arguments, **options).wait(seconds)

    def send(self, hive, *arguments, **options) -> Outcome:
        """`send` to a stub as GigHive, with a label and its credentials."""
        return self.run(*self.sending(hive, *arguments), **_with_password(options))

    def start_sending(self, hive, *arguments, **options) -> Running:
        return self.start(*self.sending(hive, *arguments), **_with_password(options))

    def post(self, hive, *arguments, **options) -> Outcome:
        """`send` to a stub as any other endpoint."""
        return self.run("send", "--multipart-url", hive.url + "/upload", *trust(hive), *arguments, **options)

    def sending(self, hive, *arguments) -> list:
        form = ["--server", hive.url, "--label", "First set", "--user", "uploader"]
        return ["send", *form, *trust(hive), *arguments]

    def end_all(self) -> None:
        for running in self._running:
            running.end()

    @property
    def keeps_the_promise(self) -> bool:
        """Whether it runs without shared libraries and without an emulator, so that its memory can be measured."""
        return not self.emulator and self.is_static

    @functools.cached_property
    def is_static(self) -> bool:
        """No program header asks for a dynamic linker (PT_INTERP is 3)."""
        data = self.path.read_bytes()
        assert data[:5] == b"\x7fELF\x02", "not a 64-bit ELF file"
        offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
        return all(struct.unpack_from("<I", data, offset + number * size)[0] != 3 for number in range(count))


root = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount, and be another user")

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
"""For `start`: the program runs as a user without privileges. Only root can do that."""


def private(path: Path, content) -> Path:
    """Writes a file that only its owner can read, as the program requires for secrets."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(0o600)
    return path


def strace(*options, log="/dev/null") -> list:
    """For `start`: its calls go to the log, and some may fail."""
    return ["strace", "-f", "-qq", "-e", "signal=none", "-o", log, *options]


def trust(hive) -> list:
    """--cacert for the authority that all stubs' certificates come from."""
    return ["--cacert", hive.certificates.cacert] if hive.certificates else []


def wait_until(condition, seconds: float = HANGS_AFTER_SECONDS, what: str = "the condition", longest_pause: float = 0.05):
    """Polls, less and less often; returns what the condition gave."""
    deadline = time.monotonic() + seconds
    pause = 0.002
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come true within {seconds} s"
        time.sleep(pause)
        pause = min(1.1 * pause, longest_pause)
    return value


def _with_password(options: dict) -> dict:
    return {**options, "env": {"GIGHIVE_PASSWORD": "secret", **(options.get("env") or {})}}


def _bytes(argument) -> bytes:
    return argument if isinstance(argument, bytes) else os.fsencode(str(argument))
