"""Packs the static binaries in DIST: Debian packages, OpenWrt packages and tar archives, their SPDX documents, and SHA256SUMS.
The same sources and libraries give the same bytes.

Usage: packages DIST COMPONENTS REFERENCE ARCHITECTURE...

COMPONENTS is the directory with what each binary is built from, REFERENCE the one with man pages and completions.
"""

import hashlib
import sys
from pathlib import Path

import contents
import debian
import openwrt
from archives import tar_gz
from contents import ROOT, Build, File, service


def archive(build: Build, output: Path) -> Path:
    """A tar.gz for every other system: unpack it over /usr/local."""
    name = f"gighive-upload-{build.version}-{build.architecture}"
    files = [*build.files(), *service("/usr/local/bin/gighive-upload")]
    files.append(File("share/doc/gighive-upload/LICENSE", (ROOT / "LICENSE").read_bytes()))
    path = output / f"{name}.tar.gz"
    path.write_bytes(tar_gz(files, f"{name}/", build.epoch))
    return path


def main() -> None:
    dist, components, reference = map(Path, sys.argv[1:4])
    written = []
    for architecture in sys.argv[4:]:
        build = contents.build(architecture, dist, components, reference)
        written += [build.binary, archive(build, dist), openwrt.package(build, dist)]
        if debian.is_possible():
            written.append(debian.package(build, dist))
        else:
            print(f"no dpkg-deb on this machine: no .deb for {architecture}", file=sys.stderr)
        written += [path for path in [dist / f"gighive-upload-{architecture}.spdx.json"] if path.exists()]
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(written))
    (dist / "SHA256SUMS").write_text(sums)
    print(sums, end="")


if __name__ == "__main__":
    main()
