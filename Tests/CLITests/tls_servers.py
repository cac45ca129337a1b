"""TLS servers on loopback that present any certificate, or stop in the middle of the handshake."""

from __future__ import annotations

import os
import re
import socket
import ssl
import struct
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from certificates_forge import Shown

ANSWER = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
WAITS_SECONDS = 20


@dataclass
class Connection:
    """What came over one connection."""

    tunnel: bytes = b""
    """The CONNECT request, where there was one."""
    received: bytes = b""
    """What TLS protected."""
    failure: str = ""
    """Why the handshake failed."""
    version: str | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Server:
    """A TLS server on loopback. As a proxy (CONNECT) it stands for any host, so that every name can be tested; a client
    that does not ask for a tunnel finds the server itself."""

    def __init__(self, shown: Shown, folder: Path, answer: bytes = ANSWER, says_goodbye: bool = True, **context):
        pem = folder / f"server-{os.urandom(4).hex()}.pem"
        pem.write_text(shown.pem + Path(shown.leaf.key).read_text())
        self.shown = shown
        self.connections: list[Connection] = []
        self._answer = answer
        self._says_goodbye = says_goodbye
        self._context = self._new_context(pem, **context)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _new_context(self, pem: Path, minimum: str = "TLSv1_2", maximum: str = "TLSv1_3", ciphers: str = "") -> ssl.SSLContext:
        """Takes any certificate: it is the client that has to refuse."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers(ciphers or "ALL:@SECLEVEL=0")
        context.load_cert_chain(pem)
        context.minimum_version = ssl.TLSVersion[minimum]
        context.maximum_version = ssl.TLSVersion[maximum]
        context.options |= ssl.OP_NO_TICKET  # 1.2
        context.num_tickets = 0  # 1.3
        return context

    def stop(self) -> None:
        # Closing alone would not wake the thread.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self._thread.join(WAITS_SECONDS)

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def received(self) -> bytes:
        """All that came protected, over all connections, once they are done."""
        for connection in self.connections:
            assert connection.done.wait(WAITS_SECONDS), "a connection is still open"
        return b"".join(connection.received for connection in self.connections)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.settimeout(WAITS_SECONDS)
            connection = Connection()
            self.connections.append(connection)
            try:
                with sock:
                    self._serve(sock, connection)
            except OSError as problem:
                connection.failure = connection.failure or str(problem)
            finally:
                connection.done.set()

    def _serve(self, sock: socket.socket, connection: Connection) -> None:
        if sock.recv(1, socket.MSG_PEEK) == b"C":
            while not connection.tunnel.endswith(b"\r\n\r\n"):
                connection.tunnel += sock.recv(1)
            sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            stream = self._context.wrap_socket(sock, server_side=True, suppress_ragged_eofs=False)
        except (OSError, ValueError) as problem:
            connection.failure = str(problem)
            return
        connection.version = stream.version()
        with stream:
            if self._read_request(stream, connection):
                stream.sendall(self._answer)
                if self._says_goodbye:
                    stream.unwrap()
                else:
                    socket.socket.shutdown(stream, socket.SHUT_WR)
                    drain(stream)

    def _read_request(self, stream: ssl.SSLSocket, connection: Connection) -> bool:
        """Reads a request with its content. False if none came."""
        length = None
        while length is None or len(connection.received) < length:
            try:
                more = stream.recv(1 << 16)
            except OSError:
                more = b""
            if not more:
                return False
            connection.received += more
            head, found, _ = connection.received.partition(b"\r\n\r\n")
            if found and length is None:
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
                length = len(head) + 4 + int(fields.get(b"content-length", b"0"))
        return True


class PickyServer(Server):
    """Does not answer a ClientHello that is longer than `limit` bytes, as some servers and middleboxes do not: it closes the
    connection ("fin"), resets it ("rst") or keeps silent ("silence")."""

    def __init__(self, shown: Shown, folder: Path, ending: str, limit: int):
        self._ending, self._limit = ending, limit
        self.hellos: list[bytes] = []
        self._silent: list[socket.socket] = []
        super().__init__(shown, folder)

    def _serve(self, sock: socket.socket, connection: Connection) -> None:
        hello = b""
        while len(hello) < 5 or len(hello) < 5 + int.from_bytes(hello[3:5], "big"):
            hello = sock.recv(1 << 16, socket.MSG_PEEK)
        self.hellos.append(hello)
        if len(hello) <= self._limit:
            return super()._serve(sock, connection)
        if self._ending == "rst":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if self._ending == "silence":
            self._silent.append(sock.dup())  # it stays open when this one is closed


class CommandServer:
    """`openssl s_server` on loopback, which can insist on what Python's ssl module cannot: one suite of TLS 1.3, one group. It
    serves one connection, with the answer to a request with Content-Length.
    - options: those of s_server, besides certificate and port."""

    def __init__(self, shown: Shown, folder: Path, *options: str, command: tuple[str, ...] = ("openssl",)):
        chain = folder / f"chain-{os.urandom(4).hex()}.pem"
        chain.write_text("".join(one.text for one in shown.chain))
        also = ["-cert_chain", str(chain)] if shown.chain else []
        self.shown = shown
        self.said = b""
        """What it said, and what it received: all in one, as s_server writes it."""
        self._process = subprocess.Popen(
            [*command, "s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-cert", shown.leaf.path, "-key", shown.leaf.key,
             *also, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.port = int(self._read_until(rb"ACCEPT 127\.0\.0\.1:([0-9]+)\n")[1])
        self.url = f"https://localhost:{self.port}/upload"
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _read_until(self, pattern: bytes) -> re.Match:
        while not (found := re.search(pattern, self.said, re.DOTALL)):
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            if not more:
                raise EOFError(self.said.decode(errors="replace"))
            self.said += more
        return found

    def _answer(self) -> None:
        try:
            head = self._read_until(rb"POST /upload .*?\r\nContent-Length: ([0-9]+)\r\n.*?\r\n\r\n")
            self._read_until(rb"\r\n\r\n.{%d}" % int(head[1]))
            self._process.stdin.write(ANSWER)
            self._process.stdin.flush()
            self._read_until(b"$^")
        except (EOFError, OSError):
            pass

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join(WAITS_SECONDS)


def extension(hello: bytes, wanted: int) -> bytes:
    """The data of a ClientHello's extension (RFC 8446, 4.1.2 and 4.2), or none."""
    at = 5 + 4 + 2 + 32  # record, handshake message, version, random
    at += 1 + hello[at]
    at += 2 + int.from_bytes(hello[at : at + 2], "big")
    at += 1 + hello[at] + 2
    while at < len(hello):
        kind, length = int.from_bytes(hello[at : at + 2], "big"), int.from_bytes(hello[at + 2 : at + 4], "big")
        if kind == wanted:
            return hello[at + 4 : at + 4 + length]
        at += 4 + length
    return b""


def drain(sock: socket.socket) -> None:
    try:
        while socket.socket.recv(sock, 1 << 16):
            pass
    except OSError:
        pass
