"""Packs the static binaries in DIST: Debian, RPM and OpenWrt packages, tar archives, their SPDX documents, and SHA256SUMS.
The same sources and libraries give the same bytes.

Usage: packages DIST COMPONENTS REFERENCE ARCHITECTURE...

COMPONENTS is the directory with what each binary is built from, REFERENCE the one with man pages and completions.
"""

import hashlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import contents
import debian
import openwrt
import rpm
from archives import tar_gz
from contents import Build, service


def archive(build: Build, output: Path) -> Path:
    """A tar.gz for every other system: unpack it over /usr/local."""
    name = f"gighive-upload-{build.version}-{build.architecture}"
    files = [*build.files(), *service("/usr/local/bin/gighive-upload")]
    path = output / f"{name}.tar.gz"
    path.write_bytes(tar_gz(files, f"{name}/", build.epoch))
    return path


def pack(build: Build, output: Path) -> list[Path]:
    """All packages of an architecture, and its SPDX document."""
    written = [build.binary, archive(build, output), openwrt.package(build, output)]
    for kind in (debian, rpm):
        if build.architecture not in kind.ARCHITECTURES:
            continue
        if kind.is_possible():
            written.append(kind.package(build, output))
        else:
            print(f"no {kind.NEEDS} on this machine: no .{kind.SUFFIX} for {build.architecture}", file=sys.stderr)
    document = output / f"gighive-upload-{build.architecture}.spdx.json"
    return [*written, document] if document.exists() else written


def main() -> None:
    dist, components, reference = map(Path, sys.argv[1:4])
    builds = [contents.build(architecture, dist, components, reference) for architecture in sys.argv[4:]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        written = [path for paths in pool.map(pack, builds, [dist] * len(builds)) for path in paths]
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(written))
    (dist / "SHA256SUMS").write_text(sums)
    print(sums, end="")


if __name__ == "__main__":
    main()
