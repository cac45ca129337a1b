"""Private network and mount namespaces for a test, for addresses, names and files that the machine does not have."""

from __future__ import annotations

import ctypes
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000


def alone(function):
    """Runs the function in a thread with a network that is its own, with a loopback device and nothing else, and mounts that
    nobody else sees; with whatever it starts from there. Returns what it returns."""

    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET | CLONE_NEWNS) != 0:
            raise PermissionError(ctypes.get_errno(), "unshare")
        command("mount", "--make-rprivate", "/")
        command("ip", "link", "set", "lo", "up")
        return function()

    if os.geteuid() != 0:
        pytest.skip("only root can have a network of its own")
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(enter).result()


def command(*arguments) -> None:
    subprocess.run([os.fspath(argument) for argument in arguments], check=True, capture_output=True)


def hosts(path, *lines: str) -> None:
    """Replaces /etc/hosts, inside of `alone`."""
    path.write_text("".join(line + "\n" for line in lines))
    path.chmod(0o644)
    command("mount", "--bind", path, "/etc/hosts")
