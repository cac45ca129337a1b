"""What the runs share: recordings, certificates, the compiled launcher, Debian packages that were missing."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "HiveStub"))

from hivestub import make_certificates  # noqa: E402

from . import cgroup, elf  # noqa: E402
from .measure import Launcher, Measurement  # noqa: E402
from .receiver import Arrival, Receiver  # noqa: E402
from .rows import ADDRESS_SPACE_BYTES, CGROUP_BYTES, Row  # noqa: E402
from .scoreboard import Scoreboard  # noqa: E402

ISLAND_BYTES = 64 << 10
ISLAND_EVERY = 97_000_000
PASSWORD = "memory-cap"
RECEIVER_GRACE_SECONDS = 2.0
"""How long after the client's end the receiver may take to say what it got."""


class Workbench:
    """Everything lives in `folder`, which the caller removes."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.board = Scoreboard(folder / "scoreboard")
        self._launch_program = folder / "launch"
        compiler = c_compiler()
        source = Path(__file__).with_name("launch.c")
        subprocess.run([compiler, "-O2", "-Wall", "-o", self._launch_program, source], check=True)
        if shutil.which("openssl") is None:
            install("openssl")
        self.certificates = make_certificates()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificates.certificate, self.certificates.key)
        self.password_file = folder / "password"
        self.password_file.write_text(PASSWORD + "\n")
        self._digests: dict[int, str] = {}
        self.cgroup_parent: Path | None = None
        self.cgroup_reason = ""
        try:
            self.cgroup_parent = cgroup.find()
        except cgroup.Unavailable as reason:
            self.cgroup_reason = str(reason)

    # Recordings.

    def recording(self, size: int) -> Path:
        """A sparse file with islands of noise, at its start, its end and every 97 MB: misplaced bytes change its
        digest, and no disk has to hold it."""
        path = self.folder / f"recording-{size}.mp4"
        if not path.exists():
            noise = random.Random(size)
            with path.open("wb") as file:
                file.truncate(size)
                for offset in [*range(0, size, ISLAND_EVERY), max(0, size - ISLAND_BYTES)]:
                    file.seek(offset)
                    file.write(noise.randbytes(min(ISLAND_BYTES, size - offset)))
        return path

    def digest(self, size: int) -> str:
        if size not in self._digests:
            with self.recording(size).open("rb") as file:
                self._digests[size] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[size]

    # Clients.

    def launcher(self, breakpoints: dict[str, int], code: elf.Code | None) -> Launcher:
        text = (code.start, code.end) if code else (0, 0)
        return Launcher(self._launch_program, self.board, breakpoints, text)

    def uploader_command(self, binary: Path, row: Row, port: int, extra: tuple[str, ...] = ()) -> list[str]:
        scheme = "https" if row.protocol.is_tls else "http"
        command = [str(binary), "send", str(self.recording(row.size)), "--server", f"{scheme}://127.0.0.1:{port}"]
        command += ["--user", "uploader", "--password-file", str(self.password_file), "--label", row.name, "--quiet"]
        # A hashed directory, as the system's own trust store is one.
        return command + (["--capath", self.certificates.capath] if row.protocol.is_tls else []) + list(extra)

    def curl_command(self, row: Row, port: int) -> list[str]:
        curl = shutil.which("curl") or install("curl") or "/usr/bin/curl"
        scheme = "https" if row.protocol.is_tls else "http"
        command = [curl, "--silent", "--output", "/dev/null", "--cacert", self.certificates.cacert]
        command += ["--user", f"uploader:{PASSWORD}", "--form", f"label={row.name}"]
        return command + ["--form", f"file=@{self.recording(row.size)}", f"{scheme}://127.0.0.1:{port}/"]

    def run(
        self, launcher: Launcher, row: Row, command_for, address_space: int = ADDRESS_SPACE_BYTES
    ) -> tuple[Measurement, Arrival, tuple[int, bool] | None]:
        """One upload. `command_for(port)` is the client's command. Last comes the cgroup's peak, and if it killed."""
        context = self._context if row.protocol.is_tls else None
        receiver = Receiver(self.board, context, row.size, row.reader)
        group = cgroup.Cgroup(self.cgroup_parent, CGROUP_BYTES) if self.cgroup_parent and address_space else None
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "HOME": str(self.folder)}
        receiver.start()
        try:
            procs = group.procs if group else None
            measured = launcher.run(command_for(receiver.port), receiver.port, address_space, procs, environment)
            arrival = receiver.arrival(RECEIVER_GRACE_SECONDS)
        finally:
            receiver.stop()
            held = group.remove() if group else None
        return measured, arrival, held


def c_compiler() -> str:
    for name in ("clang", "cc", "gcc"):
        if shutil.which(name):
            return name
    install("gcc", "libc6-dev")
    return "gcc"


def install(*packages: str) -> None:
    """From Debian, as root or through sudo; fails loudly."""
    print("installing:", *packages, flush=True)
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "install", "-y", "--no-install-recommends", *packages], check=True)
