"""What the stubs of servers in Python have in common: they listen on loopback, log nothing, and take a client that is killed."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Stub(ThreadingHTTPServer):
    """Serves until the end of `with`, or until `close`."""

    def __init__(self, handler: type[Handler]):
        super().__init__(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def __exit__(self, *_):
        self.close()


class Handler(BaseHTTPRequestHandler):
    """`server` is the stub."""

    protocol_version = "HTTP/1.1"

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
