"""The C receiver as a process, and what it says about each upload."""

from __future__ import annotations

import os
import select
import subprocess
from dataclasses import dataclass
from pathlib import Path

ANSWER_SECONDS = 10


class ReceiverFailed(Exception):
    pass


@dataclass(frozen=True)
class Upload:
    body_bytes: int
    first_byte_nanoseconds: int
    cipher: str


class Receiver:
    """Serves one upload after the other until it is left."""

    def __init__(self, program: Path, certificate: str | None = None, key: str | None = None, *,
                 decrypts: bool = False, digests: dict[int, str] | None = None):
        """`decrypts`: all of it, as tus over TLS needs it. `digests`: SHA-256 of the files to come,
        by length."""
        files = [certificate, key, *(["decrypt"] if decrypts else [])] if certificate else []
        # Unbuffered, so that select tells the truth about lines that are still to be read.
        self._process = subprocess.Popen(
            [program, *files], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, bufsize=0,
            env={**os.environ, "DIGESTS": ",".join(f"{length}:{hex}" for length, hex in (digests or {}).items())})
        self.port = int(self._line())
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}/upload"

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *_) -> None:
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    def expect_upload(self) -> None:
        """Makes sure that nothing is left of a run before."""
        if select.select([self._process.stdout], [], [], 0)[0]:
            raise ReceiverFailed(f"an unexpected upload: {self._process.stdout.readline()!r}")

    def cpu_seconds(self) -> float:
        """What the receiver itself has used so far."""
        with open(f"/proc/{self._process.pid}/schedstat") as schedstat:
            return int(schedstat.read().split()[0]) / 1e9

    def upload(self) -> Upload:
        """What arrived in the run that has just ended."""
        length, first_byte, cipher = self._line().split()
        if first_byte == "of":
            raise ReceiverFailed(f"only {length} bytes arrived")
        return Upload(int(length), int(first_byte), cipher)

    def _line(self) -> str:
        if not select.select([self._process.stdout], [], [], ANSWER_SECONDS)[0]:
            raise ReceiverFailed("the receiver says nothing")
        line = self._process.stdout.readline()
        if not line:
            raise ReceiverFailed(f"the receiver has ended with {self._process.wait()}")
        return line.decode().strip()
