"""Secrets of every kind, where they are planted, and the search for them in all output of the program."""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import threading
import urllib.parse
from pathlib import Path

from program import private

PASSWORD = "Pa55word-planted-0001"
BEARER = "B3arer.token-planted-0002"
UPLOAD_TOKEN = "Gu3st-token-planted-0003"
PROXY_PASSWORD = "Pr0xy-planted-0004"
QUERY_TOKEN = "Qu3ry-token-planted-0005"
ANSWER_TOKEN = "L0cation-token-planted-0006"
GATEWAY_KEY = "G4teway-key-planted-0007"
DELETE_TOKEN = "d3" * 32
PLAIN = (PASSWORD, BEARER, UPLOAD_TOKEN, PROXY_PASSWORD, QUERY_TOKEN, ANSWER_TOKEN, GATEWAY_KEY, DELETE_TOKEN)
RECORDS = (".record", ".delivered")
CREDENTIALS = {
    "password file": ["--user", "uploader", "--password-file", "password"],
    "environment": ["--user", "uploader"],
    "netrc": ["--netrc=netrc"],
    "bearer": ["--bearer-file", "bearer"],
    "upload token": ["--upload-token-file", "token", "--field", "tos_accepted=true"],
    "header file": ["--header-file", "headers"],
}


def basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


class Secrets:
    """What may not be shown, in every spelling that a program could give it."""

    def __init__(self, *files):
        self._spellings = {}
        for text in (*PLAIN, basic("uploader", PASSWORD), basic("proxy-user", PROXY_PASSWORD)):
            encoded = base64.b64encode(text.encode()).decode()
            for spelling in (text, text[:12], urllib.parse.quote(text, safe=""), encoded):
                self._spellings[spelling.encode()] = text
        for file in files:
            for line in Path(file).read_bytes().splitlines():
                if len(line) > 30 and b"-----" not in line:
                    self._spellings[line] = f"a line of {os.path.basename(file)}"

    def shown_in(self, *texts) -> set[str]:
        data = b"\n".join(text.encode() if isinstance(text, str) else text for text in texts)
        return {name for spelling, name in self._spellings.items() if spelling in data}


class Proxy:
    """An HTTP proxy that asks for a password and can go wrong."""

    def __init__(self, fault: str = ""):
        self.heads = []
        self._fault = fault
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(1 << 16)
            self.heads.append(head)
            if self._fault == "refuses" or basic("proxy-user", PROXY_PASSWORD).encode() not in head:
                echo = f"no entry for {PROXY_PASSWORD}" if self._fault else ""
                client.sendall(f"HTTP/1.1 407 {echo}\r\nContent-Length: 0\r\n\r\n".encode())
                return
            if self._fault == "closes":
                return
            target = head.split(b" ")[1].decode()
            is_tunnel = head.startswith(b"CONNECT ")
            address = target if is_tunnel else urllib.parse.urlsplit(target).netloc
            host, port = address.rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=20) as server:
                if is_tunnel:
                    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                else:
                    server.sendall(head.replace(target.encode(), target.partition(address)[2].encode(), 1))
                back = threading.Thread(target=self._pass, args=(server, client), daemon=True)
                back.start()
                self._pass(client, server)
                back.join(20)

    def _pass(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


def records(program) -> list[Path]:
    return [path for path in program.state.iterdir() if path.suffix in RECORDS]


def plant(folder: Path, certificates) -> Secrets:
    """Puts them into files; returns what may be shown nowhere."""
    for name, content in (
        ("password", PASSWORD), ("bearer", BEARER), ("token", UPLOAD_TOKEN), ("proxy-password", PROXY_PASSWORD),
        ("headers", f"# gateway\nX-Gateway-Key: {GATEWAY_KEY}\nAuthorization: Basic {basic('uploader', PASSWORD)}"),
        ("netrc", f"machine 127.0.0.1 login uploader password {PASSWORD}"),
    ):
        private(folder / name, content + "\n")
    return Secrets(certificates.client_key)


def check_files(program, secrets, tmp_path):
    """No file holds a secret, but for records: they have what deletes a recording, and where uploads are."""
    planted = {"password", "bearer", "token", "proxy-password", "headers", "netrc", "client.key"}
    for path in (*tmp_path.rglob("*"), *program.state.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name not in planted and path != program.path:
            shown = secrets.shown_in(path.read_bytes())
            if path.suffix in RECORDS:
                shown -= {DELETE_TOKEN, QUERY_TOKEN, ANSWER_TOKEN}
                assert path.stat().st_mode & 0o777 == 0o600
            assert not shown, path

HARD = {
    "two spaces": b"Pa55  word two",
    "a tab and a control character": b"Pa55\tword\x1b[1mX",
    "tags": b"Pa55<b>wo</b>rd&amp;",
    "half a tag": b"Pa55word<wo rd",
    "quotes and backslashes": b'Pa55"wo\\rd/%41+x',
    "UTF-8": "Pässwörd-€-😀".encode(),
    "Latin-1": "Pässwörd-ÿ".encode("latin-1"),
    "no text at all": b"\xff\xfe\x80Pa55\xc3",
}
