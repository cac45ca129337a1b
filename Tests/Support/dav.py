"""A WebDAV server in memory, as unkind as WsgiDAV: a PUT that is cut leaves half a file."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class DAVStub:
    """`files` and `directories` by their paths; `requests`: methods and paths. `hold`: a method and when ("before" or "after" its deed) whose
    request gets no response until `release`. `refuse`: statuses by method."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.directories = {"/", "/dav/"}
        self.requests: list[tuple[str, str]] = []
        self.refuse: dict[str, int] = {}
        self.hold: tuple[str, str] | None = None
        self.held = threading.Event()
        self.released = threading.Event()
        stub = self

        class Handler(_Handler):
            server_stub = stub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def release(self):
        self.hold = None
        self.released.set()

    def close(self):
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def methods(self) -> list[str]:
        return [method for method, _ in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_stub: DAVStub

    def log_message(self, *arguments):
        pass

    def _wait(self, when):
        stub = self.server_stub
        if stub.hold == (self.command, when):
            stub.held.set()
            stub.released.wait(60)

    def _handle(self):
        stub = self.server_stub
        stub.requests.append((self.command, self.path))
        self._wait("before")
        status = stub.refuse.get(self.command) or getattr(self, "_" + self.command.lower())()
        self._wait("after")
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        length = len(stub.files.get(self.path, b"")) if self.command == "HEAD" else 0
        if status != 204:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    do_HEAD = do_PUT = do_MKCOL = do_MOVE = do_DELETE = _handle

    def _parent(self, path):
        return path.rstrip("/").rpartition("/")[0] + "/"

    def _head(self):
        return 200 if self.path in self.server_stub.files else 404

    def _put(self):
        stub, length = self.server_stub, int(self.headers["Content-Length"])
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
            self._wait("during")
        return 201

    def _mkcol(self):
        stub = self.server_stub
        if self.path in stub.directories:
            return 405
        if self._parent(self.path) not in stub.directories:
            return 409
        stub.directories.add(self.path)
        return 201

    def _move(self):
        stub, target = self.server_stub, urlsplit(self.headers["Destination"]).path
        if self.path not in stub.files:
            return 404
        existed = target in stub.files
        if existed and self.headers["Overwrite"] == "F":
            return 412
        stub.files[target] = stub.files.pop(self.path)
        return 204 if existed else 201

    def _delete(self):
        return 204 if self.server_stub.files.pop(self.path, None) is not None else 404
