"""Clients other than the product: curl and raw sockets."""

import json
import socket
import ssl
import subprocess

UPLOADS = "/api/uploads.php?ui=json"
FORM = {"event_date": "2026-11-20", "org_name": "Band", "event_type": "band", "label": "Löwe/1"}
MEMBERS = (
    "id asset_id event_id event_item_id position file_name file_type mime_type size_bytes checksum_sha256 event_date org_name"
    " event_type label participants keywords duration_seconds delete_token"
).split()
"""Of GigHive's answer to a new recording."""


def curl(*arguments, check=True):
    command = ["curl", "-sS", "--noproxy", "*", "-i", "-m", "10", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def final(output: bytes):
    """The last head and the body of what `curl -i` printed."""
    while True:
        head, _, rest = output.partition(b"\r\n\r\n")
        if not rest.startswith(b"HTTP/"):
            return head.decode("latin-1"), rest
        output = rest


def upload(hive, path, *arguments, field="file", user="uploader:secret", accept="application/json", **form):
    """Posts a recording with curl -F; a form field that is None is left out. Returns status, head, document."""
    fields = [f"{name}={value}" for name, value in {**FORM, **form}.items() if value is not None]
    options = [option for text in fields + [f"{field}=@{path}"] for option in ("-F", text)]
    done = curl("-u", user, "-H", f"Accept: {accept}", *options, *arguments, hive.url + UPLOADS)
    head, body = final(done.stdout)
    document = json.loads(body) if body.startswith(b"{") else body
    return int(head.split()[1]), head, document


def connect(hive, certificates=None) -> socket.socket:
    """A connection, over TLS with certificates."""
    sock = socket.create_connection(("127.0.0.1", hive.port), timeout=5)
    if certificates is None:
        return sock
    return ssl.create_default_context(cafile=certificates.cacert).wrap_socket(sock, server_hostname="localhost")


def talk(hive, data: bytes, seconds=5.0) -> tuple[bytes, bool]:
    """Sends raw bytes, reads to the end; tells what came and whether the end was a reset."""
    with socket.create_connection(("127.0.0.1", hive.port), timeout=seconds) as sock:
        received = b""
        try:
            sock.sendall(data)
        except OSError:
            pass
        try:
            while piece := sock.recv(65536):
                received += piece
        except ConnectionResetError:
            return received, True
        return received, False


def put(length: int, body: bytes = b"", headers: str = "", target: str = "/upload") -> bytes:
    head = f"PUT {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n{headers}\r\n"
    return head.encode() + body


# tus


class Reply:
    """One answer as curl printed it."""

    def __init__(self, output: bytes):
        self.head, self.body = final(output)
        self.interim = output[: output.index(self.head.encode("latin-1"))]
        self.status = int(self.head.split()[1])
        lines = [line.split(": ", 1) for line in self.head.split("\r\n")[1:]]
        self.headers = {name.lower(): value for name, value in lines}

    def __getitem__(self, name: str) -> str | None:
        return self.headers.get(name.lower())


def tus(url: str, method: str, *headers: str, data: bytes | None = None, user="uploader:secret",
        version: str | None = "1.0.0", check=True, arguments=()) -> Reply:
    """A request with Tus-Resumable; with data it has the Content-Type of a PATCH, unless headers say otherwise."""
    options = ["--head"] if method == "HEAD" else ["--request", method]
    lines = ([f"Tus-Resumable: {version}"] if version else []) + list(headers)
    if data is not None:
        options += ["--data-binary", "@-"]
        if not any(line.lower().startswith("content-type:") for line in lines):
            lines.append("Content-Type: application/offset+octet-stream")
    if user:
        options += ["-u", user]
    options += [option for line in lines for option in ("-H", line)]
    command = ["curl", "-sS", "--noproxy", "*", "-i", "-m", "10", *options, *map(str, arguments), url]
    done = subprocess.run(command, input=data or b"", capture_output=True)
    if check:
        assert done.returncode == 0, done.stderr
        return Reply(done.stdout)
    return Reply(done.stdout) if done.stdout else None


def create(hive, length: int | None, *headers: str, base="/files/", **options) -> str:
    """Returns the upload's URL."""
    declared = f"Upload-Length: {length}" if length is not None else "Upload-Defer-Length: 1"
    reply = tus(hive.url + base, "POST", declared, *headers, **options)
    assert reply.status == 201, (reply.head, reply.body)
    return reply["Location"]


def patch(url: str, offset: int, data: bytes, *headers: str, **options) -> Reply:
    return tus(url, "PATCH", f"Upload-Offset: {offset}", *headers, data=data, **options)


def offset(url: str, **options) -> int:
    reply = tus(url, "HEAD", **options)
    assert reply.status == 200, reply.head
    return int(reply["Upload-Offset"])


def raw_patch(url: str, offset: int, length: int, body: bytes = b"", headers: str = "") -> bytes:
    """A PATCH's bytes for `talk`; length may be more than the body that is there."""
    path = "/" + url.split("/", 3)[3]
    return (
        f"PATCH {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic dXBsb2FkZXI6c2VjcmV0\r\n"
        f"Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n"
        f"Upload-Offset: {offset}\r\nContent-Length: {length}\r\n{headers}\r\n"
    ).encode() + body


def cut_patch(hive, url: str, offset: int, length: int, body: bytes) -> None:
    """Sends the head and only a part of the body, then closes."""
    seen = len(hive.requests)
    with socket.create_connection(("127.0.0.1", hive.port), timeout=5) as sock:
        sock.sendall(raw_patch(url, offset, length, body))
    hive.wait_for(seen + 1)


def finalize(hive, url: str, user="uploader:secret", headers=(), check=True, **form):
    """Returns status, head and document."""
    document = {"upload_id": url.rpartition("/")[2], **FORM, **form}
    document = {name: value for name, value in document.items() if value is not None}
    lines = [option for line in ("Content-Type: application/json", *headers) for option in ("-H", line)]
    done = curl("-u", user, *lines, "-d", json.dumps(document), hive.url + "/api/uploads/finalize", check=check)
    if not done.stdout:
        return None
    head, body = final(done.stdout)
    return int(head.split()[1]), head, json.loads(body) if body.startswith(b"{") else body


def inspect(url: str, name: str) -> list:
    """What /_stub/NAME lists."""
    return json.loads(final(curl(url + f"/_stub/{name}").stdout)[1])
