"""Runs HiveStub with small receive buffers. The kernel would take up to 32 MiB (tcp_rmem) that a server has not read yet, and
when the server is killed they are lost: that is the machine's doing, and no client's."""

from __future__ import annotations

import runpy
import socket
import sys

RECEIVE_BUFFER_BYTES = 256 << 10

_create_server = socket.create_server


def create_server(*arguments, **options) -> socket.socket:
    listener = _create_server(*arguments, **options)
    # Connections inherit it.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    return listener


if __name__ == "__main__":
    socket.create_server = create_server
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
