"""The receiver of a round: HiveStub in a process of its own, which can be killed and restarted with its state."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from digests import sha256

from .plan import Receiver

HIVE_STUB = Path(__file__).resolve().parents[2] / "HiveStub"
READY_SECONDS = 30.0
RECEIVE_BUFFER_BYTES = 256 << 10
"""The kernel would take up to 32 MiB (tcp_rmem) that a server has not read yet, and when the server is killed they are lost: that
is the machine's doing, and no client's."""
USER = "uploader"
EXTENSIONS = "creation,termination,concatenation,creation-defer-length"


class Server:
    """`folder` keeps the store and the log over all its lives."""

    def __init__(self, receiver: Receiver, folder: Path, password_file: Path):
        self._ready, self.store, self._log = folder / "ready", folder / "store", folder / "server.log"
        self._command = [sys.executable, "-B", str(HIVE_STUB), "--store", str(self.store), "--user", USER]
        self._command += ["--password-file", str(password_file), "--ready-file", str(self._ready)]
        self._command += ["--receive-buffer", str(RECEIVE_BUFFER_BYTES), *_arguments(receiver)]
        self._lock = threading.Lock()
        self.port = 0
        self.outages: list[tuple[float, float]] = []
        """When it was down."""

    def __enter__(self) -> Server:
        self._start()
        return self

    def __exit__(self, *_) -> None:
        with self._lock:
            self._process.kill()
            self._process.wait()

    def _start(self) -> None:
        self._ready.unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=log)
        deadline = time.monotonic() + READY_SECONDS
        while not self._ready.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"HiveStub does not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.005)
        self.port = json.loads(self._ready.read_text())["port"]

    def kill(self, down_seconds: float) -> None:
        """kill -9 at once, then a new life on another port. Returns when that is ready. Does nothing while it is down."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            began = time.monotonic()
            self._process.kill()
            self._process.wait()
            time.sleep(down_seconds)
            self._start()
            self.outages.append((began, time.monotonic()))
        finally:
            self._lock.release()

    def recordings(self) -> list[dict]:
        """Straight from the server, past the line."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=READY_SECONDS)
        try:
            connection.request("GET", "/_stub/recordings")
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"GET /_stub/recordings: {answer.status} {text[:200]!r}")
        return json.loads(text)

    def stored(self) -> list[tuple[str, str, int]]:
        """The digest in the name of each finished file in the store, the digest of its bytes, and its size."""
        files = sorted(path for path in self.store.iterdir() if re.match(r"[0-9a-f]{64}\b", path.name))
        return [(path.name[:64], sha256(path), path.stat().st_size) for path in files]

    def errors(self) -> list[str]:
        """The server's own error messages."""
        text = self._log.read_text(errors="replace")
        return [text[at : at + 2000] for at in (text.find("Traceback"),) if at >= 0]


def _arguments(receiver: Receiver) -> list[str]:
    extensions = [EXTENSIONS]
    extensions += ["creation-with-upload"] if receiver.creation_with_upload else []
    extensions += ["checksum"] if receiver.checksums else []
    faults = ["spool"] if receiver.is_spooling else []
    faults += [f"lock={receiver.lock_seconds}"] if receiver.lock_seconds else []
    faults += [f"delay-answer={receiver.delayed_answer}"] if receiver.delayed_answer else []
    return ["--tus-extensions", ",".join(extensions), *(f"--fault={fault}" for fault in (*faults, *receiver.stumbles))]
