"""The page cache of Linux, which decides how much of a program's file is mapped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def copy(program: Path, target: Path) -> Path:
    """Copies a program so that the page cache has each page for itself: Linux 6.18 maps a large folio whole, however little of it
    runs, and its size depends on how the file was written."""
    shutil.copy(program, target)
    with target.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        for advice in (os.POSIX_FADV_DONTNEED, os.POSIX_FADV_RANDOM):
            os.posix_fadvise(file.fileno(), 0, 0, advice)
        while file.read(4096):
            pass
    return target
