"""What an installation consists of: the files that all packages have."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DESCRIPTION = "uploads large recordings to a GigHive server"
HOMEPAGE = os.environ.get("HOMEPAGE") or "https://gighive.invalid/gighive-upload"
"""Where the packages are released; packages built by others name theirs with $HOMEPAGE."""


@dataclass(frozen=True)
class File:
    path: str
    """Below the prefix, such as "bin/gighive-upload"."""
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Build:
    """A static binary, what it is built from, and the reference that comes from it."""

    architecture: str
    binary: Path
    components: dict[str, str]
    reference: Path
    epoch: int

    @property
    def version(self) -> str:
        source = (ROOT / "Sources" / "Uploader" / "Uploader.swift").read_text()
        return re.search(r'static let version = "([^"]+)"', source).group(1)

    @property
    def date(self) -> str:
        return time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(self.epoch))

    def files(self) -> list[File]:
        """The program, its man pages, completions and documents."""
        files = [File("bin/gighive-upload", self.binary.read_bytes(), 0o755)]
        for page in sorted(self.reference.glob("man?/*")):
            path = f"share/man/{page.parent.name}/{page.name}.gz"
            files.append(File(path, gzip.compress(page.read_bytes(), 9, mtime=0)))
        for name, path in COMPLETIONS.items():
            files.append(File(path, (self.reference / "completions" / name).read_bytes()))
        for path, content in self.documents().items():
            files.append(File(f"share/doc/gighive-upload/{path}", content))
        files.append(File("share/doc/gighive-upload/LICENSE", (ROOT / "LICENSE").read_bytes()))
        files.append(File("share/doc/gighive-upload/examples/gighive-upload.conf", EXAMPLE.read_bytes()))
        return files

    def documents(self) -> dict[str, bytes]:
        """The pages, by their names below the sources. The releases are on the repository's site."""
        pages = [page for page in sorted((ROOT / "docs").rglob("*")) if page.suffix in (".md", ".svg", ".json")]
        found = {str(page.relative_to(ROOT)): page.read_bytes() for page in [ROOT / "README.md", *pages]}
        found["README.md"] = found["README.md"].replace(b"]: ../../releases", f"]: {HOMEPAGE}/releases".encode())
        return found


def service(program: str) -> list[File]:
    """systemd's units for the program at this path, and the user and the directories that they need."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([SYSTEMD / "units", program, directory], check=True)
        files = [File(f"lib/systemd/system/{unit.name}", unit.read_bytes()) for unit in sorted(Path(directory).iterdir())]
    for kind in ("sysusers", "tmpfiles"):
        files.append(File(f"lib/{kind}.d/gighive-upload.conf", (SYSTEMD / f"{kind}.conf").read_bytes()))
    return files


SYSTEMD = ROOT / "Sources" / "Packaging" / "systemd"
EXAMPLE = Path(__file__).resolve().parent / "gighive-upload.conf"
COMPLETIONS = {
    "gighive-upload": "share/bash-completion/completions/gighive-upload",
    "_gighive-upload": "share/zsh/site-functions/_gighive-upload",
    "gighive-upload.fish": "share/fish/vendor_completions.d/gighive-upload.fish",
}
"""Where the shells look below /usr/local, and Fedora's below /usr (for Debian's below /usr, see debian/)."""


def build(architecture: str, dist: Path, components: Path, reference: Path) -> Build:
    versions = dict(line.split(" ", 1) for line in (components / architecture).read_text().splitlines())
    if "openssl" not in versions:
        sys.exit(
            f"packages: gighive-upload-{architecture} contains this machine's OpenSSL (libssl-dev {versions.get('libssl-dev')}), "
            "not the one from Debian 13's source package, so it is not packed. `make openssl` says what is missing"
        )
    return Build(architecture, dist / f"gighive-upload-{architecture}", versions, reference, _epoch())


def _epoch() -> int:
    """The time on everything in a package: that of the sources, not of the build, so that the same sources give the same package."""
    git = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False, cwd=ROOT
    ).stdout.strip()
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git or 0)
