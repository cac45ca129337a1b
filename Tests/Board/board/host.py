"""What a guest reaches on the host: HiveStub, and the harness itself, which it tells where it is."""

from __future__ import annotations

import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "HiveStub"))

from hivestub import HiveStub, make_certificates  # noqa: E402, F401

PASSWORD = "secret"
USER = "uploader"


class Harness:
    """Calls `told` with the words of each path that a guest requests, and answers when that returns."""

    def __init__(self, told: Callable[[list[str]], None]):
        self.failures: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(handler):
                try:
                    told(handler.path.strip("/").split("/"))
                    status = 200
                except Exception as problem:
                    self.failures.append(f"{handler.path}: {problem!r}")
                    status = 500
                handler.send_response(status)
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            def log_message(handler, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]

    def __enter__(self) -> "Harness":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()


class WatchedHive(HiveStub):
    """Tells of each request when its head is there, and again when it has been carried out, before the answer. It carries out one
    at a time, so that nothing else changes the store while `told` looks at it."""

    def __init__(self, told: Callable[[str, object], None], **options):
        super().__init__(**options)
        self._told = told
        self.turn = threading.Lock()

    def endpoint_for(self, request):
        return _Watched(super().endpoint_for(request), self)

    def tell(self, moment: str, request) -> None:
        try:
            self._told(moment, request)
        except Exception:  # which the connection would take for the client's
            self.internal_errors.append(traceback.format_exc())


class _Watched:
    def __init__(self, endpoint, hive: WatchedHive):
        self._endpoint = endpoint
        self._hive = hive

    def refuse_from_head(self, request):
        self._hive.tell("came", request)
        return self._endpoint.refuse_from_head(request)

    def receive(self, request, body):
        with self._hive.turn:
            try:
                return self._endpoint.receive(request, body)
            finally:
                self._hive.tell("done", request)
