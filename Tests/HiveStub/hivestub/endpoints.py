"""Endpoints: the interface, the one for any path, the discarding one, and the receiving of bodies."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from .access import Access
from .body import Body
from .messages import MAX_FIELD_BYTES, Answer, Digest, Part, Refused, Request, html_answer, json_answer, unauthorized
from .multipart import MultipartError, MultipartParser, boundary_of


class Endpoint:
    """Answers requests: from the head alone, or from head and body. One object serves all threads."""

    def refuse_from_head(self, request: Request) -> Answer | None:
        """The final answer if the headers decide it; it goes out without reading the body."""
        return None

    def receive(self, request: Request, body: Body) -> Answer:
        raise NotImplementedError


class JSONEndpoint(Endpoint):
    """A PHP page that takes a JSON object by POST."""

    def __init__(self, access: Access):
        self._access = access

    def refuse_from_head(self, request: Request) -> Answer | None:
        if not self.admits(request):
            return unauthorized()
        if request.method != "POST":
            return json_answer(405, {"error": "Method Not Allowed"}, headers=[("Allow", "POST")], close=True)
        return _refuse_without_length(request)

    def admits(self, request: Request) -> bool:
        return self._access.allows(request)

    def receive(self, request: Request, body: Body) -> Answer:
        raw = bytearray()
        for chunk in body.chunks():
            raw += chunk[: MAX_FIELD_BYTES - len(raw)]
        try:
            document = json.loads(raw)
        except ValueError:  # also what is not UTF-8
            document = None
        try:
            return self.receive_document(request, document if isinstance(document, dict) else {})
        except Refused as refusal:
            return refusal.answer

    def receive_document(self, request: Request, document: dict) -> Answer:
        raise NotImplementedError


class Receiver:
    """Turns a body into parts or a digest; with `store`, files also go to that directory."""

    def __init__(self, store: str | None):
        self._store = Path(store) if store else None
        if self._store:
            self._store.mkdir(parents=True, exist_ok=True)

    def receive_multipart(self, request: Request, body: Body) -> None:
        """Fills the request's parts; a body that breaks the rules is read to its end and refused."""
        boundary = boundary_of(request.header("Content-Type"))
        outputs: list = []
        try:
            if boundary is None:
                raise MultipartError(f"Content-Type {request.header('Content-Type')!r} has no boundary")
            parser = MultipartParser(boundary, lambda part: self._open(part, outputs))
            request.parts = parser.parts
            for chunk in body.chunks():
                parser.feed(chunk)
            parser.finish()
        except MultipartError as problem:
            body.discard()
            document = {"error": "Bad Request", "message": f"Malformed multipart body: {problem}"}
            raise Refused(json_answer(400, document, close=True)) from None
        finally:
            for output in outputs:
                output.close()

    def receive_plain(self, request: Request, body: Body) -> Digest:
        digest = Digest()
        if self._store is None:
            _hash(body, digest)
        else:
            with tempfile.TemporaryDirectory(dir=self._store, prefix=".part-") as folder:
                with open(Path(folder) / "body", "wb") as output:
                    digest = Digest(output)
                    _hash(body, digest)
                os.replace(output.name, self._store / digest.hexdigest())
        request.sha256 = digest.hexdigest()
        return digest

    def keep(self, part: Part, name: str) -> None:
        """Gives a stored file its final name."""
        if self._store:
            os.replace(part.stored_at, self._store / name)
            part.stored_at = str(self._store / name)

    def drop_unkept(self, request: Request) -> None:
        """Removes what came for a request that was refused or cut: only whole deliveries are left."""
        for part in request.parts:
            if part.stored_at and part.stored_at.endswith(".part"):
                os.unlink(part.stored_at)
                part.stored_at = None

    def _open(self, part: Part, outputs: list):
        if self._store is None:
            return None
        output = tempfile.NamedTemporaryFile(dir=self._store, suffix=".part", delete=False)
        part.stored_at = output.name
        outputs.append(output)
        return output


class AnyEndpoint(Endpoint):
    """Every path that is not GigHive's: takes multipart or a plain body, says what it got."""

    def __init__(self, receiver: Receiver):
        self._receiver = receiver

    def refuse_from_head(self, request: Request) -> Answer | None:
        return _refuse_without_length(request)

    def receive(self, request: Request, body: Body) -> Answer:
        if boundary_of(request.header("Content-Type")) is None:
            digest = self._receiver.receive_plain(request, body)
            return _received(digest.size, digest.hexdigest())
        try:
            self._receiver.receive_multipart(request, body)
            file = request.file
            if file is None:
                return json_answer(400, {"error": "No file part"}, framing="length", close=True)
            self._receiver.keep(file, file.sha256)
            return _received(file.size, file.sha256)
        except Refused as refusal:
            return refusal.answer
        finally:
            self._receiver.drop_unkept(request)


class DiscardEndpoint(Endpoint):
    """Throws every body away, faster than a client can send it, and asks for no credentials."""

    def refuse_from_head(self, request: Request) -> Answer | None:
        return _refuse_without_length(request)

    def receive(self, request: Request, body: Body) -> Answer:
        body.discard()
        return json_answer(201, {"received": request.body_bytes}, framing="length")


class MissingEndpoint(Endpoint):
    """A path that the server does not have."""

    def refuse_from_head(self, request: Request) -> Answer | None:
        return html_answer(404, "The requested URL was not found on this server.", close=True)


def _refuse_without_length(request: Request) -> Answer | None:
    if request.content_length is None and request.method in ("POST", "PUT", "PATCH"):
        return json_answer(411, {"error": "Length Required"}, framing="length", close=True)
    return None


def _hash(body: Body, digest: Digest) -> None:
    for chunk in body.chunks():
        digest.write(chunk)


def _received(size: int, sha256: str) -> Answer:
    return json_answer(200, {"size": size, "sha256": sha256}, framing="length")
