"""The log of a disk's writes, as qemu's blklogwrites leaves it, and the disk after a power cut at some point of it."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from pathlib import Path

SECTOR = 512
MAGIC, VERSION = 0x6A736677736872, 1
HEAD = struct.Struct("<QQQI")
ENTRY = struct.Struct("<QQQQ")
FLUSH, FUA, DISCARD = 1, 2, 4


@dataclass(frozen=True)
class Entry:
    sector: int
    data: bytes
    is_flush: bool = False
    is_durable: bool = False
    """Written through the disk's cache."""


@dataclass(frozen=True)
class Cut:
    """The power goes when `end` entries have been written. Of those after the last flush, `kept` says which sectors
    of each have reached the disk; None: all."""

    end: int
    kept: tuple[tuple[int, frozenset[int]], ...] | None = None

    @property
    def kind(self) -> str:
        return "between" if self.kept is not None else "prefix"


class Broken(Exception):
    pass


def read(path: Path) -> list[Entry]:
    text = path.read_bytes()
    if len(text) < SECTOR:
        return []
    magic, version, _, sector_size = HEAD.unpack_from(text)
    if (magic, version, sector_size) != (MAGIC, VERSION, SECTOR):
        raise Broken(f"no log of writes: {text[:32]!r}")
    entries, at = [], SECTOR
    while at + SECTOR <= len(text):
        sector, count, flags, _ = ENTRY.unpack_from(text, at)
        if not count and not flags:
            break
        at += SECTOR
        # A discard has no data in the log, and here it changes nothing: a disk may ignore it.
        if flags & DISCARD:
            entries.append(Entry(sector, b""))
            continue
        data = text[at : at + count * SECTOR]
        if len(data) < count * SECTOR:
            break
        at += len(data)
        entries.append(Entry(sector, data, bool(flags & FLUSH), bool(flags & FUA)))
    return entries


class Position:
    """How many entries a growing log has. Only what is new is looked at."""

    def __init__(self, path: Path):
        self._path = path
        self._at = SECTOR
        self._count = 0

    def now(self) -> int:
        with self._path.open("rb") as log:
            end = log.seek(0, 2)
            while self._at + SECTOR <= end:
                log.seek(self._at)
                _, count, flags, _ = ENTRY.unpack(log.read(ENTRY.size))
                if not count and not flags:
                    break
                length = SECTOR if flags & DISCARD else SECTOR * (1 + count)
                if self._at + length > end:
                    break
                self._at += length
                self._count += 1
        return self._count


def last_flush(entries: list[Entry], end: int) -> int:
    """Entries before this one are on the disk for certain."""
    return next((at + 1 for at in range(end - 1, -1, -1) if entries[at].is_flush), 0)


def choose(entries: list[Entry], count: int, seed: int, first: int = 1) -> list[Cut]:
    """After the first entry that counts. Half of them at flushes, spread over the log; half between two, where any subset of the writes is missing, in a
    quarter of those down to single sectors."""
    dice = random.Random(seed)
    flushes = [at for at, entry in enumerate(entries) if entry.is_flush and at >= first]
    chosen: list[Cut] = []
    at_flushes = min(count // 2, 2 * len(flushes))
    # Just before a flush nothing after the one before is certain; just after it everything is.
    for number in range(at_flushes):
        flush = flushes[number * len(flushes) // at_flushes]
        chosen.append(Cut(flush + number % 2))
    ends = [end for end in range(first, len(entries) + 1) if last_flush(entries, end) < end]
    while len(chosen) < count and ends:
        end = dice.choice(ends)
        chosen.append(Cut(end, subset(entries, end, dice)))
    return sorted(chosen, key=lambda cut: cut.end)


def subset(entries: list[Entry], end: int, dice: random.Random) -> tuple[tuple[int, frozenset[int]], ...]:
    share, tears = dice.choice((0.1, 0.5, 0.9)), dice.random() < 0.25
    kept = []
    for at in range(last_flush(entries, end), end):
        sectors = range(len(entries[at].data) // SECTOR)
        if tears:
            there = frozenset(sector for sector in sectors if dice.random() < share)
        else:
            there = frozenset(sectors) if dice.random() < share else frozenset()
        kept.append((at, there))
    return tuple(kept)


def written(entries: list[Entry], cut: Cut) -> dict[int, bytes]:
    """The sectors that the disk has in place of its first ones."""
    sectors: dict[int, bytes] = {}
    kept = dict(cut.kept or ())
    for at, entry in enumerate(entries[: cut.end]):
        for number in range(len(entry.data) // SECTOR):
            if at not in kept or entry.is_durable or number in kept[at]:
                sectors[entry.sector + number] = entry.data[number * SECTOR : (number + 1) * SECTOR]
    return sectors
