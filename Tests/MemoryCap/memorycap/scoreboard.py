"""A page shared by receiver, launcher and harness: who has got how far, without messages that could come late."""

from __future__ import annotations

import mmap
from pathlib import Path

STARTING, STEADY, ENDING, BETWEEN_EARLY, BETWEEN_LATE = range(5)
"""Phases of a transfer: before 5 % have arrived, until 95 % have, after. Of what is sent in several requests, only the
inside of each (from 5 % to 95 % of it) is steady; the time between them belongs to the first or the second half."""

PHASE, RECEIVED, CLIENT_PID = range(3)


class Scoreboard:
    """64-bit words in a file that all three map."""

    def __init__(self, path: Path):
        self.path = path
        path.write_bytes(bytes(mmap.PAGESIZE))
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self._words = memoryview(self._page).cast("Q")

    def reset(self) -> None:
        for word in (PHASE, RECEIVED, CLIENT_PID):
            self._words[word] = 0

    def __getitem__(self, word: int) -> int:
        return self._words[word]

    def __setitem__(self, word: int, value: int) -> None:
        self._words[word] = value
