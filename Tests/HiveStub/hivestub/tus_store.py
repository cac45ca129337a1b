"""tus uploads on disk. The offset is the size of the data file, as in tusd's file store, so that a stub
that is killed in the middle of a PATCH finds after its restart what had arrived."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import threading
import time
from pathlib import Path

from .tus_lock import UploadLock

COPY_BYTES = 1 << 20


class Upload:
    """One upload: `<id>` holds its bytes, `<id>.info` what creation said. Both go when it is removed."""

    def __init__(self, folder: Path, base: str, id: str, info: dict):
        self.id = id
        self.base = base
        self.data_path = folder / id
        self.lock = UploadLock()
        self.finalizing = threading.Lock()
        self._info_path = folder / f"{id}.info"
        self._info = info
        self._sha256: str | None = None

    @property
    def path(self) -> str:
        """The upload's URL without scheme and host."""
        return self.base + self.id

    @property
    def offset(self) -> int:
        try:
            return self.data_path.stat().st_size
        except FileNotFoundError:
            return 0  # it was removed

    @property
    def length(self) -> int | None:
        """None until it is declared (Upload-Defer-Length)."""
        return self._info["length"]

    @property
    def metadata_header(self) -> str:
        """Upload-Metadata as it came."""
        return self._info["metadata_header"]

    @property
    def metadata(self) -> dict[str, str]:
        return self._info["metadata"]

    @property
    def concat(self) -> str:
        """Upload-Concat: `partial`, or `final;` and the paths of the uploads that were joined; empty for others."""
        return self._info.get("concat", "")

    @property
    def expires(self) -> float | None:
        """Seconds since 1970, or None."""
        return self._info["expires"]

    @property
    def is_complete(self) -> bool:
        return self.length is not None and self.offset == self.length

    @property
    def sha256(self) -> str:
        """Of what has arrived; read from the disk once the upload is complete and then remembered."""
        if self._sha256 is not None:
            return self._sha256
        with open(self.data_path, "rb", buffering=0) as data:
            digest = hashlib.file_digest(data, "sha256").hexdigest()
        if self.is_complete:
            self._sha256 = digest
        return digest

    def describe(self) -> dict:
        return {
            "id": self.id,
            "path": self.path,
            "offset": self.offset,
            "length": self.length,
            "complete": self.is_complete,
            "metadata": self.metadata,
        }

    def declare_length(self, length: int) -> None:
        self._info["length"] = length
        self.save()

    def expire_in(self, seconds: float) -> None:
        self._info["expires"] = time.time() + seconds
        self.save()

    def append(self, other: Path) -> None:
        """Takes over a spooled body."""
        with open(other, "rb") as source, open(self.data_path, "ab") as data:
            shutil.copyfileobj(source, data, COPY_BYTES)

    def save(self) -> None:
        new = self._info_path.with_suffix(".new")
        new.write_text(json.dumps(self._info))
        os.replace(new, self._info_path)

    def delete(self) -> None:
        self._info_path.unlink(missing_ok=True)
        self.data_path.unlink(missing_ok=True)


class TusStore:
    """The uploads under one base path, and those that are known to have gone. Thread-safe."""

    def __init__(self, folder: Path, base: str):
        self._folder = folder
        self.base = base
        self._lock = threading.Lock()
        self._uploads: dict[str, Upload] = {}
        self._gone: dict[str, int] = {}
        """Uploads that vanished, and the status that says so."""
        if folder.exists():
            self._load()

    @property
    def uploads(self) -> list[Upload]:
        with self._lock:
            return list(self._uploads.values())

    def create(self, length: int | None, metadata_header: str, metadata: dict[str, str], concat: str = "") -> Upload:
        self._folder.mkdir(parents=True, exist_ok=True)
        info = {"length": length, "metadata_header": metadata_header, "metadata": metadata, "expires": None,
                "concat": concat}
        upload = Upload(self._folder, self.base, secrets.token_hex(16), info)
        upload.data_path.touch()
        upload.save()
        with self._lock:
            self._uploads[upload.id] = upload
        return upload

    def find(self, id: str) -> tuple[Upload | None, int]:
        """The upload, or None and the status for that: 404, or 410 where that was ordered or it expired."""
        upload = self._uploads.get(id)
        if upload is not None and upload.expires is not None and upload.expires < time.time():
            self.remove(upload, 410)
        return self._uploads.get(id), self._gone.get(id, 404)

    def remove(self, upload: Upload, status: int = 404, move_to: Path | None = None) -> None:
        """`status` is what requests for it get from now on; `move_to` is where its bytes go."""
        with self._lock:
            self._uploads.pop(upload.id, None)
            self._gone[upload.id] = status
        if move_to is not None:
            os.replace(upload.data_path, move_to)
        upload.delete()

    def spool_path(self) -> Path:
        return self._folder / f"{secrets.token_hex(8)}.spool"

    def _load(self) -> None:
        for path in self._folder.iterdir():
            if path.suffix in (".spool", ".new"):
                path.unlink()
            elif path.suffix == ".info" and path.with_suffix("").exists():
                upload = Upload(self._folder, self.base, path.stem, json.loads(path.read_text()))
                self._uploads[upload.id] = upload
