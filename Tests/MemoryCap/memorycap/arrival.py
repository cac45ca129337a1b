"""What the receiver got, in its own words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Arrival:
    """One file of a run."""

    body_bytes: int = 0
    """Content of all requests that carried a part of the file."""
    announced_bytes: int = 0
    """Multipart: the request's length. tus: the upload's."""
    file_bytes: int = 0
    file_sha256: str = ""
    is_whole: bool = False
    """Multipart: the closing boundary followed the file, and nothing followed it. tus: it was finalized when all of it
    had come."""
    requests: int = 0
    """tus: how many requests carried a part of the file."""
    problem: str = ""


@dataclass
class Arrivals:
    """All files of a run."""

    files: list[Arrival]
    has_overlapped: bool = False
    """A request was there before the one before it was answered."""
    steady_requests: tuple[int, int] = (0, 0)
    """Requests that began in the first and in the second half of the steady state."""
    problem: str = ""
