"""A line between client and receiver that notes when which byte came, as the kernel has stamped it."""

from __future__ import annotations

import socket
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Support"))

from line import Conduct, Line  # noqa: E402

SO_TIMESTAMPNS = 35
PIECE = 16 << 10


@dataclass
class Track:
    """What came from the client, in order."""

    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """Nanoseconds and bytes: all that is on the wire above TCP, TLS records and requests' heads included."""


class Meter(Line):
    def __init__(self, target_port: int, piece: int):
        """`piece`: bytes that are read at once. They have the stamp of the last of them, so that a late reader makes
        nothing later than that."""
        super().__init__(target_port, lambda number: Conduct(block_bytes=piece))
        # Before there is a connection: it inherits the option.
        self._listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.track = Track()

    def receive(self, client: socket.socket, most: int) -> bytes:
        data, ancillary, _, _ = client.recvmsg(most, 64)
        for _, kind, stamp in ancillary:
            if kind == SO_TIMESTAMPNS and data:
                seconds, nanoseconds = struct.unpack("qq", stamp)
                self.track.arrivals.append((seconds * 1_000_000_000 + nanoseconds, len(data)))
        return data
