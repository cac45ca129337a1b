"""Power cuts: the program starts on the disk that each leaves behind, with the server as it was then, and resumes.

FAT has no journal: after some cuts the kernel finds a broken chain. If it then makes the file system read-only, no record may be
missing; if it cannot read the directory at all, the program must say so. After `fsck.vfat -a`, which boards run when they boot,
no record may be missing either, and every upload must be resumed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Callable

from . import live, removals, rules, writelog
from . import story as stories
from .host import USER, Harness
from .machine import HOST, Disk, Machine
from .rules import Seen
from .story import FILES, HiveStub, Story

BLOCK = 4096
AT_A_TIME = 64
"""Cuts in one boot: each is a part of one disk."""
REPAIRS = 3
"""Runs of `fsck.vfat` until it finds nothing."""
SECONDS_A_CUT = 120.0
"""A limit for what hangs, with room for a host with much else to do."""

JOB = """
with="--user %(user)s --password-file /password --set shared-secrets=yes --state-dir /state/uploads --retry 0"
touch -d "2026-01-02 03:04:05" /recordings/*
mkdir /state
list() {
  gighive-upload list --json --state-dir /state/uploads >/out 2>/errors; say code $1 $?
  while read -r line; do say $1 "$line"; done </out
}
cut=0
while [ $cut -lt %(cuts)d ]; do
  say cut $cut
  wget -q -O /dev/null "http://%(host)s:%(harness)d/cut/$cut" || say failed "no server"
  losetup -o $((cut * %(bytes)d)) /dev/loop0 /dev/vda
  if mount -t %(type)s -o %(options)s /dev/loop0 /state 2>/mount; then
    unreadable=
    case "$(ls -d /state/uploads 2>&1)" in *"Input/output error"*) unreadable=yes; say unreadable;; esac
%(again)s    umount /state
  else
    say unmountable $(cat /mount)
  fi
  losetup -d /dev/loop0
  wget -q -O /dev/null "http://%(host)s:%(harness)d/end/$cut"
  cut=$((cut + 1))
done
"""

AGAIN = """
    if [ -d /state/uploads ] || [ "$unreadable" ]; then
      list before
      while read -r line; do say warned "$line"; done </errors
      for name in $(ls -A /state/uploads); do say file $name; done
      gighive-upload resume --all $with --json >/out 2>/errors; code=$?; say code resume $code
      if [ $code = 13 ]; then dmesg | tail -n 6 | while read -r line; do say kernel "$line"; done; fi
      while read -r line; do say errors "$line"; done </errors
      list after
    fi
"""


@dataclass(frozen=True)
class Plot:
    """What a board does, what it does after each cut, and the rules."""

    job: str
    is_told: Callable[[Story], bool]
    again: str
    judge: Callable[..., list[str]]
    mebibytes: int = 0
    """How much larger the disk is."""
    share: float = 1.0
    """Of the cuts of the others: it takes longer."""


DELIVERIES = Plot(stories.JOB, stories.is_told, AGAIN, rules.judge)
REMOVALS = Plot(removals.JOB, removals.is_told, removals.AGAIN, removals.judge)
LIVE = Plot(live.JOB, live.is_told, live.AGAIN, live.judge, mebibytes=32, share=0.1)


@dataclass
class Replay:
    """All cuts of one story, and what was found."""

    system: str
    entries: int
    flushes: int
    kinds: Counter = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    uploads: int = 0
    """Records that the program found, over all cuts."""
    resumed: int = 0
    repaired: int = 0
    """Cuts after which the kernel made the file system read-only or could not read the directory, until it was repaired."""


class Disks:
    """Makes disks as cuts leave them, one behind the other in a sparse file."""

    def __init__(self, story: Story):
        base = story.base.read_bytes()
        self.bytes = len(base)
        self._entries = story.entries
        self._base = [
            (at, base[at : at + BLOCK]) for at in range(0, len(base), BLOCK) if base[at : at + BLOCK].strip(b"\0")
        ]

    def write(self, cuts: list[writelog.Cut], path: Path, is_repaired: bool = False) -> None:
        with path.open("wb") as disk:
            disk.truncate(self.bytes * len(cuts))
            for number, cut in enumerate(cuts):
                for at, block in self._base:
                    disk.seek(number * self.bytes + at)
                    disk.write(block)
                for sector, data in sorted(writelog.written(self._entries, cut).items()):
                    disk.seek(number * self.bytes + sector * writelog.SECTOR)
                    disk.write(data)
                if is_repaired:
                    disk.flush()
                    repair(path, number * self.bytes, self.bytes)


def repair(disk: Path, offset: int, length: int) -> None:
    """What boards do at boot with a FAT file system that was not unmounted. A directory of which the cut left only the entry takes
    `fsck.vfat` two runs: the first finds that it has no cluster, the second removes it."""
    part = disk.with_name("part")
    with disk.open("rb") as source:
        source.seek(offset)
        part.write_bytes(source.read(length))
    for _ in range(REPAIRS):
        if subprocess.run(["fsck.vfat", "-a", "-w", part], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            break
    with disk.open("r+b") as target:
        target.seek(offset)
        target.write(part.read_bytes())


class Servers:
    """The server at each cut, in turn, at the address that the records have."""

    def __init__(self, story: Story, cuts: list[writelog.Cut], folder: Path):
        self._story = story
        self._cuts = cuts
        self._folder = folder
        self._hive: HiveStub | None = None
        self.problems: list[str] = []

    def store(self, number: int) -> Path:
        return self._folder / f"store-{number}"

    def told(self, words: list[str]) -> None:
        self.stop()
        if words[0] == "cut":
            number = int(words[1])
            shutil.copytree(self._story.server_at(self._cuts[number].end), self.store(number))
            options = {"store": str(self.store(number)), "finalize_delay_seconds": 0.2, "port": self._story.port}
            self._hive = HiveStub(**options).start()

    def stop(self) -> None:
        if self._hive:
            self._hive.stop()
            self.problems += self._hive.internal_errors
            self._hive = None


def replay(machine: Machine, plot: Plot, story: Story, cuts: list[writelog.Cut], system: stories.FileSystem, folder: Path) -> Replay:
    result = Replay(system.name, len(story.entries), sum(entry.is_flush for entry in story.entries))
    disks = Disks(story)
    to_repair = []
    for cut, seen in boot_all(machine, plot, story, cuts, disks, system, folder):
        result.kinds[cut.kind] += 1
        result.uploads += len(seen.before)
        result.resumed += sum(record["state"] != "delivered" for record in seen.before)
        if system.name == "vfat" and (seen.is_read_only or seen.is_unreadable):
            to_repair.append(cut)
        result.findings += [f"{place(system, cut)}: {finding}" for finding in plot.judge(story, cut, seen, system.name == "vfat")]
    result.repaired = len(to_repair)
    for cut, seen in boot_all(machine, plot, story, to_repair, disks, system, folder, is_repaired=True):
        result.findings += [f"{place(system, cut)}, repaired: {finding}" for finding in plot.judge(story, cut, seen)]
    return result


CANARY_CUTS = 8


def canary(machine: Machine, plot: Plot, story: Story, system: stories.FileSystem, folder: Path, seed: int) -> int:
    """How much is found on a disk that says that it has flushed and has not: the rules must notice."""
    entries = [replace(entry, is_flush=False) for entry in story.entries]
    lying = replace(story, entries=entries)
    late = [cut for cut in writelog.choose(entries, 40 * CANARY_CUTS, seed) if cut.end > len(entries) // 2]
    seen = boot_all(machine, plot, lying, late[-CANARY_CUTS:], Disks(lying), system, folder)
    return sum(bool(plot.judge(lying, cut, one)) for cut, one in seen)


def place(system: stories.FileSystem, cut: writelog.Cut) -> str:
    return f"{system.name}, {cut.kind}, after entry {cut.end}"


def boot_all(machine, plot, story, cuts, disks, system, folder, is_repaired=False):
    for first in range(0, len(cuts), AT_A_TIME):
        batch = cuts[first : first + AT_A_TIME]
        yield from zip(batch, boot(machine, plot, story, batch, disks, system, folder, is_repaired))


def boot(machine, plot, story, cuts, disks, system, folder, is_repaired=False) -> list[Seen]:
    here = folder / "cuts"
    here.mkdir()
    disk = here / "disk"
    disks.write(cuts, disk, is_repaired)
    servers = Servers(story, cuts, here)
    with Harness(servers.told) as harness:
        values = {
            "user": USER, "host": HOST, "harness": harness.port, "port": story.port, "cuts": len(cuts),
            "bytes": disks.bytes, "type": system.name, "options": system.mount,
        }  # fmt: skip
        ran = machine.run(JOB % {"again": plot.again % values, **values}, FILES, (Disk(disk),), seconds=600 + SECONDS_A_CUT * len(cuts))
        problems = harness.failures + servers.problems
    servers.stop()
    seen = read(ran.results, len(cuts))
    for number, one in enumerate(seen):
        one.problems += problems
        one.server_before = stories.describe(story.server_at(cuts[number].end))
        one.server_after = stories.describe(servers.store(number))
    shutil.rmtree(here)
    return seen


def read(results: list[str], count: int) -> list[Seen]:
    seen = [Seen() for _ in range(count)]
    current = Seen()
    for line in results:
        kind, _, rest = line.partition(" ")
        if kind == "cut":
            current = seen[int(rest)]
        elif kind in ("before", "after"):
            record = json.loads(rest)
            if "state" in record:
                getattr(current, kind).append(record)
            else:  # the event of a failure, such as a state directory that cannot be read
                current.errors.append(rest)
        elif kind == "code":
            name, code = rest.split()
            current.codes[name] = int(code)
        elif kind == "there":
            moment, *place = rest.split(" ", 2)
            current.looks.setdefault(moment, []).append(place)
        elif kind == "journal":
            current.journal = rest
        elif kind == "file":
            current.files.append(rest)
        elif kind == "warned":
            current.warnings.append(rest)
        elif kind == "errors":
            current.errors.append(rest)
        elif kind == "kernel":
            current.kernel.append(rest)
        elif kind == "unreadable":
            current.is_unreadable = True
        elif kind in ("unmountable", "failed"):
            current.problems.append(line)
    return seen
