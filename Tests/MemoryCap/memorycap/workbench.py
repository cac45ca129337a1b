"""What the runs share: recordings, certificates, the compiled launcher, Debian packages that were missing."""

from __future__ import annotations

import os
import random
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "HiveStub"), str(TESTS / "Support")]

from digests import sha256  # noqa: E402
from hivestub import make_certificates  # noqa: E402
from machine import c_compiler, install  # noqa: E402

from . import cgroup, elf  # noqa: E402
from .arrival import Arrivals  # noqa: E402
from .measure import Launcher, Measurement  # noqa: E402
from .receiver import Receiver  # noqa: E402
from .rows import CGROUP_BYTES, LIVE_BYTES_PER_SECOND, LIVE_HEAD_BYTES, Row  # noqa: E402
from .scoreboard import RECEIVED, Scoreboard  # noqa: E402

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
        self.password_file.chmod(0o600)
        self._state = folder / "state"
        self._live = folder / "live.wav"
        self._digests: dict[Path, str] = {}
        self.cgroup_parent: Path | None = None
        self.cgroup_reason = ""
        try:
            self.cgroup_parent = cgroup.find()
        except cgroup.Unavailable as reason:
            self.cgroup_reason = str(reason)

    # Recordings.

    def recordings(self, row: Row) -> list[Path]:
        """What is sent."""
        return [self._live] if row.is_live else self._finished(row)

    def _finished(self, row: Row) -> list[Path]:
        return [self._recording(row.size, number) for number in range(row.files)]

    def _record(self, row: Row) -> None:
        """Makes the recording that is sent meanwhile. The head is written at last."""
        began = time.monotonic()
        with self._finished(row)[0].open("rb") as source, self._live.open("r+b", buffering=0) as file:
            head = source.read(LIVE_HEAD_BYTES)
            file.write(bytes(LIVE_HEAD_BYTES))
            while data := source.read(1 << 18):
                file.write(data)
                time.sleep(max(0.0, began + file.tell() / LIVE_BYTES_PER_SECOND - time.monotonic()))
            os.pwrite(file.fileno(), head, 0)

    def _recording(self, size: int, number: int) -> Path:
        """A sparse file with islands of noise, at its start, its end and every 97 MB: misplaced bytes change its
        digest, and no disk has to hold it."""
        path = self.folder / f"recording-{size}-{number}.mp4"
        if not path.exists():
            noise = random.Random(size + number)
            with path.open("wb") as file:
                file.truncate(size)
                for offset in [*range(0, size, ISLAND_EVERY), max(0, size - ISLAND_BYTES)]:
                    file.seek(offset)
                    file.write(noise.randbytes(min(ISLAND_BYTES, size - offset)))
        return path

    def digests(self, row: Row) -> list[str]:
        paths = self._finished(row)
        for path in paths:
            if path not in self._digests:
                self._digests[path] = sha256(path)
        return [self._digests[path] for path in paths]

    # Clients.

    def launcher(self, breakpoints: dict[str, int], code: elf.Code | None) -> Launcher:
        text = (code.start, code.end) if code else (0, 0)
        return Launcher(self._launch_program, self.board, breakpoints, text)

    def uploader_command(self, binary: Path, row: Row, port: int, extra: tuple[str, ...] = ()) -> list[str]:
        scheme = "https" if row.protocol.is_tls else "http"
        command = [str(binary), "send", *map(str, self.recordings(row)), "--server", f"{scheme}://127.0.0.1:{port}"]
        command += ["--user", "uploader", "--password-file", str(self.password_file), "--label", row.name, "--quiet"]
        command += ["--state-dir", str(self._state), "--retry", "0", *row.options]
        # A hashed directory, as the system's own trust store is one.
        return command + (["--cacert", self.certificates.capath] if row.protocol.is_tls else []) + list(extra)

    def plain_command(self, binary: Path, row: Row, port: int) -> list[str]:
        """As curl does it: without an SHA-256."""
        scheme = "https" if row.protocol.is_tls else "http"
        command = [str(binary), "send", str(self.recordings(row)[0]), "--multipart-url", f"{scheme}://127.0.0.1:{port}/"]
        command += ["--user", "uploader", "--password-file", str(self.password_file), "--quiet", "--retry", "0"]
        command += ["--state-dir", str(self._state)]
        return command + (["--cacert", self.certificates.capath] if row.protocol.is_tls else [])

    def curl_command(self, row: Row, port: int) -> list[str]:
        curl = shutil.which("curl") or install("curl") or "/usr/bin/curl"
        scheme = "https" if row.protocol.is_tls else "http"
        command = [curl, "--silent", "--output", "/dev/null", "--cacert", self.certificates.cacert]
        command += ["--user", f"uploader:{PASSWORD}", "--form", f"label={row.name}"]
        return command + ["--form", f"file=@{self.recordings(row)[0]}", f"{scheme}://127.0.0.1:{port}/"]

    def run(
        self, launcher: Launcher, row: Row, command_for, is_limited: bool = True
    ) -> tuple[Measurement, Arrivals, tuple[int, bool] | None]:
        """One run. `command_for(port)` is the client's command. Last comes the cgroup's peak, and if it killed.
        `is_limited`: by the kernel."""
        context = self._context if row.protocol.is_tls else None
        receiver = Receiver(self.board, context, row)
        shutil.rmtree(self._state, ignore_errors=True)
        self._state.mkdir(0o700)
        group = cgroup.Cgroup(self.cgroup_parent, CGROUP_BYTES) if self.cgroup_parent and is_limited else None
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "HOME": str(self.folder)}
        receiver.start()
        try:
            command = command_for(receiver.port)
            if row.is_resumed:
                self._kill_half_way(command, row, environment)
                receiver.arrivals(RECEIVER_GRACE_SECONDS)  # so that it has read what was still in flight
            procs = group.procs if group else None
            address_space = row.address_space_bytes if is_limited else 0
            recorder = threading.Thread(target=self._record, args=(row,))
            if row.is_live:
                self._live.write_bytes(b"")
                recorder.start()
            measured = launcher.run(command, receiver.port, address_space, procs, environment)
            if row.is_live:
                recorder.join()
                self._live.unlink()
            arrivals = receiver.arrivals(RECEIVER_GRACE_SECONDS)
        finally:
            receiver.stop()
            held = group.remove() if group else None
        return measured, arrivals, held

    def _kill_half_way(self, command: list[str], row: Row, environment: dict[str, str]) -> None:
        self.board.reset()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as client:
            while client.poll() is None and self.board[RECEIVED] < row.size // 2:
                time.sleep(0.001)
            client.kill()
        if client.returncode != -signal.SIGKILL:
            raise RuntimeError(f"{row.name}: ended with {client.returncode} before it could be killed")
