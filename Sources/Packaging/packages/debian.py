"""Debian packages, made by debhelper from debian/, whose files say what goes where."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from contents import EXAMPLE, HOMEPAGE, SYSTEMD, Build

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7": "armhf", "armv6": "armel"}
"""A static binary does not care for the ABI of a system's libraries, so that the one for ARMv7 serves armhf."""

MAINTAINER = os.environ.get("DEB_MAINTAINER") or "gighive-upload maintainers <maintainers@gighive.invalid>"
"""Who releases the packages; packages built by others name them with $DEB_MAINTAINER."""

HERE = Path(__file__).resolve().parent
SUFFIX = "deb"
NEEDS = "dpkg-buildpackage with debhelper"

SOURCES = {"libc6-dev": "glibc", "zlib1g-dev": "zlib", "openssl": "openssl"}
"""The source package of each library that is linked."""


def package(build: Build, output: Path) -> Path:
    """Writes the .deb to the directory."""
    architecture = ARCHITECTURES[build.architecture]
    name = f"gighive-upload_{build.version}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory) / "gighive-upload"
        _lay_out(build, tree)
        # Dependencies of the build are for building; this only installs.
        command = ["dpkg-buildpackage", "--build=binary", "-a", architecture, "-d", "-us", "-uc"]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(build.epoch), "HOMEPAGE": HOMEPAGE, "DEB_MAINTAINER": MAINTAINER}
        # No package of debugging symbols.
        environment["DEB_BUILD_OPTIONS"] = "noautodbgsym"
        result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{result.stdout}{result.stderr}packages: dpkg-buildpackage failed for {architecture}")
        shutil.copyfile(Path(directory) / name, output / name)
    return output / name


def _lay_out(build: Build, tree: Path) -> None:
    """A source package for debhelper, with the binary."""
    shutil.copytree(HERE / "debian", tree / "debian")
    shutil.copyfile(build.binary, tree / "gighive-upload")
    (tree / "gighive-upload").chmod(0o755)
    (tree / "man").mkdir()
    for page in build.reference.glob("man?/*"):
        shutil.copyfile(page, tree / "man" / page.name)
    shutil.copytree(build.reference / "completions", tree / "completions")
    for path, content in build.documents().items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        # Debian's name for the license.
        (tree / path).write_bytes(content.replace(b"](LICENSE)", b"](copyright)"))
    shutil.copyfile(EXAMPLE, tree / "gighive-upload.conf")
    subprocess.run([SYSTEMD / "units", "/usr/bin/gighive-upload", tree / "units"], check=True)
    shutil.copyfile(tree / "units" / "gighive-upload-watch.service", tree / "debian" / "gighive-upload-watch.service")
    for kind in ("sysusers", "tmpfiles"):
        shutil.copyfile(SYSTEMD / f"{kind}.conf", tree / "debian" / f"gighive-upload.{kind}")
    (tree / "debian" / "static-built-using").write_text(", ".join(_built_using(build)))
    (tree / "debian" / "changelog").write_text(
        f"gighive-upload ({build.version}) unstable; urgency=medium\n\n"
        f"  * Release {build.version}. What changed is in docs/CHANGELOG.md.\n\n -- {MAINTAINER}  {build.date}\n"
    )


def _built_using(build: Build) -> list[str]:
    """The source packages in the binary, in versions that the archive's security tracker knows."""
    used = {}
    for name, version in build.components.items():
        source = SOURCES.get(name) or re.sub("^libgcc-([0-9]+)-dev$", r"gcc-\1", name)
        if source not in ("commit", "swift"):
            used[source] = version
    return [f"{source} (= {version})" for source, version in sorted(used.items())]


def is_possible() -> bool:
    return shutil.which("dpkg-buildpackage") is not None and shutil.which("dh") is not None
