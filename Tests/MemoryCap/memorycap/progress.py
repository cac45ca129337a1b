"""How far all connections of a run are, which phase that is, and how fast the receiver reads."""

from __future__ import annotations

import threading
import time

from . import scoreboard
from .rows import FAST, THROTTLE_BYTES_PER_SECOND, THROTTLE_SECONDS, THROTTLED
from .scoreboard import Scoreboard

STEADY_FROM, STEADY_TO = 0.05, 0.95
THROTTLE_FROM = 0.2


class Progress:
    """Shared by the receiver's threads."""

    def __init__(self, board: Scoreboard, total: int, files: int, reader: str):
        self._board, self._files, self._reader = board, files, reader
        self._lock = threading.Lock()
        self._throttled_since: float | None = None
        self.restart(total)

    def restart(self, total: int) -> None:
        """From here on `total` bytes are to come."""
        with self._lock:
            self._total, self._received, self._inside = total, 0, 0
            self.requests = [0, 0]
            """Requests with a part of the file that began in steady state: in its first half and in its second."""

    @property
    def is_throttling(self) -> bool:
        return self._throttled_since is not None

    def begin(self) -> None:
        """A further part of an upload comes."""
        with self._lock:
            if STEADY_FROM <= self._fraction < STEADY_TO:
                self.requests[self._fraction >= 0.5] += 1

    def took(self, count: int, entered: bool = False, left: bool = False) -> None:
        """Bytes have arrived; with them a request's inside was entered, or left again."""
        with self._lock:
            self._received += count
            self._inside += entered - left
            if self._fraction >= STEADY_TO:
                phase = scoreboard.ENDING
            elif self._fraction < STEADY_FROM:
                phase = scoreboard.STARTING
            elif self._inside == self._files:
                phase = scoreboard.STEADY
            else:
                phase = scoreboard.BETWEEN_EARLY if self._fraction < 0.5 else scoreboard.BETWEEN_LATE
            self._board[scoreboard.PHASE] = phase
            self._board[scoreboard.RECEIVED] = self._received
        self._throttle()

    @property
    def _fraction(self) -> float:
        return self._received / self._total

    def _throttle(self) -> None:
        if self._reader != THROTTLED or self._fraction < THROTTLE_FROM:
            return
        now = time.monotonic()
        if self._throttled_since is None:
            self._throttled_since, self._throttled_from = now, self._received
        elapsed = now - self._throttled_since
        if elapsed > THROTTLE_SECONDS:
            self._reader, self._throttled_since = FAST, None
        else:
            time.sleep(max(0.0, (self._received - self._throttled_from) / THROTTLE_BYTES_PER_SECOND - elapsed))


class Span:
    """One request's content on its way: tells the progress when its inside begins and ends."""

    def __init__(self, progress: Progress, length: int):
        self._progress, self._length = progress, length
        self._taken = 0
        self._is_inside = False
        progress.begin()

    def took(self, count: int) -> None:
        self._taken += count
        is_inside = self._length * STEADY_FROM <= self._taken < self._length * STEADY_TO
        self._progress.took(count, is_inside and not self._is_inside, self._is_inside and not is_inside)
        self._is_inside = is_inside

    def end(self) -> None:
        """The content is over, though perhaps not all of it has come."""
        if self._is_inside:
            self._progress.took(0, left=True)
            self._is_inside = False
