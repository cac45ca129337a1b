"""What a harness needs of the machine: Debian packages, and a C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess


def install(*packages: str) -> None:
    """Those that are missing, as root or through sudo; fails loudly."""
    query = ["dpkg-query", "-W", "-f", "${Status}\n"]
    missing = [name for name in packages if "ok installed" not in subprocess.run([*query, name], capture_output=True, text=True).stdout]
    if not missing:
        return
    print("installing:", *missing, flush=True)
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "install", "-y", "--no-install-recommends", *missing], check=True)


def c_compiler() -> str:
    for name in ("clang", "cc", "gcc"):
        if shutil.which(name):
            return name
    install("gcc", "libc6-dev")
    return "gcc"
