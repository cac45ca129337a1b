"""A relay between client and receiver that notes when which byte came, as the kernel has stamped it."""

from __future__ import annotations

import socket
import struct
import threading
from dataclasses import dataclass, field

SO_TIMESTAMPNS = 35
PIECE = 16 << 10


@dataclass
class Track:
    """What came from the client, in order."""

    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """Nanoseconds and bytes: all that is on the wire above TCP, TLS records and requests' heads included."""


class Meter:
    def __init__(self, target_port: int, piece: int):
        """`piece`: bytes that are read at once. They have the stamp of the last of them, so that a late reader makes
        nothing later than that."""
        self._piece = piece
        self._target = ("127.0.0.1", target_port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        # Before there is a connection: it inherits the option.
        self._listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.port = self._listener.getsockname()[1]
        self.track = Track()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Meter":
        return self

    def __exit__(self, *_) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
            threading.Thread(target=self._back, args=(server, client), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while True:
                data, ancillary, _, _ = client.recvmsg(self._piece, 64)
                if not data:
                    break
                for _, kind, stamp in ancillary:
                    if kind == SO_TIMESTAMPNS:
                        seconds, nanoseconds = struct.unpack("qq", stamp)
                        self.track.arrivals.append((seconds * 1_000_000_000 + nanoseconds, len(data)))
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            server.close()

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        try:
            while data := server.recv(PIECE):
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            client.close()
