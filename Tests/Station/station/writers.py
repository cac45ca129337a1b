"""Several writers that put recordings into a tree, each in its own way, and note what they have finished."""

from __future__ import annotations

import hashlib
import random
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SIZES = (4_000, 400_000)
"""The smallest and the largest recording, in bytes."""
DIRECTORIES = ("", "stage", "stage/left", "stage/right", "booth/2026/november")


@dataclass
class Written:
    """A recording that is complete."""

    sha256: str
    size: int
    path: Path
    """Where it is now, as long as nobody but its writer has moved it."""
    renames: int


class Register:
    """What all writers have finished, by digest. Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._written: dict[str, Written] = {}
        self._moving: set[str] = set()

    def add(self, written: Written) -> None:
        with self._lock:
            self._written[written.sha256] = written

    def move(self, written: Written, target: Path) -> bool:
        """Renames it unless it is gone. While that happens, nobody else looks for it."""
        with self._lock:
            try:
                written.path.rename(target)
            except FileNotFoundError:
                return False
            written.path = target
            written.renames += 1
            return True

    def missing(self) -> list[Written]:
        """Those that are no longer where their writer left them."""
        with self._lock:
            return [written for written in self._written.values() if not written.path.exists()]

    @property
    def all(self) -> dict[str, Written]:
        with self._lock:
            return dict(self._written)


class Writer(threading.Thread):
    """Makes `count` recordings, one after the other."""

    def __init__(self, number: int, count: int, seed: int, tree: Path, outside: Path, register: Register, pause: float):
        super().__init__(daemon=True, name=f"writer {number}")
        self._number, self._count, self._pause = number, count, pause
        self._random = random.Random(seed * 1000 + number)
        self._tree, self._outside, self._register = tree, outside, register
        self.failure: BaseException | None = None
        self.ways: dict[str, int] = {}

    def run(self) -> None:
        try:
            for index in range(self._count):
                self._make(index)
        except BaseException as error:  # noqa: BLE001: the run reports it
            self.failure = error

    def _make(self, index: int) -> None:
        way = self._random.choice([self._in_place, self._under_another_name, self._moved_in, self._in_a_new_directory])
        self.ways[way.__name__.lstrip("_")] = self.ways.get(way.__name__.lstrip("_"), 0) + 1
        content = self._random.randbytes(self._random.randint(*SIZES))
        target = self._tree / self._random.choice(DIRECTORIES) / f"set-{self._number}-{index}.wav"
        target.parent.mkdir(parents=True, exist_ok=True)
        written = Written(hashlib.sha256(content).hexdigest(), len(content), way(content, target, index), 0)
        self._register.add(written)
        time.sleep(self._random.uniform(0, 2 * self._pause))
        if self._random.random() < 0.2:
            target = written.path.with_name(f"renamed-{written.path.name}")
            if self._register.move(written, target):
                self.ways["renamed"] = self.ways.get("renamed", 0) + 1

    def _in_place(self, content: bytes, target: Path, index: int) -> Path:
        """Like a recorder: the file is open all the time and grows, with pauses that are longer than --settle now and then."""
        with target.open("wb", buffering=0) as file:
            for part in range(4):
                file.write(content[part * len(content) // 4 : (part + 1) * len(content) // 4])
                time.sleep(self._random.choice([0.01, self._pause, 1.5 if index % 8 == 0 else 0.02]))
        return target

    def _under_another_name(self, content: bytes, target: Path, index: int) -> Path:
        """Like a download: a name that is never taken, until it is complete."""
        part = target.with_name(target.name + ".part")
        part.write_bytes(content[: len(content) // 2])
        time.sleep(self._pause)
        part.write_bytes(content)
        part.rename(target)
        return target

    def _moved_in(self, content: bytes, target: Path, index: int) -> Path:
        source = self._outside / target.name
        source.write_bytes(content)
        source.rename(target)
        return target

    def _in_a_new_directory(self, content: bytes, target: Path, index: int) -> Path:
        """A whole directory appears at once, with what is in it."""
        source = self._outside / f"card-{self._number}-{index}"
        (source / "deep").mkdir(parents=True)
        (source / "deep" / target.name).write_bytes(content)
        directory = target.parent / source.name
        source.rename(directory)
        return directory / "deep" / target.name
