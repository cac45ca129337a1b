"""tar archives whose bytes depend only on what is in them."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import PurePosixPath

from contents import File


def tar_gz(files: list[File], prefix: str, epoch: int) -> bytes:
    """The files below `prefix`, owned by root, with their directories."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.GNU_FORMAT) as archive:
        seen: set[str] = set()
        for file in sorted(files, key=lambda file: file.path):
            path = f"{prefix}{file.path}"
            for parent in reversed(PurePosixPath(path).parents):
                name = f"./{parent}" if prefix.startswith("./") and str(parent) != "." else str(parent)
                if name not in seen and name != ".":
                    seen.add(name)
                    archive.addfile(_entry(name, 0o755, epoch, tarfile.DIRTYPE))
            entry = _entry(path, file.mode, epoch)
            entry.size = len(file.content)
            archive.addfile(entry, io.BytesIO(file.content))
    return gzip.compress(output.getvalue(), 9, mtime=0)


def _entry(name: str, mode: int, epoch: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.mtime, entry.type = mode, epoch, kind
    entry.uname = entry.gname = "root"
    return entry
