"""A separate cgroup (version 2) with `memory.max`, where the machine allows one.

RLIMIT_AS bounds what the process maps. A cgroup also counts what the kernel holds for it: page cache and socket
buffers. Most containers do not let their inhabitants make one; then `find` says why, and the tables say so too.
"""

from __future__ import annotations

import os
import time
from pathlib import Path


class Unavailable(Exception):
    """Says why no cgroup can be had."""


class Cgroup:
    """One child cgroup, made for one run and removed after it."""

    def __init__(self, parent: Path, limit: int):
        self.path = parent / f"gighive-memcap-{os.getpid()}-{time.monotonic_ns()}"
        self.path.mkdir()
        try:
            (self.path / "memory.max").write_text(str(limit))
            swap = self.path / "memory.swap.max"
            if swap.exists():
                swap.write_text("0")
        except OSError:
            self.path.rmdir()
            raise

    @property
    def procs(self) -> Path:
        """A process enters by writing 0 into this file."""
        return self.path / "cgroup.procs"

    def remove(self) -> tuple[int, bool]:
        """What it held at most (0 if the kernel cannot say: before 5.19), and whether the limit killed anybody."""
        try:
            peak = int((self.path / "memory.peak").read_text())
        except OSError:
            peak = 0
        events = dict(line.split() for line in (self.path / "memory.events").read_text().splitlines())
        for _ in range(100):  # the kernel lets go of an ended process a moment later
            try:
                self.path.rmdir()
                break
            except OSError:
                time.sleep(0.01)
        return peak, int(events.get("oom_kill", 0)) > 0


def find() -> Path:
    """The cgroup below which a child with memory.max can be made: the process's own, or one above it."""
    mount = _mount_point()
    own = _own_path()
    reasons = []
    for relative in (own, *own.parents):
        candidate = mount / str(relative).lstrip("/")
        try:
            controllers = (candidate / "cgroup.controllers").read_text().split()
            if "memory" not in controllers:
                reasons.append(f"{candidate} has no memory controller")
                continue
            if "memory" not in (candidate / "cgroup.subtree_control").read_text().split():
                (candidate / "cgroup.subtree_control").write_text("+memory")
            Cgroup(candidate, 1 << 30).remove()
            return candidate
        except OSError as problem:
            reasons.append(f"{candidate}: {problem.strerror}")
    raise Unavailable("; ".join(reasons))


def _mount_point() -> Path:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, directory, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(directory)
    raise Unavailable("no cgroup v2 is mounted")


def _own_path() -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return Path(line[3:])
    raise Unavailable("this process is in no cgroup v2")
