"""Debian packages, made by dpkg-deb."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from contents import DESCRIPTION, EXPLANATION, ROOT, Build, File, service

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7": "armhf", "armv6": "armel"}
"""A static binary does not care for the ABI of a system's libraries, so that the one for ARMv7 serves armhf."""

MAINTAINER = os.environ.get("DEB_MAINTAINER") or "gighive-upload maintainers <maintainers@gighive.invalid>"
"""Who releases the packages; packages built by others name them with $DEB_MAINTAINER."""

SCRIPTS = ROOT / "Sources" / "Packaging" / "packages" / "scripts"
"""dpkg's scripts."""

SOURCES = {"libc6-dev": "glibc", "zlib1g-dev": "zlib", "libssl-dev": "openssl", "openssl": "openssl"}
"""The source package of each library that is linked."""

OVERRIDES = """\
# One static binary is what this package is for: it must run on boards with any libc, or none. Built-Using names what is in it.
gighive-upload: statically-linked-binary
gighive-upload: embedded-library
# The address of whoever releases the packages: $DEB_MAINTAINER.
gighive-upload: bogus-mail-host
gighive-upload: bogus-mail-host-in-debian-changelog
# There is no bug of Debian's to close.
gighive-upload: initial-upload-closes-no-bugs
"""

COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gighive-upload
Comment: The program is one static binary. Besides its own code, it contains the libraries below, in the versions that
 `gighive-upload version --verbose` prints.

Files: *
Copyright: The authors of gighive-upload
License: Apache-2.0

Files: openssl
Copyright: The OpenSSL Project Authors
License: Apache-2.0

Files: swift
Copyright: Apple Inc. and the Swift project authors
License: Apache-2.0 with Swift-exception
 The Apache License, version 2.0, with the Runtime Library Exception: as an exception, if you use this software to compile your
 source code and portions of it are embedded into the binary product as a result, you may redistribute such product without
 providing attribution as would otherwise be required by sections 4(a), 4(b) and 4(d) of the license.

Files: zlib
Copyright: 1995-2024 Jean-loup Gailly and Mark Adler
License: Zlib

Files: glibc
Copyright: Free Software Foundation, Inc. and contributors
License: LGPL-2.1+
 On Debian systems, the text of the GNU Lesser General Public License, version 2.1, is in
 /usr/share/common-licenses/LGPL-2.1.

Files: libgcc
Copyright: Free Software Foundation, Inc.
License: GPL-3+ with GCC-exception-3.1
 On Debian systems, the text of the GNU General Public License, version 3, is in /usr/share/common-licenses/GPL-3. The GCC Runtime
 Library Exception, version 3.1, permits to combine it with programs of any license.

License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in /usr/share/common-licenses/Apache-2.0.

License: Zlib
 This software is provided 'as-is', without any express or implied warranty. In no event will the authors be held liable for any
 damages arising from the use of this software.
 .
 Permission is granted to anyone to use this software for any purpose, including commercial applications, and to alter it and
 redistribute it freely, subject to the following restrictions:
 .
 1. The origin of this software must not be misrepresented; you must not claim that you wrote the original software. If you use
 this software in a product, an acknowledgment in the product documentation would be appreciated but is not required.
 2. Altered source versions must be plainly marked as such, and must not be misrepresented as being the original software.
 3. This notice may not be removed or altered from any source distribution.
"""


def package(build: Build, output: Path) -> Path:
    """Writes the .deb to the directory."""
    architecture = ARCHITECTURES[build.architecture]
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        root.chmod(0o755)
        files = [*build.files(), *service("/usr/bin/gighive-upload"), *_documents(build)]
        for file in files:
            path = root / "usr" / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(file.mode)
        control = root / "DEBIAN" / "control"
        control.parent.mkdir()
        size = sum((len(file.content) + 1023) // 1024 for file in files)
        control.write_text(_control(build, architecture, size))
        sums = subprocess.run(
            "find usr -type f -print0 | sort -z | xargs -0 md5sum", shell=True, cwd=root, capture_output=True, check=True
        )
        (root / "DEBIAN" / "md5sums").write_bytes(sums.stdout)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        for path in (control, root / "DEBIAN" / "md5sums"):
            path.chmod(0o644)
        for script in SCRIPTS.iterdir():
            path = root / "DEBIAN" / script.name
            path.write_bytes(script.read_bytes())
            path.chmod(0o755)
        package = output / f"gighive-upload_{build.version}_{architecture}.deb"
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(build.epoch)}
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(package)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return package


def _documents(build: Build) -> list[File]:
    changelog = (
        f"gighive-upload ({build.version}) unstable; urgency=medium\n\n"
        f"  * Release {build.version}. What changed is in docs/CHANGELOG.md.\n\n -- {MAINTAINER}  {build.date}\n"
    )
    directory = "share/doc/gighive-upload"
    return [
        File(f"{directory}/changelog.gz", gzip.compress(changelog.encode(), 9, mtime=0)),
        File(f"{directory}/copyright", COPYRIGHT.encode()),
        File("share/lintian/overrides/gighive-upload", OVERRIDES.encode()),
    ]


def _control(build: Build, architecture: str, size: int) -> str:
    explanation = "".join(f" {line}\n" for line in EXPLANATION.splitlines())
    return (
        f"Package: gighive-upload\nVersion: {build.version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
        f"Installed-Size: {size}\nRecommends: ca-certificates\nBuilt-Using: {', '.join(_built_using(build))}\n"
        f"Section: net\nPriority: optional\nDescription: {DESCRIPTION}\n{explanation}"
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
    return shutil.which("dpkg-deb") is not None
