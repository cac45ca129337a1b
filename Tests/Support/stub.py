"""What the stubs of servers in Python have in common: they listen on loopback, log nothing, and take a client that is killed."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Stub:
    """Serves until the end of `with`, or until `close`."""

    def __init__(self, handler: type[Handler]):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.stub = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Handler(BaseHTTPRequestHandler):
    """`stub`: whose requests these are."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.stub = self.server.stub

    def log_message(self, *arguments):
        pass

    def handle(self):
        # Clients are killed at any time.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def content(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def reply(self, status: int, content: bytes = b"", fields: dict = {}):
        """`fields` may have another Content-Length."""
        self.send_response(status)
        length = {} if status == 204 else {"Content-Length": len(content)}
        for name, value in {**length, **fields}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
