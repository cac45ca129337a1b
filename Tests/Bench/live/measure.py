"""One recording, sent while it is made."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from digests import sha256
from hivestub import HiveStub
from hivestub.tus import GIGHIVE_EXTENSIONS
from s3 import ENVIRONMENT, S3Stub

from .recorders import SOUND_BYTES_PER_SECOND, Recorder

SETTLE_SECONDS = 1.0
HANGS_AFTER_SECONDS = 60
KILLED_AFTER_BYTES = 24 << 20
STOPPED_BEFORE_END = 28_000_000
CHUNK = 64 << 10
LONG = 32_000_000
"""Of such a recording, parts must arrive before its end."""


@dataclass(frozen=True)
class Timeline:
    """In seconds since the recorder began."""

    written: list[tuple[float, int]]
    """How long the file was, in bytes."""
    arrived: list[tuple[float, int]]
    """How much the server had in whole parts, in bytes."""
    ended: float
    """When the recorder ended."""
    delivered: float


@dataclass(frozen=True)
class Result:
    recorder: Recorder
    length: int
    twice: int
    """Bytes that were sent again."""
    early: int
    """Bytes that had arrived when the recorder ended."""
    all_but_first: float
    """Seconds from the recorder's end until the server had everything but the first part, without the settle time."""
    delivered: float
    """The same until the program's end."""
    is_delivered: bool
    is_same: bool
    is_playable: bool
    is_playable_killed: bool
    """Whether a recording plays whose recorder was killed (-9)."""
    message: str
    """Why it was not delivered."""
    timeline: Timeline

    @property
    def problem(self) -> str | None:
        if not self.is_delivered:
            return f"not delivered: {self.message}"
        if not self.is_same:
            return "other bytes"
        if not self.is_playable:
            return "does not open"
        return None if self.early or self.length < LONG else "nothing arrived before the end"

    def row(self) -> str:
        verdict = f" **{self.problem}**" if self.problem else ""
        return (f"| {self.recorder.name} | {self.recorder.format}{verdict} | {self.length / 1e6:.0f} MB | {self.early / 1e6:.0f} MB "
                f"| {self.twice / 1e6:.1f} MB | {max(0.0, self.all_but_first):.1f} s | {max(0.0, self.delivered):.1f} s | {'yes' if self.is_playable_killed else 'no'} |")


HEAD = """| recorder | format | length | there before the end | sent again | all but the first part | delivered | opens if the recorder was killed |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


class ToS3:
    """The S3 server of the tests."""

    def __init__(self):
        self._stub = S3Stub()
        self._arrivals = []
        # Called once a request has been read to its end.
        self._stub.before = lambda request: self._arrivals.append(
            (time.monotonic(), request.command, request.path, request.headers["Content-Length"]))

    def __enter__(self):
        self._stub.__enter__()
        self.options = ["--s3", "s3://bucket/", "--s3-endpoint", self._stub.url]
        return self

    def __exit__(self, *error):
        self._stub.__exit__(*error)

    def arrived(self) -> list[tuple[float, int, int]]:
        """When, which part, and how many bytes."""
        return [(moment, int(number[1]), int(length)) for moment, command, path, length in self._arrivals
                if command == "PUT" and (number := re.search(r"partNumber=(\d+)", path))]

    def stored(self) -> bytes:
        return next((content for content, _ in self._stub.objects.values()), b"")


class ToTus:
    """A tus server that joins no parts."""

    def __init__(self):
        self._stub = HiveStub(
            user=None, tus_extensions=[name for name in GIGHIVE_EXTENSIONS if name != "concatenation"],
            on_finished=lambda request: self._arrivals.append((time.monotonic(), 0, request.body_bytes)))
        self._arrivals = []

    def __enter__(self):
        self._stub.start()
        self.options = ["--tus-url", self._stub.url + "/tus/"]
        return self

    def __exit__(self, *error):
        self._stub.stop()

    def arrived(self) -> list[tuple[float, int, int]]:
        return self._arrivals

    def stored(self) -> bytes:
        return next((upload.data_path.read_bytes() for upload in self._stub.uploads), b"")


def measure(server, binary: Path, recorder: Recorder, material: Path, rate: float) -> Result:
    with tempfile.TemporaryDirectory() as name, server:
        directory = Path(name)
        file = directory / f"recording.{recorder.suffix}"
        run = _record(binary, recorder, material, rate, file, server.options)
        ended, done = run.ended, run.done
        parts = server.arrived()
        length = file.stat().st_size
        arrived = directory / f"arrived.{recorder.suffix}"
        arrived.write_bytes(server.stored())
        return Result(
            recorder, length, twice=sum(size for *_, size in parts) - length,
            early=sum(size for moment, _, size in parts if moment < ended),
            all_but_first=max((moment for moment, number, _ in parts if number != 1), default=done) - ended - SETTLE_SECONDS,
            delivered=done - ended - SETTLE_SECONDS, is_delivered=run.code == 0, is_same=sha256(file) == sha256(arrived),
            is_playable=plays(arrived), is_playable_killed=plays(_killed(recorder, material, directory)), message=run.message,
            timeline=_timeline(run, parts))


def _timeline(run: _Run, parts: list[tuple[float, int, int]]) -> Timeline:
    sizes = [size for *_, size in sorted(parts)]
    return Timeline(
        written=[(moment - run.began, size) for moment, size in run.sizes],
        arrived=[(moment - run.began, sum(sizes[:count])) for count, (moment, *_) in enumerate(sorted(parts), 1)],
        ended=run.ended - run.began, delivered=run.done - run.began)


@dataclass
class _Run:
    """The moments of time.monotonic() at which the recorder began and ended, and the program ended."""

    began: float = 0.0
    ended: float = 0.0
    done: float = 0.0
    code: int = -1
    message: str = ""
    sizes: list[tuple[float, int]] = field(default_factory=list)
    """How long the file was at a moment."""

    def watch(self, file: Path) -> None:
        while not self.ended:
            self.sizes.append((time.monotonic(), file.stat().st_size if file.exists() else 0))
            time.sleep(0.1)


def _record(binary: Path, recorder: Recorder, material: Path, rate: float, file: Path, options: list[str]) -> _Run:
    run = _Run(began=time.monotonic())
    log = file.with_name("recorder.log")
    with log.open("wb") as said, subprocess.Popen(
            recorder.command(file, material), stdin=subprocess.PIPE, stdout=said, stderr=said) as recording:
        feeding = threading.Thread(target=_feed, args=(recording, recorder, material, rate, file), daemon=True)
        feeding.start()
        threading.Thread(target=run.watch, args=(file,), daemon=True).start()
        sending = None
        try:
            give_up = time.monotonic() + HANGS_AFTER_SECONDS
            while not file.exists() and time.monotonic() < give_up:
                time.sleep(0.01)
            sending = subprocess.Popen(
                [binary, "send", file, *options, "--live", "--settle", f"{SETTLE_SECONDS:g}s", "--json",
                 "--config", "", "--state-dir", file.parent / "state"],
                env={"PATH": os.environ["PATH"], "HOME": str(file.parent), **ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out = _Reader(sending)
            failed = recording.wait(timeout=material.stat().st_size / rate + HANGS_AFTER_SECONDS)
            # OBS 29 sometimes crashes at its end; its file is complete, for another process writes it.
            if failed and not (recorder.name == "OBS" and failed == -signal.SIGSEGV):
                raise RuntimeError(f"{recorder.name} ended with {recording.returncode}: {log.read_text(errors='replace')}")
            # Some close it before they end.
            run.ended = time.monotonic() - max(0.0, time.time() - file.stat().st_mtime)
            sending.wait(timeout=HANGS_AFTER_SECONDS)
            run.done, run.code, run.message = time.monotonic(), sending.returncode, out.message()
            return run
        finally:
            run.ended = run.ended or time.monotonic()
            for process in (recording, sending):
                if process and process.poll() is None:
                    process.kill()


class _Reader(threading.Thread):
    """Takes what the program prints, so that it never waits."""

    def __init__(self, process: subprocess.Popen):
        super().__init__(daemon=True)
        self._process = process
        self._out = self._err = b""
        self.start()

    def run(self) -> None:
        self._out = self._process.stdout.read()
        self._err = self._process.stderr.read()

    def message(self) -> str:
        """Of a failure."""
        self.join(HANGS_AFTER_SECONDS)
        if self._process.returncode == 0:
            return ""
        last = json.loads(self._out.splitlines()[-1]) if self._out else {}
        return str(last.get("message") or self._err.decode(errors="replace"))


def _feed(
    recording: subprocess.Popen, recorder: Recorder, material: Path, rate: float, file: Path, length: int | None = None
) -> None:
    """Writes the material, or its beginning, to the recorder at this rate, in bytes a second. One that is stopped reads it by itself."""
    if recorder.stop:
        # At the end of its material, it would end the recording.
        enough = length or material.stat().st_size - STOPPED_BEFORE_END
        give_up = time.monotonic() + enough / SOUND_BYTES_PER_SECOND + HANGS_AFTER_SECONDS
        while not (file.exists() and file.stat().st_size >= enough) and time.monotonic() < give_up:
            time.sleep(0.05)
        if length is None:
            recording.send_signal(recorder.stop)
        return
    began, count = time.monotonic(), 0
    try:
        with material.open("rb") as source:
            while (length is None or count < length) and (chunk := source.read(CHUNK)):
                recording.stdin.write(chunk)
                count += len(chunk)
                time.sleep(max(0.0, began + count / rate - time.monotonic()))
        if length is None:
            recording.stdin.close()
    except BrokenPipeError:
        pass  # It has ended. Its exit code says why.


def _killed(recorder: Recorder, material: Path, directory: Path) -> Path:
    """A recording whose recorder was killed."""
    file = directory / f"killed.{recorder.suffix}"
    recording = subprocess.Popen(
        recorder.command(file, material), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True)
    _feed(recording, recorder, material, 32e6, file, KILLED_AFTER_BYTES)
    # With the process that writes OBS's file.
    os.killpg(recording.pid, signal.SIGKILL)
    recording.wait()
    try:
        recording.stdin.close()
    except BrokenPipeError:
        pass
    return file


def plays(file: Path) -> bool:
    """Whether ffprobe opens the file, and finds something to play."""
    done = subprocess.run(
        ["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", str(file)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=HANGS_AFTER_SECONDS, check=False)
    return done.returncode == 0 and any(int(count) > 0 for count in re.findall(r"\d+", done.stdout))
