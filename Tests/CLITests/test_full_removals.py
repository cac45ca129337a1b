"""Disks without a free byte or inode: what was delivered is removed all the same, and deliveries go on. Records and recordings are on the
same disk."""

import contextlib
import os
import shutil
import signal
import subprocess

import pytest
from program import root, wait_until
from removals import DELETE
from uploads import PASSWORD
from watching import got

SIZE = 400_000

pytestmark = root

KINDS = {
    "ext4": (32, ["mkfs.ext4", "-q", "-m", "0", "-N", "64"]),
    "xfs": (320, ["mkfs.xfs", "-q", "-i", "maxpct=1"]),
    "btrfs": (120, ["mkfs.btrfs", "-q"]),
    # A cluster has one sector.
    "vfat": (36, ["mkfs.vfat", "-F", "32", "-s", "1"]),
}
"""Each with its size in MiB and the command that makes it."""


class Disk:
    def __init__(self, kind: str, place):
        self.kind = kind
        self.place = place
        self.recordings = place / "rec"
        self.recordings.mkdir()

    def free(self) -> int:
        status = os.statvfs(self.place)
        return status.f_bavail * status.f_frsize

    def fill(self, what: str) -> None:
        """With "bytes", "inodes" or "both"."""
        (self.place / "filler").touch()
        if what != "bytes":
            with contextlib.suppress(OSError):
                for number in range(1_000_000):
                    (self.place / f"n{number}").touch()
        if what == "inodes":
            return
        with open(self.place / "filler", "wb", buffering=0) as filler:
            # btrfs refuses bytes that it has once it has written others.
            while True:
                before = filler.tell()
                for size in (1 << 20, 65536, 4096, 1, 65536, 1):
                    with contextlib.suppress(OSError):
                        while filler.write(b"x" * size):
                            pass
                    with contextlib.suppress(OSError):
                        os.fsync(filler)
                if filler.tell() == before:
                    break
                subprocess.run(["sync", "-f", self.place], check=False)
        # Blocks that the file system keeps for small files, and on FAT the rest of the directory's last cluster.
        with contextlib.suppress(OSError):
            for number in range(1_000_000):
                if self.kind == "vfat":
                    (self.recordings / f"filler{number}").touch()
                else:
                    (self.place / f"n{number}").write_bytes(b"x" * 4096)


@pytest.fixture
def disk(request, tmp_path, program):
    kind = request.param
    size, make = KINDS[kind]
    if not shutil.which(make[0]):
        pytest.skip(f"{make[0]} is not installed")
    image, place = tmp_path / "image", tmp_path / "card"
    place.mkdir()
    with open(image, "wb") as file:
        file.truncate(size << 20)
    subprocess.run([*make, image], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["mount", "-t", kind, "-o", "loop", image, place], capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"{kind} cannot be mounted here")
    program.state_home = place
    yield Disk(kind, place)
    program.end_all()
    subprocess.run(["umount", place], check=True)


def deliver(program, stub, disk, recording, *options):
    files = [recording(SIZE, name=f"{number}.mp4", directory=disk.recordings) for number in range(2)]
    for file in files:
        assert program.send(stub, file, *options).code == 0
    return files


# btrfs and vfat have no inodes to run out of.
FULL = pytest.mark.parametrize(
    ("disk", "what"), [("ext4", "both"), ("xfs", "both"), ("btrfs", "bytes"), ("vfat", "bytes")], indirect=["disk"])


@FULL
def test_clean_removes_what_was_delivered(hive, program, recording, disk, what):
    files = deliver(program, hive(), disk, recording)
    # There is enough, and what the next one needs is reserved.
    assert program.run("clean", disk.recordings, "--keep-free", "1k").code == 0
    disk.fill(what)
    result = program.run("clean", disk.recordings, "--keep-free", disk.free() + SIZE // 2, env=PASSWORD)
    assert result.code == 0 and [file.exists() for file in files].count(True) == 1, result


@pytest.mark.parametrize("disk", ["ext4", "xfs"], indirect=True)
def test_without_its_ballast_it_needs_neither_a_block_nor_an_inode(hive, program, recording, disk):
    """Another program can take what the ballast gives back."""
    file, _ = deliver(program, hive(), disk, recording)
    assert program.run("clean", disk.recordings, "--keep-free", "1k").code == 0
    for ballast in program.state.glob("ballast.*"):
        ballast.unlink()
    disk.fill("both")
    result = program.run("clean", disk.recordings, "--keep-free", "1G", env=PASSWORD)
    assert result.code == 15 and not file.exists(), result


@pytest.mark.parametrize("disk", ["vfat"], indirect=True)
def test_a_rename_that_needs_space_has_its_own(hive, program, recording, disk, tmp_path):
    """The records are on another disk."""
    program.state_home = tmp_path
    file, _ = deliver(program, hive(), disk, recording)
    assert program.run("clean", disk.recordings, "--keep-free", "1k").code == 0
    disk.fill("bytes")
    result = program.run("clean", disk.recordings, "--keep-free", "1G", env=PASSWORD)
    assert result.code == 15 and not file.exists(), result


@FULL
def test_a_watcher_makes_room_and_delivers_what_it_could_not(hive, program, recording, watch, disk, what):
    stub = hive()
    deliver(program, stub, disk, recording)
    unfinished = recording(SIZE, name="new.wav.part", directory=disk.recordings)
    (disk.recordings / "old.txt").touch()
    # More than the ballast gives back.
    watching = watch(
        stub, "--exclude", "filler*", "--exclude", "old.txt", "--keep-free", 2 * SIZE, directory=disk.recordings)
    # It makes it while there is space.
    wait_until((program.state / "ballast.7").exists, 20, "the ballast")
    watching.idle()
    # Sees nothing while there is some space left: what its ballast gave back would be taken, too.
    watching.running.signal(signal.SIGSTOP)
    disk.fill(what)
    # Leaves an entry of the directory for the new name.
    (disk.recordings / "old.txt").unlink()
    unfinished.rename(disk.recordings / "new.wav")
    watching.running.signal(signal.SIGCONT)
    watching.says("new.wav: delivered.")
    watching.says("removed after its delivery.")
    watching.idle()
    watching.stop()
    assert "new" in got(stub)


@pytest.mark.parametrize(
    ("disk", "what"), [("ext4", "inodes"), ("xfs", "bytes"), ("vfat", "bytes")], indirect=["disk"])
def test_a_recording_can_be_deleted_and_sent_from_a_full_disk(hive, program, recording, disk, what):
    stub = hive()
    deliver(program, stub, disk, recording, *DELETE)
    file = recording(SIZE, name="new.mp4", directory=disk.recordings)
    disk.fill(what)
    result = program.send(stub, file, *DELETE, "--progress", "none")
    assert result.code == 0 and "new.mp4: removed from this machine." in result.out and not result.err, result
    assert not file.exists()
