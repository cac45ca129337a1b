"""A file system with one file, /gig.mp4, that fails as the test orders. It speaks FUSE's protocol with the kernel itself, in a
process of its own: no library is needed, but root and /dev/fuse are.

    python3 broken_disk.py MOUNTPOINT '{"size": 16000000}'

It prints a line once it is mounted. `BrokenDisk` starts and ends it; `Plan` says what it can do.
"""

from __future__ import annotations

import ctypes
import dataclasses
import errno
import json
import os
import random
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

MNT_DETACH = 2
ROOT, FILE = 1, 2
NAME = b"gig.mp4"
BLOCK = 1 << 20
"""The most that one read of the kernel's asks for, in bytes."""


@dataclasses.dataclass
class Plan:
    """What the file is, and how it fails. Offsets and sizes are in bytes, times in seconds. What "happens" does so when a read
    comes to the byte `at`, after so many that have."""

    size: int = 16_000_000
    direct: bool = False
    """Nothing of it is kept in the page cache."""
    short: int = 0
    """No read gives more than this; 0: as much as it asks for. Beyond the page cache only."""
    at: int = 0
    after: int = 0
    error: str = ""
    """Happens: a read fails with this, such as EIO."""
    times: int = -1
    """How many reads fail; -1: all from then on."""
    dies: bool = False
    """Happens: the file system's process ends."""
    change: str = ""
    """Happens: "ctime", "mtime" (and with it ctime) or "size" (and with it both)."""
    rewrite: bool = False
    """Happens with the change: everything that is read from then on is other content."""
    slow: float = 0
    """How long every read takes."""
    fickle: bool = False
    """The second time that it is read, the middle half of the file is other content."""


def content(size: int, version: int = 0) -> bytes:
    block = random.Random(version).randbytes(1 << 20)
    # Each MiB differs from the one before.
    return b"".join(struct.pack("<Q", number) + block[8:] for number in range(size // len(block) + 1))[:size]


class BrokenDisk:
    """Mounted while it is used in `with`."""

    def __init__(self, mountpoint: Path, **plan):
        self.plan = Plan(**plan)
        self.file = mountpoint / os.fsdecode(NAME)
        self._mountpoint = mountpoint

    def __enter__(self) -> BrokenDisk:
        self._mountpoint.mkdir(exist_ok=True)
        command = [sys.executable, "-B", __file__, self._mountpoint, json.dumps(dataclasses.asdict(self.plan))]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if self._process.stdout.readline() != b"mounted\n":
            self.__exit__()
            raise OSError("the file system could not be mounted")
        return self

    def disconnect(self) -> None:
        """Leaves it mounted with nobody to answer, as when the server of a network share is away."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def __exit__(self, *_) -> None:
        # End it first, so that nothing hangs in a read.
        self.disconnect()
        _libc().umount2(os.fsencode(self._mountpoint), MNT_DETACH)

    @staticmethod
    def missing() -> str | None:
        """What this machine lacks for it."""
        if os.geteuid() != 0:
            return "only root can mount a file system"
        try:
            os.close(os.open("/dev/fuse", os.O_RDWR))
        except OSError as error:
            return f"/dev/fuse: {error.strerror}"
        return None


def _libc():
    return ctypes.CDLL(None, use_errno=True)


class _Server:
    """Answers the kernel's questions one after the other (include/uapi/linux/fuse.h)."""

    def __init__(self, mountpoint: bytes, plan: Plan):
        self._plan = plan
        self._size = plan.size
        self._changed = self._modified = (1_700_000_000, 0)
        self._content = content(plan.size)
        self._other = content(plan.size, 1) if plan.rewrite or plan.fickle else b""
        self._visits = 0
        """How many reads have come to the byte of the plan."""
        self._failures = 0
        self._is_changed = False
        self._seen = set()
        self._device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={BLOCK}"
        if _libc().mount(b"broken_disk", mountpoint, b"fuse", 0, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mount")

    def serve(self) -> None:
        answers = {
            1: self._lookup, 3: self._status, 14: self._open, 15: self._read, 17: lambda *_: bytes(80),
            18: lambda *_: b"", 25: lambda *_: b"", 26: self._begin, 27: lambda *_: bytes(16), 28: self._entries,
            29: lambda *_: b"",
        }
        unanswered = (2, 36, 42)  # FORGET, INTERRUPT, BATCH_FORGET
        while True:
            try:
                request = os.read(self._device, BLOCK + 4096)
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                if error.errno in (errno.EINTR, errno.ENOENT):
                    continue
                raise
            _, operation, unique, node = struct.unpack_from("<IIQQ", request)
            if operation in unanswered:
                continue
            failure, answer = 0, b""
            try:
                answer = answers.get(operation, self._refuse)(node, request[40:])
            except OSError as error:
                failure = error.errno
            try:
                os.write(self._device, struct.pack("<IiQ", 16 + len(answer), -failure, unique) + answer)
            except OSError as error:
                if error.errno != errno.ENOENT:  # nothing waits for it any more
                    raise

    def _refuse(self, *_) -> bytes:
        raise OSError(errno.ENOSYS, "")

    def _begin(self, _, request: bytes) -> bytes:
        major, minor, read_ahead, _ = struct.unpack_from("<IIII", request)
        async_read, max_pages = 1, 1 << 22
        head = struct.pack("<IIIIHHII", major, min(minor, 31), read_ahead, async_read | max_pages, 16, 12, BLOCK, 1)
        return head + struct.pack("<HH", BLOCK // 4096, 0) + bytes(32)

    def _attributes(self, node: int) -> bytes:
        (changed, changed_part), (modified, modified_part) = self._changed, self._modified
        mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (stat.S_IFREG | 0o644, self._size)
        return struct.pack(
            "<6Q10I", node, size, size // 512, modified, modified, changed, modified_part, modified_part, changed_part,
            mode, 1, 0, 0, 0, 4096, 0)

    def _lookup(self, _, request: bytes) -> bytes:
        if request.rstrip(b"\0") != NAME:
            raise OSError(errno.ENOENT, "")
        return struct.pack("<QQQQII", FILE, 0, 3600, 0, 0, 0) + self._attributes(FILE)

    def _entries(self, _, request: bytes) -> bytes:
        if struct.unpack_from("<QQ", request)[1] > 0:
            return b""
        return struct.pack("<QQII", FILE, 1, len(NAME), stat.S_IFREG >> 12) + NAME.ljust(-(-len(NAME) // 8) * 8, b"\0")

    def _status(self, node: int, _) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self._attributes(node)

    def _open(self, *_) -> bytes:
        return struct.pack("<QII", 0, 1 if self._plan.direct else 0, 0)

    def _read(self, _, request: bytes) -> bytes:
        _, offset, length = struct.unpack_from("<QQI", request)
        plan = self._plan
        if plan.short:
            length = min(length, plan.short)
        time.sleep(plan.slow)
        self._visits += offset <= plan.at < offset + length
        if self._visits > plan.after:
            self._happen()
        end = min(offset + length, self._size)
        source = self._other if self._is_changed and plan.rewrite else self._content
        data = source[offset:end]
        if plan.fickle:
            data = b"".join(self._fickle(block, offset, end) for block in range(offset // 4096, -(-end // 4096)))
        return data

    def _happen(self) -> None:
        plan = self._plan
        if plan.dies:
            os._exit(0)
        if plan.error and self._failures != plan.times:
            self._failures += 1
            raise OSError(getattr(errno, plan.error), "")
        if plan.change and not self._is_changed:
            self._is_changed = True
            now = divmod(time.time_ns(), 1_000_000_000)
            self._changed = now
            if plan.change != "ctime":
                self._modified = now
            if plan.change == "size":
                self._size -= 1000

    def _fickle(self, block: int, offset: int, end: int) -> bytes:
        """A block of 4 KiB, or what of it lies between these offsets."""
        start, stop = max(block * 4096, offset), min((block + 1) * 4096, end)
        is_again = block in self._seen and self._size // 4 <= block * 4096 < self._size * 3 // 4
        if stop == (block + 1) * 4096:
            self._seen.add(block)
        return (self._other if is_again else self._content)[start:stop]


def main() -> None:
    server = _Server(os.fsencode(sys.argv[1]), Plan(**json.loads(sys.argv[2])))
    print("mounted", flush=True)
    server.serve()


if __name__ == "__main__":
    main()
