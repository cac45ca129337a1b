"""The most memory that a process has had."""

from __future__ import annotations

import re
import threading
from pathlib import Path


class PeakMemory:
    """VmHWM, as last seen: it is gone with the process (and ru_maxrss counts its parent), so it is read again and again."""

    def __init__(self, pid: int):
        self.kib = 0
        self._status = Path(f"/proc/{pid}/status")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            try:
                found = re.search(r"VmHWM:\s*([0-9]+) kB", self._status.read_text())
            except OSError:
                return
            if not found:
                return
            self.kib = max(self.kib, int(found[1]))
            if self._ended.wait(0.002):
                return
