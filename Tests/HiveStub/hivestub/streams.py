"""The bytes of a connection, plain or TLS: reading, writing, discarding, and the ways to end.

Reads never take a timeout: a poll before each would cost more than the read. `HiveStub.stop` shuts the
socket down from outside instead, which wakes every blocked call.
"""

from __future__ import annotations

import fcntl
import select
import socket
import struct
import termios
import threading
import time

BUFFER_BYTES = 256 << 10
DISCARD_BYTES = 1 << 20
LINGER_SECONDS = 30.0
LINGER_IDLE_SECONDS = 2.0
"""Apache's lingering close: 30 s in all, 2 s without a byte."""

_GONE = select.POLLRDHUP | select.POLLHUP | select.POLLERR


class Stream:
    """A plain TCP connection. `raw_*` act on the socket below TLS, if there is any."""

    def __init__(self, sock: socket.socket, stopping: threading.Event):
        self._socket = sock
        self._stopping = stopping
        self._scratch: bytearray | None = None
        self.drained_bytes = 0
        """What came after the answer, while the end lingered; over TLS with the records' overhead."""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def recv_into(self, view: memoryview) -> int:
        """Reads what is there, at least one byte; 0 at the end."""
        return self._socket.recv_into(view)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def discard(self, count: int) -> int:
        """Throws `count` bytes away; returns how many came before the end."""
        left = count
        while left and (received := self.raw_discard(min(left, DISCARD_BYTES))):
            left -= received
        return count - left

    def raw_discard(self, count: int) -> int:
        """MSG_TRUNC makes Linux drop a TCP stream's bytes without copying them (tcp(7)): for 1 GiB from curl, that takes 0.6
        times the processor time."""
        if self._scratch is None:
            self._scratch = bytearray(DISCARD_BYTES)
        # The unbound call reaches the socket below an SSLSocket.
        return socket.socket.recv_into(self._socket, self._scratch, count, socket.MSG_TRUNC)

    def stop_reading(self) -> None:
        """Wakes a blocked read and lets it end. Writing continues. Another thread calls it."""
        try:
            socket.socket.shutdown(self._socket, socket.SHUT_RD)
        except OSError:
            pass  # the connection is gone already

    def limit_receive_buffer(self, count: int = 64 << 10) -> None:
        """Keeps the kernel from taking megabytes that a slow reader has not asked for."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, count)

    def wait_until_gone(self, seconds: float = float("inf")) -> None:
        """Reads nothing until the client closes, the time is over, or the stub stops."""
        poll = select.poll()
        poll.register(self._socket.fileno(), _GONE)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._stopping.is_set():
            if poll.poll(50):
                return

    def wait_for_more(self, seconds: float = float("inf")) -> bool:
        """Whether more bytes come before the client closes, the time is over, or the stub stops."""
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN | _GONE)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._stopping.is_set():
            if poll.poll(min(50, max(1, (deadline - time.monotonic()) * 1000))):
                return self._has_bytes()
        return False

    def _has_bytes(self) -> bool:
        try:
            # The unbound call reaches the socket below an SSLSocket.
            return bool(socket.socket.recv(self._socket, 1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError:
            return False

    # The ways to end.

    def end_lingering(self) -> None:
        """FIN, then read on until the client closes, as Apache does, so that it can read the answer."""
        self._shut_down_writing()
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN | _GONE)
        deadline = time.monotonic() + LINGER_SECONDS
        idle_since = time.monotonic()
        while time.monotonic() < min(deadline, idle_since + LINGER_IDLE_SECONDS):
            if self._stopping.is_set():
                break
            if poll.poll(100):
                received = self.raw_discard(DISCARD_BYTES)
                if not received:
                    break
                self.drained_bytes += received
                idle_since = time.monotonic()
        self._socket.close()

    def end_with_fin(self) -> None:
        """FIN while the client still sends; nothing more is read, so that its send blocks or fails."""
        self._shut_down_writing()
        self.wait_until_gone(LINGER_IDLE_SECONDS)
        self._socket.close()

    def end_with_reset(self) -> None:
        """RST at once (SO_LINGER 0), but not before the client's kernel has the answer: what is still
        queued here would be thrown away."""
        deadline = time.monotonic() + 1.0
        while self._unacknowledged_bytes() and time.monotonic() < deadline:
            time.sleep(0.001)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def end_abruptly(self) -> None:
        self._socket.close()

    def _unacknowledged_bytes(self) -> int:
        count = fcntl.ioctl(self._socket.fileno(), termios.TIOCOUTQ, b"\0\0\0\0")
        return struct.unpack("i", count)[0]

    def _shut_down_writing(self) -> None:
        socket.socket.shutdown(self._socket, socket.SHUT_WR)


class TLSStream(Stream):
    """A TLS connection over an SSLSocket whose handshake is done. Each read gives one record (16 KiB)."""

    def discard(self, count: int) -> int:
        left = count
        scratch = memoryview(bytearray(BUFFER_BYTES))
        while left and (received := self._socket.recv_into(scratch[: min(len(scratch), left)])):
            left -= received
        return count - left

    def wait_for_more(self, seconds: float = float("inf")) -> bool:
        return bool(self._socket.pending()) or super().wait_for_more(seconds)

    def _shut_down_writing(self) -> None:
        """close_notify, then FIN. A zero timeout makes unwrap send its alert without waiting for the
        client's."""
        self._socket.settimeout(0)
        try:
            self._socket.unwrap()
        except (OSError, ValueError):
            pass
        self._socket.settimeout(None)
        super()._shut_down_writing()
