"""Several writers that put recordings into trees, each in its own way, and note what they have finished."""

from __future__ import annotations

import hashlib
import os
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .plan import KEEP, KEEP_FREE, MIB, MOVE
from .rules import Finding, Rule, Written

SIZES = (4_000, 400_000)
"""The smallest and the largest recording, in bytes; most go by a form, some by tus."""
THRESHOLD = 250_000
LARGE_SIZES = (9 * MIB, 18 * MIB)
"""More than an interruption may cost."""
LARGE_SHARE = 0.06
LIVE_SIZES = (18 * MIB, 36 * MIB)
"""From 20 MiB on, a recording is sent while it is made."""
DIRECTORIES = ("", "stage", "stage/left", "stage/right", "booth/2026/november")
SETTLE_SECONDS = 1.0


@dataclass
class Section:
    """A tree that is watched, for an event of its own."""

    root: Path
    removal: str
    renames: bool = True
    """False on FAT, where a renamed file is a new one."""
    labels: list[str] = field(default_factory=lambda: ["{stem}"])
    """What is configured now, last, and before."""

    def __post_init__(self):
        self.tree, self.outside, self.sent = (self.root / name for name in ("rec", "outside", "sent"))
        for directory in (self.tree, self.outside, self.sent):
            directory.mkdir(parents=True)
        self.event = f"The {self.root.name}"

    def configuration(self) -> str:
        removal = {KEEP: "after = keep", MOVE: f"after = move={self.sent}", KEEP_FREE: "keep-free = 900000G"}
        lines = [f"[watch {self.tree}]", f"label = {self.labels[-1]}", f"org-name = {self.event}"]
        return "\n".join([*lines, removal.get(self.removal, f"after = {self.removal}"), ""])


class Register:
    """What all writers have finished, by digest. Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._written: dict[str, Written] = {}
        self.found: list[Finding] = []
        self.ways: Counter[str] = Counter()

    def add(
        self, section: Section, content: bytes, path: Path, is_required: bool = True, rewritten: int = 0, former: Path | None = None
    ) -> Written:
        """former: what its name was while it was made."""
        digest = hashlib.sha256(content).hexdigest()
        written = Written(digest, len(content), path, set(), section.event, is_required, section.removal, rewritten)
        with self._lock:
            written.named({path, former or path}, section.labels)
            self._written[digest] = written
        return written

    def move(self, written: Written, section: Section, target: Path) -> None:
        """Renames it unless it is gone. While that happens, nobody else looks for it."""
        with self._lock:
            try:
                written.path.rename(target)
            except FileNotFoundError:
                return
            former, written.path = written.path, target
            written.named({former, target}, section.labels)
            self.ways["renamed"] += 1

    def relabel(self, section: Section, label: str) -> None:
        """What is not delivered yet can get the new label, too."""
        with self._lock:
            section.labels.append(label)
            for written in self._written.values():
                if written.path.is_relative_to(section.tree):
                    written.named(set(), [label])

    def missing(self) -> list[Written]:
        """Those that are no longer where their writer left them."""
        with self._lock:
            return [written for written in self._written.values() if written.is_required and not written.path.exists()]

    @property
    def all(self) -> dict[str, Written]:
        with self._lock:
            return dict(self._written)


class Writer(threading.Thread):
    """Makes `count` recordings, one after the other."""

    def __init__(self, number: int, count: int, dice: random.Random, sections: list[Section], register: Register, pause: float,
                 live: bool = False):  # fmt: skip
        super().__init__(daemon=True)
        self._number, self._count, self._pause, self._live = number, count, pause, live
        self._random, self._sections, self._register = dice, sections, register
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            for index in range(self._count):
                self._make(index)
        except BaseException as error:  # noqa: BLE001: the round reports it
            self.failure = error

    def _make(self, index: int) -> None:
        ways = [self._in_place, self._under_another_name, self._moved_in, self._in_a_new_directory, self._continued]
        way, section = self._random.choice(ways), self._random.choice(self._sections)
        sizes = LARGE_SIZES if self._random.random() < LARGE_SHARE else SIZES
        if self._live and index % 2 == 0:
            way, sizes = self._by_a_recorder, LIVE_SIZES
        self._register.ways[way.__name__.strip("_").replace("_", " ")] += 1
        content = self._random.randbytes(self._random.randint(*sizes))
        target = section.tree / self._random.choice(DIRECTORIES) / f"set-{self._number}-{index}.wav"
        target.parent.mkdir(parents=True, exist_ok=True)
        written = way(section, content, target)
        time.sleep(self._random.uniform(0, 2 * self._pause))
        if self._random.random() < 0.2 and section.renames:
            self._register.move(written, section, written.path.with_name(f"renamed-{written.path.name}"))

    def _in_place(self, section: Section, content: bytes, target: Path) -> Written:
        """Like a recorder: the file is open all the time and grows, with pauses that are longer than --settle now and then."""
        with target.open("wb", buffering=0) as file:
            for part in range(4):
                file.write(content[part * len(content) // 4 : (part + 1) * len(content) // 4])
                time.sleep(self._random.choice([0.01, 0.02, self._pause, self._pause, 1.5 * SETTLE_SECONDS]))
        return self._register.add(section, content, target)

    def _continued(self, section: Section, content: bytes, target: Path) -> Written:
        """Like a recorder that closes its file after a take and opens it again for the next one: what was delivered in
        between is a recording, and what is there in the end is another one."""
        half = content[: len(content) // 2]
        self._register.add(section, half, target, is_required=False)
        target.write_bytes(half)
        time.sleep(self._random.choice([0.3, 1.1, 1.5, 2.5]) * SETTLE_SECONDS)
        try:
            with target.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                file.write(content[len(half) :])
                file.flush()
                time.sleep(self._pause)
                if os.fstat(file.fileno()).st_nlink == 0:
                    self._register.found.append(Finding(Rule.REMOVED, f"{target}, while its writer had it open"))
        except FileNotFoundError:
            # It was delivered and removed.
            return self._register.add(section, half, target)
        return self._register.add(section, content, target)

    def _under_another_name(self, section: Section, content: bytes, target: Path) -> Written:
        """Like a download: a name that is never taken, until it is complete."""
        part = target.with_name(target.name + ".part")
        part.write_bytes(content[: len(content) // 2])
        time.sleep(self._pause)
        part.write_bytes(content)
        part.rename(target)
        return self._register.add(section, content, target)

    def _moved_in(self, section: Section, content: bytes, target: Path) -> Written:
        source = section.outside / target.name
        source.write_bytes(content)
        source.rename(target)
        return self._register.add(section, content, target)

    def _in_a_new_directory(self, section: Section, content: bytes, target: Path) -> Written:
        """A whole directory appears at once, with what is in it."""
        source = section.outside / f"card-{target.stem}"
        (source / "deep").mkdir(parents=True)
        (source / "deep" / target.name).write_bytes(content)
        source.rename(target.parent / source.name)
        return self._register.add(section, content, target.parent / source.name / "deep" / target.name)

    def _by_a_recorder(self, section: Section, content: bytes, target: Path) -> Written:
        """Appends, writes something again now and then, and its head at the end. Some reserve space, some are killed, some close
        the file and continue it, and some files are renamed meanwhile."""
        dice, first = self._random, target
        recorder = Recorder(target, reserved=len(content) + 3 * MIB if section.renames and dice.random() < 0.25 else 0)
        is_killed, stops = dice.random() < 0.25, dice.random() < 0.2
        end = dice.randrange(len(content) // 4, len(content)) if is_killed else len(content)
        while recorder.length < end:
            recorder.append(content[recorder.length : min(end, recorder.length + dice.randint(MIB // 4, 3 * MIB))])
            time.sleep(dice.choice([0.01, *[self._pause] * 4, 3 * self._pause, 1.5 * SETTLE_SECONDS]))
            if dice.random() < 0.08:
                recorder.rewrite(dice.randrange(recorder.length), dice.randbytes(1))
            if dice.random() < 0.01 and section.renames:
                target = recorder.path = target.rename(target.with_name(f"meanwhile-{target.name}"))
            if stops and recorder.length > end // 2:
                stops = False
                half = self._register.add(section, recorder.content(), target, is_required=False)
                recorder.close()
                time.sleep(dice.choice([0.3, 1.1, 1.5, 2.5]) * SETTLE_SECONDS)
                try:
                    recorder.reopen()
                except FileNotFoundError:
                    # It was delivered and removed.
                    half.is_required, half.rewritten = True, recorder.rewritten
                    return half
        if not is_killed:
            recorder.finish(dice.randbytes(44))
        written = self._register.add(section, recorder.content(), target, rewritten=recorder.rewritten, former=first)
        if recorder.close() == 0:
            self._register.found.append(Finding(Rule.REMOVED, f"{target}, while its recorder had it open"))
        self._register.ways["by a recorder that was killed"] += is_killed
        return written


class Recorder:
    """A file that grows."""

    def __init__(self, path: Path, reserved: int):
        self.path, self.length, self.rewritten = path, 0, 0
        self._file = path.open("w+b", buffering=0)
        if reserved:
            os.posix_fallocate(self._file.fileno(), 0, reserved)

    def append(self, content: bytes) -> None:
        os.pwrite(self._file.fileno(), content, self.length)
        self.length += len(content)

    def rewrite(self, offset: int, content: bytes) -> None:
        os.pwrite(self._file.fileno(), content, offset)
        self.rewritten += 1

    def finish(self, head: bytes) -> None:
        """Gives back what it has reserved."""
        os.pwrite(self._file.fileno(), head, 0)
        os.ftruncate(self._file.fileno(), self.length)

    def content(self) -> bytes:
        """With what is reserved and not written, as zeros."""
        return os.pread(self._file.fileno(), os.fstat(self._file.fileno()).st_size, 0)

    def close(self) -> int:
        """How many names the file has."""
        links = os.fstat(self._file.fileno()).st_nlink
        self._file.close()
        return links

    def reopen(self) -> None:
        self._file = self.path.open("r+b", buffering=0)
