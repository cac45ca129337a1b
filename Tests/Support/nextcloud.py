"""The files of a Nextcloud and its chunked upload, as two real servers respond: one on a disk ("disk"), and one with an object store and a
distributed cache ("s3"). Behind one URL, they differ."""

from __future__ import annotations

import base64
import hashlib
import threading
from dataclasses import dataclass, field
from email.utils import formatdate
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from stub import Handler, Stub

USER, PASSWORD = "ann", "app-hush-5ec2e7"
TOKEN = "5ec2e7AbCdEfGhI"
"""Of a public link."""
LEAST_CHUNK = 5_000_000
ATTEMPTS = 11
"""So many wrong passwords lock an address out."""


@dataclass
class File:
    content: bytes
    modified: int = 1_700_000_000


@dataclass
class Upload:
    target: str | None
    """Of the object store's kind; None for that of the disk's."""
    chunks: dict[str, bytes] = field(default_factory=dict)
    grown: int = 0
    """The object store's kind adds whatever is sent again."""


class Refusal(Exception):
    def __init__(self, status: int, exception: str, message: str):
        super().__init__(status, exception, message)
        self.status, self.exception, self.message = status, exception, message


class NextcloudStub(Stub):
    """`files` and `directories` by their paths below the user's; `uploads` by name; `requests`: methods and paths. `before`: called with each
    request, before anything is done about it."""

    def __init__(self, kind: str = "disk", base: str = "", link: str | None = None):
        """- link: it is reached by a public link, which is a "share" (read and write) or a "drop"."""
        self.kind, self.base, self.link = kind, base, link
        self.files: dict[str, File] = {}
        self.directories = {""}
        self.uploads: dict[str, Upload] = {}
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.maintenance = False
        self.password, self.wrong = PASSWORD, 0
        self.hashes = True
        self.takes_chunks = True
        self.padding = 0
        """How much longer each file makes a list, in bytes."""
        self.before = lambda request: None
        self.joining: dict[str, threading.Lock] = {}  # by upload
        self.storing = threading.Lock()
        super().__init__(_Handler)
        self.root = base + ("/public.php/dav/" if link else "/remote.php/dav/")
        self.user = TOKEN if link else USER
        self.url += f"{self.root}files/{self.user}/"

    def methods(self) -> list[str]:
        return [method for method, _ in self.requests]

    def chunks(self) -> list[str]:
        """The names of those that were sent, in their order."""
        return [path.rpartition("/")[2] for method, path in self.requests if method == "PUT" and "/uploads/" in path]


def multistatus(entries, padding=0) -> bytes:
    """- entries: paths with sizes (None for a directory) and times."""
    text = '<?xml version="1.0"?>\n<d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:oc="http://owncloud.org/ns">'
    for path, size, modified in entries:
        length = "" if size is None else f"<d:getcontentlength>{size}</d:getcontentlength>"
        text += (f"<d:response><d:href>{escape(path)}</d:href><d:propstat><d:prop><d:getlastmodified>{formatdate(modified, usegmt=True)}"
                 f"</d:getlastmodified>{length}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>")
        if size is None:
            text += ("<d:propstat><d:prop><d:getcontentlength/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>")
        text += f"<!--{' ' * padding}--></d:response>"
    return (text + "</d:multistatus>").encode()


class _Handler(Handler):
    stub: NextcloudStub

    def _handle(self):
        stub = self.stub
        self.is_read = not int(self.headers["Content-Length"] or 0)
        stub.requests.append((self.command, unquote(self.path)))
        stub.headers.append(dict(self.headers))
        try:
            stub.before(self)
            self._authenticate()
            status, fields, content = self._dispatch()
        except Refusal as refusal:
            # Before the content was read.
            if not self.is_read:
                self.close_connection = True
            text = ('<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">\n'
                    f"<s:exception>{escape(refusal.exception)}</s:exception>\n<s:message>{escape(refusal.message)}</s:message>\n</d:error>")
            challenge = {"WWW-Authenticate": 'Basic realm="Nextcloud", charset="UTF-8"'} if refusal.status == 401 else {}
            return self.reply(refusal.status, text.encode(), {"Content-Type": "application/xml; charset=utf-8", **challenge})
        except ConnectionError:
            self.close_connection = True
            return None
        return self.reply(status, content, dict(fields))

    do_HEAD = do_PUT = do_MKCOL = do_MOVE = do_DELETE = do_PROPFIND = do_PATCH = _handle

    def _authenticate(self):
        stub = self.stub
        if stub.maintenance:
            raise Refusal(503, r"OCA\DAV\Connector\Sabre\Exception\ServerMaintenanceMode", "System is in maintenance mode.")
        if stub.wrong >= ATTEMPTS:
            raise Refusal(429, r"OCA\DAV\Connector\Sabre\Exception\TooManyRequests", "")
        if stub.link:
            return
        expected = "Basic " + base64.b64encode(f"{USER}:{stub.password}".encode()).decode()
        if self.headers["Authorization"] != expected:
            stub.wrong += 1
            raise Refusal(401, r"Sabre\DAV\Exception\NotAuthenticated", "No public access to this resource., Username or password was incorrect")

    def _body(self) -> bytes:
        length, content = int(self.headers["Content-Length"] or 0), bytearray()
        while len(content) < length:
            data = self.rfile.read1(min(1 << 20, length - len(content)))
            if not data:
                raise ConnectionError
            content += data
        self.is_read = True
        return bytes(content)

    def _place(self, path: str) -> tuple[str, str]:
        """`files` or `uploads`, and the path below the user's."""
        prefix = self.stub.root
        if not path.startswith(prefix):
            raise Refusal(404, r"Sabre\DAV\Exception\NotFound", "File not found")
        kind, _, rest = path[len(prefix):].partition("/")
        user, _, name = rest.partition("/")
        if user != self.stub.user:
            raise Refusal(404, r"Sabre\DAV\Exception\NotFound", f"Principal with name {user} not found")
        if kind == "uploads" and not self.stub.takes_chunks or kind not in ("files", "uploads"):
            raise Refusal(404, r"Sabre\DAV\Exception\NotFound", f"File not found: {kind}")
        return kind, name.rstrip("/")

    def _dispatch(self):
        kind, name = self._place(unquote(urlsplit(self.path).path))
        if self.stub.link == "drop" and kind == "files" and self.command not in ("PUT", "MKCOL", "MOVE"):
            raise Refusal(405, r"Sabre\DAV\Exception\MethodNotAllowed", "Only PUT, MKCOL and MOVE are allowed on files drop")
        return getattr(self, f"_{self.command.lower()}_{kind}")(name)

    # MARK: Files

    def _missing(self, name):
        return Refusal(404, r"Sabre\DAV\Exception\NotFound", f"File with name //{name} could not be located")

    def _require_parent(self, name, status):
        parent = name.rpartition("/")[0]
        if parent not in self.stub.directories:
            exception = "NotFound" if status == 404 else "Conflict"
            raise Refusal(status, rf"Sabre\DAV\Exception\{exception}", f"File with name //{parent} could not be located")

    def _check_name(self, name):
        last = name.rpartition("/")[2]
        if last.endswith(".part") or "\\" in last or len(last.encode()) > 250:
            raise Refusal(400, r"OCA\DAV\Connector\Sabre\Exception\InvalidPath", "Invalid path")

    def _mtime(self) -> int | None:
        text = self.headers["X-OC-MTime"]
        return None if text is None else int(text) if text.isdigit() and int(text) > 0 else -1

    def _fields(self, file, *more):
        tag = hashlib.md5(file.content[:100] + str(file.modified).encode()).hexdigest()
        return [("OC-FileId", "00000042oc"), ("OC-ETag", f'"{tag}"'), ("ETag", f'"{tag}"'), *more]

    def _hash(self, content):
        """What is computed while it is stored."""
        return [("X-Hash-SHA256", hashlib.sha256(content).hexdigest())] if self.headers["X-Hash"] == "sha256" else []

    def _head_files(self, name):
        file = self.stub.files.get(name)
        if file is None:
            raise self._missing(name)
        return 200, self._fields(
            file, ("Content-Length", str(len(file.content))), ("Last-Modified", formatdate(file.modified, usegmt=True))), b""

    def _propfind_files(self, name):
        self._body()
        stub = self.stub
        if name in stub.files:
            return 207, [], multistatus([(self.path, len(stub.files[name].content), stub.files[name].modified)])
        if name in stub.directories:
            return 207, [], multistatus([(self.path, None, 1)])
        raise self._missing(name)

    def _put_files(self, name):
        stub = self.stub
        self._check_name(name)
        if stub.link == "drop":
            stub.files[self._free(name)] = File(self._body())
            return 201, [("ETag", '"5ec2e7"')], b""
        self._require_parent(name, 404)
        existed = name in stub.files
        if existed and self.headers["If-None-Match"] == "*":
            raise Refusal(412, r"Sabre\DAV\Exception\PreconditionFailed", "An If-None-Match header was specified, but the ETag matched")
        content = self._body()
        stub.files[name] = File(content)
        mtime = self._mtime()
        if mtime == -1:
            raise Refusal(500, "InvalidArgumentException", "X-OC-MTime header must be an integer (unix timestamp).")
        if mtime:
            stub.files[name].modified = mtime
        return (204 if existed else 201), self._fields(stub.files[name], *self._hash(content)), b""

    def _mkcol_files(self, name):
        stub = self.stub
        if name in stub.directories or name in stub.files:
            raise Refusal(405, r"Sabre\DAV\Exception\MethodNotAllowed", "The resource you tried to create already exists")
        self._require_parent(name, 409)
        stub.directories.add(name)
        return 201, [], b""

    def _delete_files(self, name):
        if self.stub.files.pop(name, None) is None:
            raise self._missing(name)
        return 204, [], b""

    def _patch_files(self, name):
        stub = self.stub
        if not stub.hashes:
            raise Refusal(501, r"Sabre\DAV\Exception\NotImplemented", "There was no handler found for this \"PATCH\" method")
        if name not in stub.files:
            raise self._missing(name)
        return 204, [("OC-Checksum", "SHA256:" + hashlib.sha256(stub.files[name].content).hexdigest())], b""

    def _free(self, name):
        """A file drop never replaces anything, and does not say which name it has given."""
        stem, dot, ending = name.rpartition(".")
        names = [name, *(f"{stem} ({number}){dot}{ending}" for number in range(2, 9))]
        return next(one for one in names if one not in self.stub.files)

    def _target(self):
        if self.headers["Destination"] is None:
            raise Refusal(500, "TypeError", "Sabre")
        kind, target = self._place(unquote(urlsplit(self.headers["Destination"]).path))
        if kind != "files":
            raise Refusal(403, r"Sabre\DAV\Exception\Forbidden", "")
        if self.stub.link == "drop":
            return self._free(target)
        if self.headers["Overwrite"] == "F" and (target in self.stub.files or self.headers["If-None-Match"] == "*"):
            raise Refusal(412, r"Sabre\DAV\Exception\PreconditionFailed", "The destination node already exists, and the overwrite header is set to false")
        if target in self.stub.directories:
            raise Refusal(400, r"Sabre\DAV\Exception\BadRequest", "Destination is a directory")
        return target

    def _move_files(self, name):
        stub = self.stub
        if name not in stub.files:
            raise self._missing(name)
        target = self._target()
        self._require_parent(target, 409)
        existed = target in stub.files
        stub.files[target] = stub.files.pop(name)
        return (204 if existed else 201), self._fields(stub.files[target]), b""

    # MARK: Chunked uploads

    def _upload(self, name) -> tuple[Upload, str]:
        upload, _, chunk = name.partition("/")
        if upload not in self.stub.uploads:
            raise self._missing(name)
        return self.stub.uploads[upload], chunk

    def _is_of_store(self, upload) -> bool:
        return upload.target is not None and self.headers["Destination"] is not None

    def _mkcol_uploads(self, name):
        stub = self.stub
        if name in stub.uploads:
            raise Refusal(405, r"Sabre\DAV\Exception\MethodNotAllowed", "The resource you tried to create already exists")
        is_of_store = stub.kind == "s3" and self.headers["Destination"]
        stub.uploads[name] = Upload(self.headers["Destination"] if is_of_store else None)
        return 201, [], b""

    def _put_uploads(self, name):
        upload, chunk = self._upload(name)
        if self._is_of_store(upload):
            if not chunk.isdigit() or not 1 <= int(chunk) <= 10_000:
                raise Refusal(400, r"Sabre\DAV\Exception\BadRequest", "Invalid chunk name, must be numeric between 1 and 10000")
            chunk = str(int(chunk))
        elif chunk == ".file":
            raise Refusal(403, r"Sabre\DAV\Exception\Forbidden", "Permission denied to create file (filename .file)")
        elif chunk in upload.chunks and self.headers["If-None-Match"] == "*":
            raise Refusal(412, r"Sabre\DAV\Exception\PreconditionFailed", "An If-None-Match header was specified, but the ETag matched")
        content = self._body()
        # The upload may have been joined or deleted meanwhile.
        self._upload(name)
        existed = chunk in upload.chunks
        upload.chunks[chunk] = content
        upload.grown += len(content)
        if self._is_of_store(upload):
            return 200, [], b""
        return (204, [("ETag", '"5ec2e7"')], b"") if existed else (201, [], b"")

    def _propfind_uploads(self, name):
        self._body()
        if not name:
            raise Refusal(405, r"Sabre\DAV\Exception\MethodNotAllowed", "Listing members of this collection is disabled")
        stub = self.stub
        upload, _ = self._upload(name)
        path = self.path.rstrip("/")
        total = upload.grown if upload.target else sum(map(len, upload.chunks.values()))
        entries = [(path + "/", None, 1), (path + "/.file", total, 1)]
        if upload.target:
            entries.append((path + "/.target", total, 1))
        # Not in their order.
        entries += [(f"{path}/{chunk}", len(content), 1) for chunk, content in sorted(upload.chunks.items(), reverse=True)]
        return 207, [("Content-Type", "application/xml; charset=utf-8")], multistatus(entries, stub.padding)

    def _head_uploads(self, name):
        raise Refusal(405, r"Sabre\DAV\Exception\MethodNotAllowed", "Reading intermediate uploads is not allowed")

    def _delete_uploads(self, name):
        upload, chunk = self._upload(name)
        if chunk:
            upload.chunks.pop(chunk, None)
        else:
            del self.stub.uploads[name]
        return 204, [], b""

    def _move_uploads(self, name):
        stub = self.stub
        lock = stub.joining.setdefault(name, threading.Lock())
        if not lock.acquire(blocking=False):
            raise Refusal(423, r"OCA\DAV\Connector\Sabre\Exception\FileLocked", "it is locked")
        try:
            with stub.storing:
                return self._join(name)
        finally:
            lock.release()

    def _join(self, name):
        stub = self.stub
        upload, _ = self._upload(name)
        target = self._target()
        mtime = self._mtime()
        if stub.kind == "s3" and upload.target is None:
            raise Refusal(500, "Error", "Call to a member function on null")
        contents = [upload.chunks[chunk] for chunk in sorted(upload.chunks, key=lambda chunk: (len(chunk), chunk))]
        joined = b"".join(contents)
        existed = target in stub.files
        if stub.kind == "s3":
            if mtime == -1:
                raise Refusal(500, "InvalidArgumentException", "X-OC-MTime header must be an integer (unix timestamp).")
            if not contents or any(len(content) < LEAST_CHUNK for content in contents[:-1]):
                raise Refusal(500, r"OCP\Files\GenericFileException", "Could not write chunked file")
            # It has been used up, whatever comes next.
            del stub.uploads[name.partition("/")[0]]
            self._require_parent(target, 409)
            fields = []
        else:
            wanted = self.headers["OC-Total-Length"]
            if wanted is not None and int(wanted) != len(joined):
                raise Refusal(400, r"Sabre\DAV\Exception\BadRequest", f"Chunks on server do not sum up to {wanted} but to {len(joined)} bytes")
            self._require_parent(target, 409)
            fields = self._hash(joined)
            if mtime == -1:
                stub.files[target] = File(joined)
                raise Refusal(500, "InvalidArgumentException", "X-OC-MTime header must be an integer (unix timestamp).")
            del stub.uploads[name.partition("/")[0]]
        stub.files[target] = File(joined, mtime or 1_700_000_000)
        if mtime:
            fields.append(("X-OC-MTime", "accepted"))
        return (204 if existed else 201), self._fields(stub.files[target], *fields), b""
