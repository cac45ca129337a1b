"""A board: one of Debian's kernels in qemu, with an initramfs of busybox, modules and the program under test."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
UNPACKED = ROOT / ".build/board"
INIT = Path(__file__).with_name("init.sh")
HOST = "10.0.2.2"
"""The host's loopback, seen from a guest."""
MARK = "@@ "
"""Before a result, on the console."""
DONE = "done"


@dataclass(frozen=True)
class Board:
    """What is emulated, and which modules it needs."""

    name: str
    debian: str
    emulator: str
    options: tuple[str, ...]
    console: str
    transport: str
    """How virtio devices are attached: pci, or device for virtio-mmio."""
    program: str
    modules: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return UNPACKED / self.debian / "kernel"

    @property
    def kernel(self) -> Path:
        return next(self.folder.glob("boot/vmlinuz-*"))

    @property
    def release(self) -> str:
        return self.kernel.name.removeprefix("vmlinuz-")


FILE_SYSTEMS = ("ext4", "vfat", "nls_cp437", "nls_ascii", "nls_iso8859-1", "loop")
DEVICES = ("virtio_net", "virtio_blk", "virtio_rng")
ARM64 = Board(
    "arm64", "arm64", "qemu-system-aarch64", ("-M", "virt", "-cpu", "cortex-a53", "-smp", "1"), "ttyAMA0", "pci",
    "aarch64", ("virtio_pci", *DEVICES, *FILE_SYSTEMS),
)  # fmt: skip
ARMHF = Board(
    "armhf", "armhf", "qemu-system-arm", ("-M", "virt", "-cpu", "cortex-a7", "-smp", "1"), "ttyAMA0", "device",
    # What ext4 and F2FS ask modprobe for.
    "armv7", ("crc32c_generic", "crc32_generic", "virtio_mmio", *DEVICES, *FILE_SYSTEMS, "f2fs"),
)  # fmt: skip
AMD64 = Board(
    "amd64", "amd64", "qemu-system-x86_64", ("-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"), "ttyS0", "pci",
    "x86_64", ("virtio_pci", *DEVICES, *FILE_SYSTEMS, "veth", "sch_netem", "sch_fq", "tcp_bbr"),
)  # fmt: skip


@dataclass(frozen=True)
class Disk:
    path: Path
    log: Path | None = None
    """Where each write is logged (blklogwrites)."""
    is_read_only: bool = False


@dataclass
class Run:
    """What a guest said, and how it ended."""

    results: list[str] = field(default_factory=list)
    console: str = ""
    seconds: float = 0.0

    @property
    def has_ended_well(self) -> bool:
        return bool(self.results) and self.results[-1] == DONE

    def values(self, name: str) -> list[list[str]]:
        """The words of each result that begins with this name."""
        split = [line.split() for line in self.results]
        return [words[1:] for words in split if words and words[0] == name]


class GuestFailed(Exception):
    pass


RUNNING: set[subprocess.Popen] = set()
"""All guests, of all threads."""


def stop_all() -> None:
    for guest in tuple(RUNNING):
        guest.kill()


def modules_in_order(board: Board) -> list[Path]:
    """The files of the modules, each after those that it needs, from depmod's list. Others are built in."""
    base = board.folder / "lib/modules" / board.release
    needs: dict[str, list[str]] = {}
    for line in (base / "modules.dep").read_text().splitlines():
        path, _, others = line.partition(":")
        needs[path] = others.split()
    paths = {module_name(path): path for path in needs}
    order: list[str] = []

    def add(path: str) -> None:
        for other in reversed(needs[path]):
            add(other)
        if path not in order:
            order.append(path)

    for name in board.modules:
        if name.replace("-", "_") in paths:
            add(paths[name.replace("-", "_")])
    return [base / path for path in order]


def module_name(path: str) -> str:
    return Path(path).name.split(".ko")[0].replace("-", "_")


class Machine:
    """Boots a board as often as wanted. The initramfs without the job is packed once."""

    def __init__(self, board: Board, program: Path, folder: Path):
        self.board = board
        self._folder = Path(tempfile.mkdtemp(prefix=f"{board.name}-", dir=folder))
        self._base = self._folder / "base.cpio"
        tree = self._folder / "tree"
        for name in ("bin", "dev", "proc", "sys", "tmp", "modules"):
            (tree / name).mkdir(parents=True)
        shutil.copy(board.folder / "bin/busybox", tree / "bin/busybox")
        shutil.copy(program, tree / "bin/gighive-upload")
        shutil.copy(INIT, tree / "init")
        (tree / "init").chmod(0o755)
        names = []
        for path in modules_in_order(board):
            target = tree / "modules" / path.name.removesuffix(".xz")
            if path.suffix == ".xz":
                target.write_bytes(subprocess.run(["xz", "-dc", path], check=True, stdout=subprocess.PIPE).stdout)
            else:
                shutil.copy(path, target)
            names.append(target.name)
        (tree / "modules/order").write_text("\n".join(names) + "\n")
        pack(tree, self._base)
        shutil.rmtree(tree)

    def run(
        self, job: str, files: dict[str, bytes] | None = None, disks: tuple[Disk, ...] = (), megabytes: int = 96,
        seconds: float = 120.0, options: tuple[str, ...] = (),
    ) -> Run:  # fmt: skip
        """Boots, runs the job (a script of busybox) and powers off.
        - files: further ones for the root, such as certificates."""
        ran = self.attempt(job, files, disks, megabytes, seconds, options)
        if not ran.has_ended_well:
            raise GuestFailed(f"{self.board.name} has not come to its end:\n{ran.console[-3000:]}")
        return ran

    def attempt(self, job, files=None, disks=(), megabytes=96, seconds=120.0, options=()) -> Run:
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = Path(name)
            tree = folder / "tree"
            for path, content in {**(files or {}), "job.sh": job.encode()}.items():
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(content)
            pack(tree, folder / "job.cpio")
            initramfs = folder / "initramfs"
            with initramfs.open("wb") as out:
                for part in (self._base, folder / "job.cpio"):
                    out.write(part.read_bytes())
            command = self._command(initramfs, disks, megabytes) + list(options)
            began = time.monotonic()
            guest = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            RUNNING.add(guest)
            try:
                text, _ = guest.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                guest.kill()
                text = guest.communicate()[0] + f"\nno end within {seconds:.0f} s".encode()
            finally:
                guest.kill()
                RUNNING.discard(guest)
        console = text.decode(errors="replace").replace("\r", "")
        # Firmware may leave control characters before the first.
        results = [line.partition(MARK)[2] for line in console.splitlines() if MARK in line]
        return Run(results, console, time.monotonic() - began)

    def _command(self, initramfs: Path, disks: tuple[Disk, ...], megabytes: int) -> list[str]:
        board = self.board
        command = [board.emulator, *board.options, "-m", str(megabytes), "-nographic", "-no-reboot", "-nodefaults"]
        command += ["-serial", "stdio", "-kernel", str(board.kernel), "-initrd", str(initramfs)]
        command += ["-append", f"console={board.console} quiet panic=-1 random.trust_cpu=on cryptomgr.notests=1"]
        rom = ",romfile=" if board.transport == "pci" else ""
        command += ["-netdev", "user,id=n", "-device", f"virtio-net-{board.transport},netdev=n{rom}"]
        command += ["-device", f"virtio-rng-{board.transport}"]
        for number, disk in enumerate(disks):
            node = f"d{number}"
            read_only = ",read-only=on" if disk.is_read_only else ""
            command += ["-blockdev", f"driver=file,filename={disk.path},node-name=f{number}{read_only}"]
            if disk.log:
                command += ["-blockdev", f"driver=file,filename={disk.log},node-name=l{number}"]
                command += ["-blockdev",
                            f"driver=blklogwrites,node-name={node},file=f{number},log=l{number},log-sector-size=512"]
            else:
                command += ["-blockdev", f"driver=raw,file=f{number},node-name={node}{read_only}"]
            command += ["-device", f"virtio-blk-{board.transport},drive={node}"]
        return command


def pack(tree: Path, archive: Path) -> None:
    names = subprocess.run(["find", "."], cwd=tree, check=True, stdout=subprocess.PIPE).stdout
    packed = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=tree, input=names, check=True,
                            stdout=subprocess.PIPE).stdout  # fmt: skip
    archive.write_bytes(packed + bytes(-len(packed) % 512))
