"""Files to send. Their bytes differ from file to file, because GigHive refuses the same file twice."""

import hashlib
import itertools
import subprocess
from pathlib import Path

GIB = 2**30


class Recordings:
    def __init__(self, directory: Path):
        directory.mkdir(exist_ok=True)
        self._directory = directory
        self._number = itertools.count(1)

    def fresh(self, size: int, name: str = "take.mp4") -> Path:
        """A new file of that size and exactly that name, with unique content."""
        path = self._path(name)
        with open(path, "wb") as output:
            # The keystream of AES-CTR: as good as random, and as fast as the disk.
            cipher = subprocess.Popen(
                ["openssl", "enc", "-aes-128-ctr", "-K", f"{next(self._number):032x}", "-iv", "0" * 32],
                stdin=subprocess.PIPE, stdout=output, stderr=subprocess.DEVNULL)
            zeros = bytes(min(size, 2**20))
            for start in range(0, size, 2**20):
                cipher.stdin.write(zeros[:size - start])
            cipher.stdin.close()
            assert cipher.wait() == 0 and path.stat().st_size == size
        return path

    def sparse(self, size: int, name: str = "sparse.mp4") -> Path:
        """A file that is large and takes no room, for uploads that are to be refused."""
        path = self._path(name)
        with open(path, "wb") as output:
            output.truncate(size)
        return path

    def _path(self, name: str) -> Path:
        folder = self._directory / str(next(self._number))
        folder.mkdir()
        return folder / name


def sha256(path: Path) -> str:
    checksum = hashlib.sha256()
    with open(path, "rb") as source:
        while block := source.read(2**20):
            checksum.update(block)
    return checksum.hexdigest()
