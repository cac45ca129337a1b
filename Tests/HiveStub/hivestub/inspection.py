"""`GET /_stub/recordings`, `/_stub/uploads`, `/_stub/requests`: what a harness in another process may ask.
These requests need no credentials, meet no fault and are not in the log."""

from __future__ import annotations

from dataclasses import asdict

from .body import Body
from .endpoints import Endpoint
from .messages import Answer, Request, json_answer

BASE = "/_stub/"


def is_inspection(request: Request) -> bool:
    return request.path.startswith(BASE)


class InspectionEndpoint(Endpoint):
    def __init__(self, hive):
        self._hive = hive

    def receive(self, request: Request, body: Body) -> Answer:
        body.discard()
        listing = {
            "recordings": lambda: [asdict(recording) for recording in self._hive.recordings],
            "uploads": lambda: [upload.describe() for upload in self._hive.uploads],
            "requests": lambda: [entry.describe() for entry in self._hive.requests],
        }.get(request.path[len(BASE) :])
        if listing is None or request.method != "GET":
            return json_answer(404, {"error": "Not Found"}, framing="length")
        return json_answer(200, listing(), framing="length")
