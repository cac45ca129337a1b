"""One request at a time works on an upload, as tusd sees to it: who comes later asks the holder to let go
and waits for it; a lock that a dropped connection left can be made to linger."""

from __future__ import annotations

import threading
import time
from typing import Callable

from .fault_arguments import Lock

ACQUIRE_SECONDS = 20.0
"""tusd's patience for a lock."""


class LockTimeout(Exception):
    """The holder did not let go in time."""


class Locked(Exception):
    """The upload is locked, and this server does not wait; the status says so."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


class UploadLock:
    def __init__(self):
        self._condition = threading.Condition()
        self._interrupt_holder: Callable[[], None] | None = None
        self._lingers_until = 0.0
        self._refusal: Lock | None = None

    def linger(self, seconds: float, refusal: Lock | None) -> None:
        """After a dropped connection: for so long others are refused. None: not any more."""
        self._lingers_until = time.monotonic() + seconds
        self._refusal = refusal

    def acquire(self, interrupt: Callable[[], None], stopping: threading.Event, only_looks: bool = False) -> None:
        """`interrupt` is what a later request calls to make this one let go; HEAD only looks."""
        deadline = time.monotonic() + ACQUIRE_SECONDS
        self._refuse_after_dropped_connection(only_looks)
        with self._condition:
            while self._interrupt_holder is not None:
                self._interrupt_holder()
                if time.monotonic() > deadline or stopping.is_set():
                    raise LockTimeout
                self._condition.wait(0.05)
            self._interrupt_holder = interrupt

    def release(self) -> None:
        with self._condition:
            self._interrupt_holder = None
            self._condition.notify_all()

    def _refuse_after_dropped_connection(self, only_looks: bool) -> None:
        lingers = self._refusal and time.monotonic() < self._lingers_until
        if lingers and not (self._refusal.patch_only and only_looks):
            raise Locked(self._refusal.status)
