"""A watcher under test: its log, its workers, and what the server has got."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from program import private, trust, wait_until
from uploads import sha256

SETTLE = ["--settle", "300ms"]


class Watching:
    """`watch` in progress. Its standard error is a file, so that it can be read meanwhile."""

    def __init__(self, program, stub, *arguments, env=None, directory="rec", named=True, **options):
        self.log_file = program.directory / "watch.log"
        destination = ["--server", stub.url, "--label", "{stem}", "--user", "uploader", *trust(stub)] if stub else []
        with open(self.log_file, "ab") as log:
            self.running = program.start(
                "watch", *([directory] if named else []), *SETTLE, *destination, *arguments, stderr=log, stdout=log,
                env={"GIGHIVE_PASSWORD": "secret", **(env or {})}, **options)
        self.pid = self.running.pid

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def says(self, text: str, count: int = 1, seconds: float = 40) -> None:
        try:
            wait_until(lambda: self.log.count(text) >= count or self._ended(), seconds, f"{text!r} in the log")
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.log}") from None

    def _ended(self) -> bool:
        assert self.running.process.poll() is None, self.log
        return False

    @property
    def workers(self) -> list[int]:
        return [int(child) for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    @property
    def worker(self) -> int | None:
        return next(iter(self.workers), None)

    def wait_for_worker(self) -> int:
        return wait_until(lambda: self.worker, what="a worker")

    def idle(self) -> None:
        """Until no worker is there."""
        wait_until(lambda: self.worker is None, 40, what="the end of the worker")

    def stop(self, number=signal.SIGTERM) -> int:
        self.running.signal(number)
        return self.running.wait().code

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.running.wait()


def status(program, *options) -> dict:
    result = program.run("status", "--json", *options)
    assert result.code == (0 if result.outcome["watching"] else 3), result
    return result.outcome


def wait_for_status(program, condition=lambda found: True, options=(), seconds: float = 30) -> dict:
    """The status, once there is one for which the condition holds. It is written at most every five seconds."""

    def shown():
        found = status(program, *options)
        return found if "groups" in found and condition(found) else None

    # Each look runs the program.
    return wait_until(shown, seconds, "the status", longest_pause=0.25)


def write(path: Path, size: int = 1000) -> Path:
    """A finished file of random bytes: it appears under its name at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / (path.name + ".part")
    part.write_bytes(os.urandom(size))
    return part.rename(path)


def got(stub) -> list[str]:
    """The names of what the server has, in order."""
    return [recording.label for recording in stub.recordings]


def has(stub, *files, seconds: float = 20) -> None:
    """Waits until the server has exactly these files, each once."""
    wanted = sorted(map(sha256, files))
    wait_until(lambda: len(stub.recordings) >= len(wanted), seconds, what=f"{len(wanted)} recordings")
    assert sorted(recording.sha256 for recording in stub.recordings) == wanted, (got(stub), files)


def times_sent(stub) -> int:
    """How many bodies with a file the server has read to the end."""
    return sum(1 for request in stub.requests if request.file)


def has_bytes(stub, count: int) -> None:
    wait_until(lambda: any(upload.offset >= count for upload in stub.uploads), what=f"an upload with {count} bytes")


def configure(tmp_path, stub, text) -> Path:
    """A configuration for that server."""
    return private(tmp_path / "watch.conf", f"server = {stub.url}\nuser = uploader\n{text}")


def section(directory, **options) -> str:
    """Of a configuration."""
    lines = [f"{name.replace('_', '-')} = {value}" for name, value in options.items()]
    return "\n".join([f"[watch {directory}]", *lines, ""])


def reload(watching, count: int = 1) -> None:
    """Has it read its configuration again."""
    os.kill(watching.pid, signal.SIGHUP)
    watching.says("configuration reloaded.", count=count)
