"""Immich's endpoint for new assets (POST /api/assets), as its OpenAPI document describes it."""

from __future__ import annotations

import hashlib
import json
import re
import uuid

from stub import Handler, Stub

KEY = "immich-key-5ec2e7"
REQUIRED = {"deviceAssetId", "deviceId", "fileCreatedAt", "fileModifiedAt"}
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class ImmichStub(Stub):
    """`assets`: the fields of each by the SHA-1 of its content."""

    def __init__(self, key: str = KEY):
        self.key = key
        self.assets: dict[str, dict[str, str]] = {}
        super().__init__(_Handler)

    def answer(self, request, content: bytes) -> tuple[int, dict]:
        if request.path != "/api/assets":
            return 404, {"message": f"Cannot POST {request.path}", "error": "Not Found", "statusCode": 404}
        if request.headers["x-api-key"] != self.key:
            return 401, {"message": "Invalid API key", "error": "Unauthorized", "statusCode": 401}
        boundary = request.headers["Content-Type"].partition("boundary=")[2].encode()
        fields, file = {}, None
        for part in content.split(b"--" + boundary)[1:-1]:
            head, _, body = part.partition(b"\r\n\r\n")
            name = re.search(rb'name="([^"]*)"', head)[1].decode()
            if b"filename=" in head:
                file = (name, body[:-2])
            else:
                fields[name] = body[:-2].decode()
        times = [fields.get(name, "") for name in ("fileCreatedAt", "fileModifiedAt")]
        if not file or file[0] != "assetData" or not REQUIRED <= set(fields) or not all(map(RFC_3339.fullmatch, times)):
            return 400, {"message": ["a field is missing or invalid"], "error": "Bad Request", "statusCode": 400}
        digest = hashlib.sha1(file[1]).hexdigest()
        if digest in self.assets:
            return 200, {"id": str(uuid.uuid4()), "status": "duplicate"}
        self.assets[digest] = fields
        return 201, {"id": str(uuid.uuid4()), "status": "created"}


class _Handler(Handler):
    stub: ImmichStub

    def do_POST(self):
        status, answer = self.stub.answer(self, self.content())
        self.reply(status, json.dumps(answer).encode(), {"Content-Type": "application/json; charset=utf-8"})
