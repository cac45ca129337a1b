"""The judge proves itself: what is spoiled must be found, and for that reason."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from .judge import Rule
from .run import Plan, Result, Run
from .writers import Written

RECORDINGS = 8
PLAN = Plan(seed=7, recordings=RECORDINGS, kills=0, restarts=0, outages=0, removes=False, pause=0.01, patience=20)


@dataclass(frozen=True)
class Canary:
    name: str
    rule: Rule | None
    """What must be found; None for nothing."""
    meddle: Callable[[Run], None]


def delivered(run: Run) -> None:
    """Waits until the server has everything."""
    deadline = time.monotonic() + PLAN.patience
    while len(run.server.recordings()) < RECORDINGS and time.monotonic() < deadline:
        time.sleep(0.1)


def lie(run: Run) -> None:
    """The server goes on naming the digest of a recording, but has other bytes."""
    delivered(run)
    digest = next(iter(run.register.all))
    (stored,) = run.server.store.glob(f"{digest}*")
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 1
    stored.write_bytes(content)


def send(run: Run, path: Path, *options: str) -> None:
    """Another program delivers something."""
    command = [*run.watcher.command[:1], "send", str(path), *run.watcher.command[3:]]
    for name in ("--settle", "--state-dir"):
        at = command.index(name)
        del command[at : at + 2]
    command += ["--state-dir", str(run.folder / "other"), "--quiet", *options]
    subprocess.run(command, check=True, timeout=60)


def half(run: Run) -> None:
    """A recording is taken before it is complete."""
    path = run.folder / "half.wav"
    source = next(iter(run.register.all.values())).path
    path.write_bytes(source.read_bytes()[:2000])
    send(run, path)


def twice(run: Run) -> None:
    """A recording is delivered to a second event."""
    delivered(run)
    send(run, next(iter(run.register.all.values())).path, "--org-name", "Another Band")


def remove(run: Run) -> None:
    """A recording disappears that nobody was told to remove."""
    delivered(run)
    next(iter(run.register.all.values())).path.unlink()


def remove_early(run: Run) -> None:
    """The same before it is delivered."""
    run.line.cut()
    directory = run.tree / "late"
    directory.mkdir()
    path = directory / "late.wav"
    path.write_bytes(b"late" * 1000)
    run.register.add(Written(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size, path, 0))
    shutil.rmtree(directory)
    run.line.mend()


CANARIES = [
    Canary("right", None, lambda run: None),
    Canary("a server that lies about one recording", Rule.CONTENT, lie),
    Canary("a recording that was sent before it was complete", Rule.STRANGE, half),
    Canary("a recording that is delivered twice", Rule.TWICE, twice),
    Canary("a recording that is removed although nobody asked for it", Rule.REMOVED, remove),
    Canary("a recording that is lost", Rule.MISSING, remove_early),
]


def unnoticed(canary: Canary, result: Result) -> str:
    """Nothing, if the judge can be trusted."""
    found = {finding.rule for finding in result.findings}
    if canary.rule is None:
        return "; ".join(map(str, result.findings))
    return "" if canary.rule in found else f"'{canary.rule.value}' was not found, only {sorted(rule.value for rule in found)}"


def examine(binary: Path, folder: Path) -> list[tuple[Canary, str]]:
    """Each with what went unnoticed."""

    def play(number: int) -> tuple[Canary, str]:
        canary = CANARIES[number]
        return canary, unnoticed(canary, Run(binary, folder / f"canary-{number}", PLAN).play(canary.meddle))

    with ThreadPoolExecutor(len(CANARIES)) as pool:
        return list(pool.map(play, range(len(CANARIES))))
