"""The system's trust store as it is on a machine whose owner has added his own authority.

Every client finds it where it always looks, without an option: the processes of the bench see a copy of /etc/ssl/certs
with one authority more, in the hashed directory and in the bundle, as update-ca-certificates(8) does it. The copy is
mounted in the bench's own mount namespace, so that nothing else on the machine sees it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

SYSTEM_STORE = Path("/etc/ssl/certs")
BUNDLE = SYSTEM_STORE / "ca-certificates.crt"

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000


def trust(authority: Path, copy: Path) -> None:
    """From here on this process and its children trust `authority` as they trust the system's."""
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(SYSTEM_STORE, copy, symlinks=True)
    done = subprocess.run(
        ["openssl", "x509", "-in", authority, "-noout", "-subject_hash"], check=True, capture_output=True, text=True)
    shutil.copy(authority, copy / f"{done.stdout.strip()}.0")
    with open(copy / BUNDLE.name, "a") as bundle:
        bundle.write(authority.read_text())
    _enter_namespace()
    _mount(str(copy), str(SYSTEM_STORE), _MS_BIND)


def _enter_namespace() -> None:
    user, group = os.getuid(), os.getgid()
    flags = _CLONE_NEWNS | (0 if user == 0 else _CLONE_NEWUSER)
    _check(_libc.unshare(flags), "unshare")
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _mount("none", "/", _MS_REC | _MS_PRIVATE)


def _mount(source: str, target: str, flags: int) -> None:
    _check(_libc.mount(source.encode(), target.encode(), None, ctypes.c_ulong(flags), None), f"mount {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


_libc = ctypes.CDLL(None, use_errno=True)
