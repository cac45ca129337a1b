"""An S3 server that checks signatures by itself ("Authenticating Requests: Using the Authorization Header", S3 API Reference)."""

import copy
import hashlib
import hmac
import re
import time
from calendar import timegm
from email.utils import formatdate
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from stub import Handler, Stub

KEY, SECRET = "AKIDEXAMPLE", "hush/5ec2e75ec2e7"
KEYS = f"aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
"""In a profile."""

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}


def expected_signature(request, region: str, secret: str, names: list[str]) -> str:
    path, _, query = request.path.partition("?")
    pairs = sorted(f"{quote(unquote(name), safe='-._~')}={quote(unquote(value), safe='-._~')}"
                   for name, _, value in (pair.partition("=") for pair in query.split("&") if pair))
    canonical = "\n".join([
        request.command, "/".join(quote(unquote(part), safe="-._~") for part in path.split("/")), "&".join(pairs),
        *(f"{name}:{' '.join(request.headers[name].split())}" for name in names), "", ";".join(names),
        request.headers["x-amz-content-sha256"]])
    moment = request.headers["x-amz-date"]
    scope = f"{moment[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in [*scope.split("/"), text]:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


def xml(root: str, content: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{content}</{root}>'.encode()


class S3Stub(Stub):
    """`objects` by path, with their fields; `uploads` by ID, each with its parts by number.

    `answers`: what the next PUTs get instead, as (status, code) or (status, code, more XML); `prevents`: whether it heeds If-None-Match;
    `kept`: the IDs of uploads that it does not end.
    """

    def __init__(self, region: str = "us-east-1", clock: int = 0, token: str | None = None):
        self.region, self.clock, self.token = region, clock, token
        self.objects, self.requests, self.answers = {}, [], []
        self.uploads, self.begun, self.kept = {}, 0, set()
        self.before = lambda request: None
        """Called with each request, before anything is done about it."""
        self.prevents = True
        self.secret, self.expired = SECRET, (403, "InvalidAccessKeyId")
        super().__init__(_Handler)

    def note(self, request):
        # The handler serves all requests of its connection.
        request = copy.copy(request)
        self.requests.append(request)
        self.before(request)

    def count(self, method: str) -> int:
        return [request.command for request in self.requests].count(method)


class _Handler(Handler):
    stub: S3Stub

    def date_time_string(self, timestamp=None):
        return formatdate(time.time() + self.stub.clock, usegmt=True)

    def refuse(self, status: int, code: str, more: str = ""):
        text = f"<Error><Code>{code}</Code><Message>as asked</Message>{more}</Error>".encode()
        self.reply(status, text, {"Content-Type": "application/xml"})

    def authenticated(self) -> bool:
        """Of a request whose content was read. Notes it in any case."""
        self.stub.note(self)
        given = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=(\S+)/(\d{8})/(\S+)/s3/aws4_request,SignedHeaders=(\S+),Signature=([0-9a-f]{64})",
            self.headers["Authorization"] or "")
        if not given or given[1] != KEY or self.headers["x-amz-security-token"] != self.stub.token:
            return self.refuse(*self.stub.expired)
        moment = timegm(time.strptime(self.headers["x-amz-date"], "%Y%m%dT%H%M%SZ"))
        if abs(moment - time.time() - self.stub.clock) > 900:
            return self.refuse(403, "RequestTimeTooSkewed")
        if self.headers["Accept"] != "application/xml":
            return self.refuse(406, "Ceph would not answer in XML")
        names = given[4].split(";")
        unsigned = {name.lower() for name in self.headers if name.lower().startswith("x-amz-")} - set(names)
        if names != sorted(names) or "host" not in names or unsigned:
            return self.refuse(403, "AccessDenied")
        if given[3] != self.stub.region:
            return self.refuse(400, "AuthorizationHeaderMalformed", f"<Region>{self.stub.region}</Region>")
        if given[5] != expected_signature(self, self.stub.region, self.stub.secret, names):
            return self.refuse(403, "SignatureDoesNotMatch")
        return True

    def do_PUT(self):
        content = self.content()
        if not self.authenticated():
            return
        if self.stub.answers:
            return self.refuse(*self.stub.answers.pop(0))
        query = parse_qs(urlsplit(self.path).query)
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.headers["x-amz-content-sha256"]:
            return self.refuse(400, "XAmzContentSHA256Mismatch")
        tag = f'"{hashlib.md5(content).hexdigest()}"'
        if "uploadId" in query:
            if query["uploadId"][0] not in self.stub.uploads:
                return self.refuse(404, "NoSuchUpload")
            self.stub.uploads[query["uploadId"][0]]["parts"][int(query["partNumber"][0])] = (tag, content)
            return self.reply(200, fields={"ETag": tag})
        if self.stub.prevents and self.headers["If-None-Match"] == "*" and self.path in self.stub.objects:
            return self.refuse(412, "PreconditionFailed")
        self.stub.objects[self.path] = (content, self.metadata())
        self.reply(200, fields={"ETag": tag})

    def metadata(self) -> dict:
        return {name.lower(): value for name, value in self.headers.items() if name.lower().startswith("x-amz-meta-")}

    def do_POST(self):
        content = self.content()
        if not self.authenticated():
            return
        if hashlib.sha256(content).hexdigest() != self.headers["x-amz-content-sha256"]:
            return self.refuse(400, "XAmzContentSHA256Mismatch")
        path, query = self.path.partition("?")[0], parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if "uploads" in query:
            self.stub.begun += 1
            identity = f"2~{self.stub.begun}/{'x' * 20}"
            self.stub.uploads[identity] = {"path": path, "metadata": self.metadata(), "parts": {}}
            return self.reply(200, xml("InitiateMultipartUploadResult", f"<UploadId>{identity}</UploadId>"))
        upload = self.stub.uploads.get(query["uploadId"][0])
        if not upload:
            return self.refuse(404, "NoSuchUpload")
        if self.headers["If-None-Match"] == "*" and path in self.stub.objects:
            return self.refuse(412, "PreconditionFailed")
        named = re.findall(r'<Part><PartNumber>(\d+)</PartNumber><ETag>("\w+")</ETag></Part>', content.decode())
        parts = upload["parts"]
        # Like Ceph: every part must be named.
        if named != [(str(number), parts[number][0]) for number in sorted(parts)]:
            return self.refuse(400, "InvalidPart")
        self.stub.objects[path] = (b"".join(parts[number][1] for number in sorted(parts)), upload["metadata"])
        del self.stub.uploads[query["uploadId"][0]]
        self.reply(200, xml("CompleteMultipartUploadResult", "<ETag></ETag>"))

    def do_GET(self):
        if not self.authenticated():
            return
        query = parse_qs(urlsplit(self.path).query)
        upload = self.stub.uploads.get(query["uploadId"][0])
        if not upload:
            return self.refuse(404, "NoSuchUpload")
        after, limit = int(query.get("part-number-marker", ["0"])[0]), int(query["max-parts"][0])
        numbers = [number for number in sorted(upload["parts"]) if number > after]
        listed = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(upload['parts'][number][0])}</ETag>"
            f"<Size>{len(upload['parts'][number][1])}</Size></Part>" for number in numbers[:limit])
        more = len(numbers) > limit
        marker = f"<NextPartNumberMarker>{numbers[limit - 1]}</NextPartNumberMarker>" if more else ""
        self.reply(200, xml("ListPartsResult", f"{listed}<IsTruncated>{str(more).lower()}</IsTruncated>{marker}"))

    def do_DELETE(self):
        if not self.authenticated():
            return
        query = parse_qs(urlsplit(self.path).query)
        if "uploadId" not in query:
            self.stub.objects.pop(self.path, None)
            return self.reply(204)
        identity = query["uploadId"][0]
        if identity in self.stub.kept:
            return self.refuse(403, "AccessDenied")
        if not self.stub.uploads.pop(identity, None):
            return self.refuse(404, "NoSuchUpload")
        self.reply(204)

    def do_HEAD(self):
        if not self.authenticated():
            return
        if self.path not in self.stub.objects:
            return self.reply(404)
        content, metadata = self.stub.objects[self.path]
        self.reply(200, fields={"Content-Length": len(content), "ETag": '"1-3"', **metadata})
