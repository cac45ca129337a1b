"""An S3 server that checks signatures by itself ("Authenticating Requests: Using the Authorization Header", S3 API Reference)."""

import hashlib
import hmac
import re
import threading
import time
from calendar import timegm
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

KEY, SECRET = "AKIDEXAMPLE", "hush/5ec2e75ec2e7"
KEYS = f"aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
"""In a profile."""


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


class S3Stub:
    """`objects` by path; `answers`: what the next PUTs get instead, as (status, code) or (status, code, more XML).
    `prevents`: whether it heeds If-None-Match; `removes`: whether the keys may DELETE."""

    def __init__(self, region: str = "us-east-1", clock: int = 0, token: str | None = None):
        self.region, self.clock, self.token = region, clock, token
        self.objects, self.requests, self.answers = {}, [], []
        self.secret = SECRET
        self.prevents, self.removes = True, True
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def date_time_string(self, timestamp=None):
                return formatdate(time.time() + stub.clock, usegmt=True)

            def refuse(self, status: int, code: str, more: str = ""):
                text = f"<Error><Code>{code}</Code><Message>as asked</Message>{more}</Error>".encode()
                self.reply(status, b"" if self.command == "HEAD" else text, {"Content-Type": "application/xml"})

            def reply(self, status: int, content: bytes = b"", fields: dict = {}):
                self.send_response(status)
                for name, value in {"Content-Length": len(content), **fields}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(content)

            def authenticated(self) -> bool:
                given = re.fullmatch(
                    r"AWS4-HMAC-SHA256 Credential=(\S+)/(\d{8})/(\S+)/s3/aws4_request,SignedHeaders=(\S+),Signature=([0-9a-f]{64})",
                    self.headers["Authorization"] or "")
                if not given or given[1] != KEY or self.headers["x-amz-security-token"] != stub.token:
                    return self.refuse(403, "InvalidAccessKeyId")
                moment = timegm(time.strptime(self.headers["x-amz-date"], "%Y%m%dT%H%M%SZ"))
                if abs(moment - time.time() - stub.clock) > 900:
                    return self.refuse(403, "RequestTimeTooSkewed")
                names = given[4].split(";")
                unsigned = {name.lower() for name in self.headers if name.lower().startswith("x-amz-")} - set(names)
                if names != sorted(names) or "host" not in names or unsigned:
                    return self.refuse(403, "AccessDenied")
                if given[3] != stub.region:
                    return self.refuse(400, "AuthorizationHeaderMalformed", f"<Region>{stub.region}</Region>")
                if given[5] != expected_signature(self, stub.region, stub.secret, names):
                    return self.refuse(403, "SignatureDoesNotMatch")
                return True

            def do_PUT(self):
                content = self.rfile.read(int(self.headers["Content-Length"]))
                stub.requests.append(self)
                if not self.authenticated():
                    return
                if stub.answers:
                    return self.refuse(*stub.answers.pop(0))
                digest = hashlib.sha256(content).hexdigest()
                if digest != self.headers["x-amz-content-sha256"]:
                    return self.refuse(400, "XAmzContentSHA256Mismatch")
                if stub.prevents and self.headers["If-None-Match"] == "*" and self.path in stub.objects:
                    return self.refuse(412, "PreconditionFailed")
                stub.objects[self.path] = (content, self.headers["x-amz-meta-sha256"])
                self.reply(200, fields={"ETag": f'"{hashlib.md5(content).hexdigest()}"'})

            def do_HEAD(self):
                stub.requests.append(self)
                if not self.authenticated():
                    return
                if self.path not in stub.objects:
                    return self.reply(404)
                content, digest = stub.objects[self.path]
                self.reply(200, fields={"Content-Length": len(content), "x-amz-meta-sha256": digest})

            def do_DELETE(self):
                stub.requests.append(self)
                if not self.authenticated():
                    return
                if not stub.removes:
                    return self.refuse(403, "AccessDenied")
                stub.objects.pop(self.path, None)
                self.reply(204)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
