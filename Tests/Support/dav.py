"""A WebDAV server in memory, as unkind as WsgiDAV: a PUT that is cut leaves half a file."""

from __future__ import annotations

from urllib.parse import urlsplit

from nextcloud import multistatus
from stub import Handler, Stub


class DAVStub(Stub):
    """`files` and `directories` by their paths; `requests`: methods and paths. `refuse`: statuses by method."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.directories = {"/", "/dav/"}
        self.requests: list[tuple[str, str]] = []
        self.refuse: dict[str, int] = {}
        super().__init__(_Handler)

    def methods(self) -> list[str]:
        return [method for method, _ in self.requests]


class _Handler(Handler):
    stub: DAVStub

    def _handle(self):
        stub = self.stub
        stub.requests.append((self.command, self.path))
        status = stub.refuse.get(self.command) or getattr(self, "_" + self.command.lower())()
        if status is None:
            self.close_connection = True
            return
        content = multistatus([(self.path, len(stub.files[self.path]), 1)]) if status == 207 else b""
        self.reply(status, content, {"Content-Length": len(stub.files.get(self.path, b""))} if self.command == "HEAD" else {})

    do_HEAD = do_PROPFIND = do_PUT = do_MKCOL = do_MOVE = do_DELETE = _handle

    def _parent(self, path):
        return path.rstrip("/").rpartition("/")[0] + "/"

    def _head(self):
        return 200 if self.path in self.stub.files else 404

    def _propfind(self):
        self.content()
        return 207 if self.path in self.stub.files else 404

    def _put(self):
        stub, length = self.stub, int(self.headers["Content-Length"])
        if self._parent(self.path) not in stub.directories:
            self.close_connection = True
            return 409
        if self.headers["If-None-Match"] == "*" and self.path in stub.files:
            self.close_connection = True
            return 412
        content = stub.files[self.path] = bytearray()
        while len(content) < length:
            try:
                data = self.rfile.read1(min(65536, length - len(content)))
            except OSError:
                return None
            if not data:
                return None
            content += data
        return 201

    def _mkcol(self):
        stub = self.stub
        if self.path in stub.directories:
            return 405
        if self._parent(self.path) not in stub.directories:
            return 409
        stub.directories.add(self.path)
        return 201

    def _move(self):
        stub, target = self.stub, urlsplit(self.headers["Destination"]).path
        if self.path not in stub.files:
            return 404
        existed = target in stub.files
        if existed and self.headers["Overwrite"] == "F":
            return 412
        stub.files[target] = stub.files.pop(self.path)
        return 204 if existed else 201

    def _delete(self):
        return 204 if self.stub.files.pop(self.path, None) is not None else 404
