"""Private network and mount namespaces for a test, for addresses, names and files that the machine does not have."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import threading
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


def name_server(path, host: str, address: str, *, answers_ipv6: bool) -> list[int]:
    """A name server that knows one IPv4 address, inside of `alone`; the types that it is asked for."""
    path.write_text("nameserver 127.0.0.53\n")
    path.chmod(0o644)
    command("mount", "--bind", path, "/etc/resolv.conf")
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.53", 53))
    asked: list[int] = []
    question = b"".join(bytes([len(part)]) + part for part in host.encode().split(b".")) + b"\0"

    def serve():
        while True:
            message, client = server.recvfrom(512)
            kind = int.from_bytes(message[12 + len(question) :][:2], "big")
            asked.append(kind)
            if kind == 28 and not answers_ipv6:
                continue
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address) if kind == 1 else b""
            head = message[:2] + b"\x81\x80\0\1" + (b"\0\1" if answer else b"\0\0") + b"\0\0\0\0"
            server.sendto(head + message[12 : 12 + len(question) + 4] + answer, client)

    threading.Thread(target=serve, daemon=True).start()
    return asked
