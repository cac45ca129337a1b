"""What a board does while its disk's writes are logged, and what the server saw of it at which entry of the log."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from . import writelog
from .host import PASSWORD, USER, Harness, HiveStub, WatchedHive
from .machine import HOST, Disk, Machine

RECORDING_BYTES = 150_000
NAMES = "abcdefghijkl"
RECORDINGS = {f"recordings/{name}.mp4": random.Random(name).randbytes(RECORDING_BYTES) for name in NAMES}
FILES = {**RECORDINGS, "password": PASSWORD.encode()}
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class FileSystem:
    name: str
    mebibytes: int
    make: tuple[str, ...]
    mount: str = "noatime"


FILE_SYSTEMS = {
    "ext4": FileSystem("ext4", 16, ("mkfs.ext4", "-q", "-F", "-b", "4096")),
    "vfat": FileSystem("vfat", 36, ("mkfs.vfat", "-F", "32", "-s", "1")),
    "f2fs": FileSystem("f2fs", 64, ("mkfs.f2fs", "-q", "-f")),
}

# What all stories begin with.
JOB_BEGIN = """
told() { wget -q -O /dev/null "http://%(host)s:%(harness)d/$1" || say failed "$1"; }
hive="--server http://%(host)s:%(port)d --event-date 2026-01-02"
with="--user %(user)s --password-file /password --set shared-secrets=yes --state-dir /state/uploads --retry 0 --quiet"
touch -d "2026-01-02 03:04:05" /recordings/*
mkdir /state
mount -t %(type)s -o %(options)s /dev/vda /state || say failed mount
"""

# Uploads that arrive at once, break off at each step and go on, by both protocols, alone and side by side; and one that
# is ended. `told` returns when the harness knows.
JOB = JOB_BEGIN + """
upload() {
  names=$1; shift
  files=; for name in $names; do files="$files /recordings/$name.mp4"; done
  gighive-upload send $files $with "$@"; code=$?
  for name in $names; do told ended/$name/$code; done
}
resume() { gighive-upload resume --all $with; code=$?; for name in $1; do told ended/$name/$code; done; }
tus="$hive --protocol tus --chunk-size 32k --label take"
upload a $tus
told fault/PATCH/status=503@2-9; upload b $tus; told fault; resume b
told fault/finalize/lose-answer@1; upload c $tus; told fault; resume c
upload d $hive --protocol multipart --label take
told fault/create/lose-answer@1-9; upload e $tus; told fault; resume e
told fault/PATCH/lose-answer@5-9; upload f --tus-url http://%(host)s:%(port)d/tus/ --chunk-size 32k; told fault; resume f
upload "g h" $tus --jobs 2
told fault/PATCH/reset-after=20000; upload i $tus; told fault
id=$(gighive-upload list --state-dir /state/uploads | grep i.mp4 | cut -c 1-8)
gighive-upload cancel $id $with && told ended/i/cancelled
gighive-upload forget --all --state-dir /state/uploads && told forgotten
told fault/multipart/lose-answer@1; upload j $hive --protocol multipart --label take; told fault; resume j
told fault/PATCH/status=503@3-9; upload k $tus; told fault; upload l $tus
umount /state
"""


@dataclass
class Story:
    """The log, and at which of its entries (`position`) what was so."""

    base: Path
    """The disk before the first write."""
    entries: list[writelog.Entry]
    known: dict[str, int] = field(default_factory=dict)
    """File: the server saw a request for its upload by then, so its record has been synced."""
    delivered: dict[str, int] = field(default_factory=dict)
    """File: the program had said so by then."""
    cancelled: dict[str, int] = field(default_factory=dict)
    copied: int = 0
    """When the recordings that the board is to remove were on the disk."""
    forgotten: int | None = None
    """When the records of the files that were delivered by then were gone."""
    states: list[tuple[int, Path]] = field(default_factory=list)
    """Copies of the server's store, oldest first."""
    port: int = 0
    problems: list[str] = field(default_factory=list)

    def server_at(self, position: int) -> Path:
        return [path for at, path in self.states if at <= position][-1]


class Recorder:
    """Notes what happens on the server, and where the log is then."""

    def __init__(self, story: Story, folder: Path, position: writelog.Position):
        self._story = story
        self._folder = folder
        self._position = position
        self._lock = threading.Lock()
        self.store = folder / "store"
        self.hive: WatchedHive | None = None

    def keep_state(self) -> None:
        copy = self._folder / f"state-{len(self._story.states)}"
        shutil.copytree(self.store, copy)
        self._story.states.append((self._position.now(), copy))

    def request(self, moment: str, request) -> None:
        with self._lock:
            if moment == "done":
                self.keep_state()
            elif request.method in ("PATCH", "HEAD"):
                id = request.path.rpartition("/")[2]
                for upload in self.hive.uploads:
                    # A part has no name.
                    if upload.id == id and "filename" in upload.metadata:
                        self._story.known.setdefault(upload.metadata["filename"], self._position.now())

    def told(self, words: list[str]) -> None:
        with self._lock:
            if words[0] == "fault":
                self.hive.set_faults(*(["/".join(words[1:])] if words[1:] else []))
            elif words[0] == "copied":
                self._story.copied = self._position.now()
            elif words[0] == "forgotten":
                self._story.forgotten = self._position.now()
            elif words[2] == "0":
                self._story.delivered.setdefault(f"{words[1]}.mp4", self._position.now())
            elif words[2] == "cancelled":
                self._story.cancelled[f"{words[1]}.mp4"] = self._position.now()


def make_disk(system: FileSystem, path: Path) -> None:
    with path.open("wb") as disk:
        disk.truncate(system.mebibytes * MEBIBYTE)
    subprocess.run([*system.make, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_told(story: Story) -> bool:
    missing = {name.rpartition("/")[2] for name in RECORDINGS} - {"i.mp4", "k.mp4"} - set(story.delivered)
    return not missing and "i.mp4" in story.cancelled and story.forgotten is not None


def record(machine: Machine, job: str, is_told: Callable[[Story], bool], system: FileSystem, folder: Path) -> Story:
    base, disk, log = (folder / name for name in ("base", "disk", "log"))
    make_disk(system, base)
    shutil.copy(base, disk)
    log.write_bytes(b"")
    story = Story(base, [])
    recorder = Recorder(story, folder, writelog.Position(log))
    recorder.store.mkdir()
    hive = recorder.hive = WatchedHive(recorder.request, store=str(recorder.store), finalize_delay_seconds=0.2)
    with hive, Harness(recorder.told) as harness:
        story.port = hive.port
        recorder.keep_state()
        job %= {
            "host": HOST, "harness": harness.port, "port": hive.port, "user": USER, "type": system.name,
            "options": system.mount,
        }  # fmt: skip
        ran = machine.run(job, FILES, (Disk(disk, log),), seconds=240)
        story.problems += harness.failures + hive.internal_errors
        story.problems += [" ".join(words) for words in ran.values("failed")]
        story.problems += [line for line in ran.console.splitlines() if "panic" in line]
    story.entries = writelog.read(log)
    if not is_told(story):
        story.problems.append(f"the board did not do all of it: {story.delivered} {ran.console[-1500:]}")
    return story


def describe(path: Path) -> tuple[list[dict], list[dict]]:
    """The recordings of a server's store, and its complete uploads at /tus/."""
    catalogue = path / ".hivestub/catalogue.json"
    recordings = json.loads(catalogue.read_text())["recordings"] if catalogue.exists() else []
    uploads = []
    for info in (path / ".hivestub/tus").glob("*.info"):
        said = json.loads(info.read_text())
        data = info.with_suffix("")
        if data.exists() and data.stat().st_size == said["length"]:
            uploads.append(said["metadata"])
    return recordings, uploads
