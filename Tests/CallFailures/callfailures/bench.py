"""The results of one run of the program with a fault, and one without."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "HiveStub"), str(TESTS / "Support")]

from digests import key_pin  # noqa: E402
from hivestub import HiveStub, make_certificates  # noqa: E402

from .scenarios import PASSWORD, TOKEN, USER, Scenario, Stage  # noqa: E402

HANGS_AFTER_SECONDS = 25.0
"""A form that was sent in vain is sent again after 10 s."""
STUB_LASTS = 150
"""Runs, before a stub is replaced: it keeps a log of everything."""


@dataclass(frozen=True)
class Fault:
    """Which call fails, and how."""

    function: str
    """A function's name, or memory."""
    number: int
    variant: int = 0
    canary: str = ""
    """What the program is made to do wrong instead: see canary.py."""


@dataclass(frozen=True)
class Hit:
    """The call that was made to fail."""

    number: int
    function: str
    way: str
    """An error's name, or short, end, truncated."""
    ways: int
    about: str

    @classmethod
    def read(cls, path: Path) -> "Hit | None":
        try:
            line = path.read_bytes().decode("utf-8", "replace").splitlines()[0]
        except (FileNotFoundError, IndexError):
            return None
        number, function, way, ways, about = line.split("\t", 4)
        return cls(int(number), function, way, int(ways), about)

    def __str__(self) -> str:
        """The same text for what is the same in another run."""
        about = os.path.basename(self.about)
        for suffix in (".mp4", ".record", ".new"):
            about = f"*{suffix}" if about.endswith(suffix) else about
        if about.endswith(".lock") and about != "directory.lock":
            about = "*.lock"
        about = "socket" if about.startswith("socket:") else about
        return f"{self.function} {self.way}" + (f" ({about})" if about else "")


@dataclass
class Run:
    """The result of a run of the program."""

    code: int | None
    """None if it had to be killed."""
    out: str
    err: str
    seconds: float

    @property
    def events(self) -> list[dict]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Sight:
    """Where a recording is that is to be removed."""

    is_there: bool
    """It has its name."""
    is_due: bool
    """A mark says that it is still to be removed."""
    problem: str | None
    """How it is lost."""

    @classmethod
    def of(cls, stage: Stage) -> "Sight":
        whole = [path for path in stage.copies if hashlib.sha256(path.read_bytes()).hexdigest() == stage.sha256]
        problem = None
        if broken := [path.name for path in stage.copies if path not in whole]:
            problem = f"{', '.join(broken)} is not the recording"
        elif not whole and stage.target:
            problem = "it was to be moved, and is nowhere"
        elif not whole and not stage.recordings:
            problem = "it is gone, and the server does not have it"
        return cls(stage.recording.exists(), any(stage.state.glob("*.remove")), problem)


@dataclass
class Outcome:
    """A run with a fault, and the state after it."""

    scenario: Scenario
    retries: int
    is_json: bool
    fault: Fault
    hit: Hit | None
    faulty: Run
    problem: str | None
    """What is not as a success says, right after the run."""
    had_upload: bool = False
    """Whether the record and the server both knew of an unfinished upload afterwards."""
    is_forgotten: bool = False
    """Whether the server had an unfinished upload that the record knew before the run, but not afterwards."""
    again: Run | None = None
    """The same command without a fault; None after a success."""
    problem_again: str | None = None
    orphans: int = 0
    """Unfinished uploads on the server at the end."""
    posts: int = 0
    """Whole plain requests that it has received in the end."""
    left_over: tuple[str, ...] = ()
    """Files in the state directory that are no longer needed."""
    secrets: tuple[str, ...] = ()
    seen: Sight | None = None
    """The recording that is to be removed, right after the run; None if it is to stay."""
    seen_again: Sight | None = None


class Bench:
    """Stubs, certificates and a directory in memory. For one process."""

    def __init__(self, program: Path, library: Path, certificates):
        # In the folder of the whole run, which is removed even if this process is ended.
        self._folder = Path(tempfile.mkdtemp(dir=library.parent))
        self._program = program
        self._library = library
        self._certificates = certificates
        self._stubs: dict[bool, tuple[HiveStub, int]] = {}
        self._numbers = itertools.count(1)

    def close(self) -> None:
        for hive, _ in self._stubs.values():
            hive.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _hive(self, is_tls: bool) -> HiveStub:
        hive, used = self._stubs.get(is_tls, (None, STUB_LASTS))
        if used >= STUB_LASTS:
            if hive:
                hive.stop()
            hive = HiveStub(tls=self._certificates if is_tls else None, password=PASSWORD).start()
            hive.is_tls = is_tls
            used = 0
        self._stubs[is_tls] = (hive, used + 1)
        hive.set_faults()
        return hive

    def run(self, scenario: Scenario, retries: int, is_json: bool, fault: Fault, trace: Path | None = None) -> Outcome:
        folder = self._folder / f"take-{next(self._numbers)}"
        folder.mkdir()
        hive = self._hive(scenario.is_tls)
        try:
            stage = Stage(folder, hive, self._program, self._certificates, scenario.host)
            scenario.prepare(stage)
            hive.set_faults(*scenario.faults)
            if scenario.is_transfer:
                stage.command += ["--retry", str(retries), "--set", "retry-max-delay=10ms"]
            if stage.command[0] in ("send", "resume"):
                stage.command += ["--progress", "none"]
            if is_json:
                stage.command.append("--json")
            return self._examine(stage, scenario, retries, is_json, fault, trace)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _examine(
        self, stage: Stage, scenario: Scenario, retries: int, is_json: bool, fault: Fault, trace: Path | None
    ) -> Outcome:
        report = stage.folder / "report"
        faulty = self._start(stage, {
            "CALL_FAILURES_FUNCTION": fault.function, "CALL_FAILURES_NUMBER": str(fault.number),
            "CALL_FAILURES_VARIANT": str(fault.variant),
            "CALL_FAILURES_REPORT": str(report), "CALL_FAILURES_TRACE": str(trace or ""),
            "CALL_FAILURES_CANARY": fault.canary, "CALL_FAILURES_RECORDING": str(stage.recording),
            "CALL_FAILURES_STATE": str(stage.state),
        })
        outcome = Outcome(
            scenario, retries, is_json, fault, Hit.read(report), faulty, _settled(stage, scenario, faulty))
        secrets = _secrets(stage)
        outcome.had_upload = bool(stage.uploads) and _has_url(stage)
        outcome.is_forgotten = scenario.begins_with_upload and bool(stage.uploads) and not _has_url(stage)
        if scenario.removes:
            outcome.seen = Sight.of(stage)
            # `send` needs something to send.
            stage.recording.with_name("next.mp4").write_bytes(os.urandom(1000))
        if scenario.removes or faulty.code not in (0, 14):  # with 14 it is done, and could not be told
            outcome.again = self._start(stage, {})
            outcome.problem_again = _settled(stage, scenario, outcome.again)
        if scenario.removes:
            outcome.seen_again = Sight.of(stage)
        outcome.orphans = 0 if scenario.ends_with_upload else len(stage.uploads)
        outcome.posts = len(stage.posts)
        outcome.left_over = tuple(_left_over(stage))
        said = faulty.out + faulty.err + (outcome.again.out + outcome.again.err if outcome.again else "")
        outcome.secrets = tuple(name for name, text in secrets.items() if text in said)
        return outcome

    def _start(self, stage: Stage, more: dict[str, str]) -> Run:
        began = time.monotonic()
        process = subprocess.Popen(
            [self._program, *stage.command], cwd=stage.folder,
            env={**stage.environment, "LD_PRELOAD": str(self._library), **more},  # It also knows a name that is no machine's.
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=HANGS_AFTER_SECONDS)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
            code = None
        seconds = time.monotonic() - began
        return Run(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), seconds)


def _settled(stage: Stage, scenario: Scenario, run: Run) -> str | None:
    """The stub may finish a moment after the program, but only where the program could not know."""
    return scenario.check(stage) if run.code in (0, 14) else None


def _has_url(stage: Stage) -> bool:
    return any('"upload_url"' in path.read_text() for path in stage.records)


def _left_over(stage: Stage) -> list[str]:
    """Half-written records, reserved room and names of records that have ended, locks of records that do not exist, and what a removal needs while it
    lasts. Names that no record has taken are for the next ones: a file `spare` and a file `room` each."""
    known = {"directory", "spare", *(path.stem for path in stage.records)}
    locks = [path.name for path in stage.state.glob("*.lock") if path.stem not in known]
    journal = stage.state / "removals"
    files = [*stage.state.glob("*.spare"), *stage.state.glob("*.room")]
    names = {path.name for path in files}
    free = {id for id in {path.stem for path in files} - known if {f"{id}.spare", f"{id}.room"} <= names}
    return [
        *(path.name for path in [*stage.state.glob("*.new"), *stage.hidden]), *locks,
        *(path.name for path in files if path.stem not in free),
        *(["a line of removals"] if journal.exists() and journal.read_bytes().strip(b"\n") else []),
    ]


def _secrets(stage: Stage) -> dict[str, str]:
    secrets = {
        "the password": PASSWORD, "the bearer token": TOKEN,
        "the credentials": base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(),
    }
    assets = {recording.asset_id for recording in stage.recordings} | {stage.asset}
    for asset in assets:
        token = stage.hive.catalogue.delete_token(asset)
        if token:
            secrets["the delete token"] = token
    return secrets


def memory_directory() -> str | None:
    """Where fsync costs nothing, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None


def certificates():
    made = dataclasses.replace(make_certificates())
    object.__setattr__(made, "pin", key_pin(made.certificate))
    return made
