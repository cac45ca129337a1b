"""The receiver of a round: HiveStub in a separate process, which can be killed and restarted with its state."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from .plan import Receiver
from .rules import digest_of

HIVE_STUB = Path(__file__).resolve().parents[2] / "HiveStub"
READY_SECONDS = 30.0
USER = "uploader"
GIGHIVE_EXTENSIONS = ["creation", "termination", "concatenation", "creation-defer-length"]


class Server:
    """`folder` keeps the store and the log over all its lives."""

    def __init__(self, receiver: Receiver, folder: Path, password_file: Path):
        self._folder = folder
        self.store = folder / "store"
        self._log = folder / "server.log"
        serve = Path(__file__).with_name("serve.py")
        self._command = [sys.executable, "-B", str(serve), str(HIVE_STUB), "--store", str(self.store)]
        self._command += ["--user", USER, "--password-file", str(password_file), *arguments(receiver)]
        self._process: subprocess.Popen | None = None
        self._lock = threading.Lock()
        self._port = 0
        self.outages: list[tuple[float, float]] = []

    @property
    def port(self) -> int:
        return self._port

    def start(self) -> None:
        ready = self._folder / "ready"
        ready.unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._command, "--ready-file", str(ready)], stdout=subprocess.DEVNULL, stderr=log
            )
        deadline = time.monotonic() + READY_SECONDS
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"HiveStub does not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.005)
        self._port = json.loads(ready.read_text())["port"]

    def kill(self, down_seconds: float) -> None:
        """kill -9 at once, then a new life on another port. Returns when that is ready. Does nothing while it is down."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            began = time.monotonic()
            self._process.kill()
            self._process.wait()
            time.sleep(down_seconds)
            self.start()
            self.outages.append((began, time.monotonic()))
        finally:
            self._lock.release()

    def stop(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def recordings(self) -> list[dict]:
        """Straight from the server, past the proxy."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=READY_SECONDS)
        try:
            connection.request("GET", "/_stub/recordings")
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"GET /_stub/recordings: {answer.status} {text[:200]!r}")
        return json.loads(text)

    def stored(self) -> list[tuple[str, int]]:
        """SHA-256 and size of each finished file, as it lies in the store."""
        files = sorted(path for path in self.store.iterdir() if re.match(r"[0-9a-f]{64}\b", path.name))
        return [(digest_of(path), path.stat().st_size) for path in files]

    def errors(self) -> list[str]:
        """The server's own error messages."""
        text = self._log.read_text(errors="replace")
        return [text[at : at + 2000] for at in (text.find("Traceback"),) if at >= 0]


def arguments(receiver: Receiver) -> list[str]:
    extensions = list(GIGHIVE_EXTENSIONS)
    extensions += ["creation-with-upload"] if receiver.creation_with_upload else []
    extensions += ["checksum"] if receiver.checksums else []
    faults = ["spool"] if receiver.is_spooling else []
    faults += [f"lock={receiver.lock_seconds}"] if receiver.lock_seconds else []
    faults += [f"delay-answer={receiver.delayed_answer}"] if receiver.delayed_answer else []
    faults += receiver.stumbles
    return ["--tus-extensions", ",".join(extensions), *(f"--fault={fault}" for fault in faults)]
