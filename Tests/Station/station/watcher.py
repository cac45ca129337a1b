"""The program under test: `gighive-upload watch`, killed and started again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

SETTLE = "1s"
END_SECONDS = 30.0


class Watcher:
    def __init__(self, binary: Path, folder: Path, tree: Path, url: str, options: tuple[str, ...] = ()):
        self._binary, self._folder = binary, folder
        self._state = folder / "state"
        password = folder / "password"
        password.write_text("secret\n")
        password.chmod(0o600)
        self.command = [str(binary), "watch", str(tree), "--server", url, "--label", "{stem}", "--user", "uploader"]
        self.command += ["--password-file", str(password), "--settle", SETTLE, "--jobs", "4", "--state-dir", str(self._state)]
        self.command += ["--retry-max-delay", "1s", "--config", "", *options]
        self._log = folder / "watch.log"
        self._process: subprocess.Popen | None = None
        self.peak_kib = 0
        """VmHWM of all watching processes, as far as it was seen."""
        self.exit_codes: list[int] = []
        """Of watchers that were not killed."""

    def start(self) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._folder)}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=self._folder
            )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ended(self) -> None:
        """Notes the exit code of a watcher that has ended by itself."""
        self.exit_codes.append(self._process.wait())

    def workers(self) -> list[int]:
        try:
            children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        except OSError:
            return []
        return [int(child) for child in children.split()]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def kill_worker(self) -> bool:
        """False if there is none at the moment."""
        for worker in self.workers():
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                continue
            return True
        return False

    def measure(self) -> None:
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text()
        except OSError:
            return
        match = re.search(r"VmHWM:\s*([0-9]+) kB", status)
        self.peak_kib = max(self.peak_kib, int(match.group(1)) if match else 0)

    def stop(self) -> float:
        """SIGTERM; how long the end takes."""
        began = time.monotonic()
        self._process.terminate()
        try:
            self.exit_codes.append(self._process.wait(END_SECONDS))
        except subprocess.TimeoutExpired:
            self.kill()
            self.exit_codes.append(-signal.SIGKILL)
        return time.monotonic() - began

    def status(self) -> dict:
        """`status --json`."""
        command = [str(self._binary), "status", "--json", "--state-dir", str(self._state), "--config", ""]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if result.returncode != 0:
            raise RuntimeError(f"status: exit code {result.returncode}: {result.stderr}")
        return json.loads(result.stdout)

    def log(self) -> str:
        return self._log.read_text(errors="replace")
