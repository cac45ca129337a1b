"""Packages for OpenWrt up to 24.10 (opkg). Later releases build theirs from Sources/Packaging/openwrt/Makefile (apk)."""

from __future__ import annotations

from pathlib import Path

from archives import tar_gz
from contents import DESCRIPTION, ROOT, Build, File

ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "aarch64_generic", "armv7": "arm_cortex-a7", "armv6": "arm_arm1176jzf-s_vfp"}
"""The commonest name of each. opkg takes them for other cores after `arch` lines in /etc/opkg.conf, since nothing is linked."""

USER = "gighive-upload"
"""Of the service: default_postinst adds it, and a group of this name."""

SCRIPT = """\
#!/bin/sh
{first}[ -s ${{IPKG_INSTROOT}}/lib/functions.sh ] || exit 0
. ${{IPKG_INSTROOT}}/lib/functions.sh
default_{name} $0 $@
"""
"""The script of every package of OpenWrt: the init script is enabled and started, or stopped and disabled."""

SCRIPTS = {
    "postinst": SCRIPT.format(name="postinst", first='[ "${IPKG_NO_SCRIPT}" = "1" ] && exit 0\n'),
    "prerm": SCRIPT.format(name="prerm", first=""),
}

SERVICE = ROOT / "Sources" / "Packaging" / "openwrt"
CONFIGURATION = "etc/gighive-upload.conf"
"""Kept at an upgrade of the package and of the system."""


def package(build: Build, output: Path) -> Path:
    """Writes the .ipk: the program and its service, without documents that nobody reads on a router."""
    architecture = ARCHITECTURES[build.architecture]
    files = [File(f"usr/{file.path}", file.content, file.mode) for file in build.files() if file.path.startswith("bin/")]
    files.append(File("etc/init.d/gighive-upload", (SERVICE / "gighive-upload.init").read_bytes(), 0o755))
    files.append(File("etc/capabilities/gighive-upload.json", (SERVICE / "gighive-upload.json").read_bytes()))
    files.append(File(CONFIGURATION, (SERVICE / "gighive-upload.conf").read_bytes()))
    control = (
        f"Package: gighive-upload\nVersion: {build.version}-1\nArchitecture: {architecture}\nSection: net\n"
        f"License: Apache-2.0\nMaintainer: gighive-upload maintainers\nDepends: ca-bundle\n"
        f"Require-User: {USER}:{USER}\n"
        f"Installed-Size: {sum(len(file.content) for file in files)}\nDescription: {DESCRIPTION}\n"
    )
    data = tar_gz(files, "./", build.epoch)
    described = [File("control", control.encode()), File("conffiles", f"/{CONFIGURATION}\n".encode())]
    described += [File(name, script.encode(), 0o755) for name, script in SCRIPTS.items()]
    described.append(File("postinst-pkg", (SERVICE / "gighive-upload.postinst").read_bytes(), 0o755))
    parts = [
        File("debian-binary", b"2.0\n"),
        File("data.tar.gz", data),
        File("control.tar.gz", tar_gz(described, "./", build.epoch)),
    ]
    package = output / f"gighive-upload_{build.version}-1_{architecture}.ipk"
    package.write_bytes(tar_gz(parts, "./", build.epoch))
    return package
