"""Packages for OpenWrt up to 24.10 (opkg). Later releases build theirs from Sources/Packaging/openwrt/Makefile (apk)."""

from __future__ import annotations

from pathlib import Path

from archives import tar_gz
from contents import DESCRIPTION, ROOT, Build, File

ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "aarch64_generic", "armv7": "arm_cortex-a7", "armv6": "arm_arm1176jzf-s_vfp"}
"""The commonest name of each. opkg takes them for other cores after `arch` lines in /etc/opkg.conf, since nothing is linked."""

SERVICE = ROOT / "Sources" / "Packaging" / "openwrt"
CONFIGURATION = "etc/gighive-upload.conf"
"""Kept at an upgrade of the package and of the system."""


def package(build: Build, output: Path) -> Path:
    """Writes the .ipk: the program and its service, without documents that nobody reads on a router."""
    architecture = ARCHITECTURES[build.architecture]
    files = [File(f"usr/{file.path}", file.content, file.mode) for file in build.files() if file.path.startswith("bin/")]
    files.append(File("etc/init.d/gighive-upload", (SERVICE / "gighive-upload.init").read_bytes(), 0o755))
    files.append(File(CONFIGURATION, (SERVICE / "gighive-upload.conf").read_bytes(), 0o600))
    control = (
        f"Package: gighive-upload\nVersion: {build.version}-1\nArchitecture: {architecture}\nSection: net\n"
        f"License: Apache-2.0\nMaintainer: gighive-upload maintainers\nDepends: ca-bundle\n"
        f"Installed-Size: {sum(len(file.content) for file in files)}\nDescription: {DESCRIPTION}\n"
    )
    data = tar_gz(files, "./", build.epoch)
    described = [File("control", control.encode()), File("conffiles", f"/{CONFIGURATION}\n".encode())]
    parts = [
        File("debian-binary", b"2.0\n"),
        File("data.tar.gz", data),
        File("control.tar.gz", tar_gz(described, "./", build.epoch)),
    ]
    package = output / f"gighive-upload_{build.version}-1_{architecture}.ipk"
    package.write_bytes(tar_gz(parts, "./", build.epoch))
    return package
