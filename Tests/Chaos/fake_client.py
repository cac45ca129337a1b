#!/usr/bin/python3 -B
"""A client that speaks tus and keeps the command line's contract, for the harness's own tests: right by default, wrong in
the way that FAKE_WRONG names. It shares no code with the program under test."""

from __future__ import annotations

import argparse
import base64
import email.parser
import fcntl
import hashlib
import http.client
import json
import os
import sys
import time
import urllib.parse
from pathlib import Path

MIB = 1 << 20
WRONG = {
    "": "nothing",
    "restart": "begins anew after every interruption",
    "large-chunks": "one request for the whole file, whatever the server is like",
    "two-events": "delivers once more, to another event",
    "corrupt": "sends other bytes after an interruption, and does not look at the server's checksum",
    "claim": "says delivered before finalize",
    "code": "gives up with exit code 1",
    "hang": "waits for ever once a connection broke",
    "secret": "keeps the password in its state",
    "checksum": "says another checksum",
    "forget": "does not note that it delivered",
    "timid": "gives up without a reason",
    "noise": "says something that is no JSON",
}
CHUNK_BYTES = 8 * MIB
ANSWER_SECONDS = 30.0
BLOCK_BYTES = 64 << 10
AGAIN = (400, 404, 408, 409, 423, 429, 460, 500, 502, 503, 504)


class Trouble(Exception):
    """Worth another try."""


class Refused(Exception):
    """The server said something final."""


def read_head(file, _class=http.client.HTTPMessage):
    """Header lines up to the empty one. The library's own reader takes a head that was cut for a whole one."""
    lines = b""
    while (line := file.readline(65537)) != b"\r\n":
        if not line.endswith(b"\n"):
            raise ConnectionError("the answer's head is cut")
        lines += line
    return email.parser.Parser(_class=_class).parsestr(lines.decode("latin-1"))


class Answer(http.client.HTTPResponse):
    """The library's own knows 100 as the only interim answer."""

    def _read_status(self):
        version, status, reason = super()._read_status()
        return version, 100 if 100 <= status < 200 else status, reason


http.client.parse_headers = read_head
http.client.HTTPConnection.response_class = Answer


def main() -> int:
    options = parse()
    folder = Path(options.state_dir)
    folder.mkdir(parents=True, exist_ok=True)
    if options.command == "list":
        for path in sorted(folder.glob("*.json")):
            print(json.dumps({"state": json.loads(path.read_text())["state"]}))
        return 0
    if options.command == "send":
        record = {"file": options.file, "label": options.label, "state": "pending"}
        record |= {"server": options.server or options.tus_url, "finalizes": options.server is not None}
        record["name"] = hashlib.sha256(os.fsencode(os.path.abspath(options.file))).hexdigest()[:16] + ".json"
        known = folder / record["name"]
        if known.exists():
            record = json.loads(known.read_text())
        return deliver(options, folder, record)
    pending = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return max((deliver(options, folder, record) for record in pending if record["state"] == "pending"), default=0)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["send", "resume", "list"])
    parser.add_argument("file", nargs="?")
    for name in ("server", "tus-url", "label", "protocol", "state-dir", "user", "password-file"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--retries", type=int, default=5)
    parser.add_argument("--stall-timeout", default="30s")
    parser.add_argument("--retry-max-delay", default="1s")
    for name in ("json", "all"):
        parser.add_argument(f"--{name}", action="store_true")
    return parser.parse_args()


def deliver(options: argparse.Namespace, folder: Path, record: dict) -> int:
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Upload(options, folder, record).run()


class Upload:
    def __init__(self, options: argparse.Namespace, folder: Path, record: dict):
        self.options, self.folder, self.record = options, folder, record
        self.wrong = os.environ.get("FAKE_WRONG") or ""
        self.password = Path(options.password_file).read_text().strip()
        self.size = os.path.getsize(record["file"])
        with open(record["file"], "rb") as file:
            self.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        self.connection: http.client.HTTPConnection | None = None
        self.patience = float(options.stall_timeout.rstrip("s"))
        self.base = urllib.parse.urlsplit(record["server"])

    def run(self) -> int:
        if self.wrong == "noise":
            print("here we go", flush=True)
        if self.wrong == "timid" and not self.record.get("tries"):
            self.save(tries=1)
            return 4
        failures, code = 0, 4
        while failures <= self.options.retries:
            try:
                self.attempt()
                self.say()
                return 0
            except (OSError, http.client.HTTPException, ValueError, TypeError) as problem:  # cut answers, too
                print(f"no connection: {problem!r}", file=sys.stderr, flush=True)
                code = 4
            except Trouble as problem:
                print(f"server: {problem}", file=sys.stderr, flush=True)
                code = 9
            except Refused as problem:
                print(f"refused: {problem}", file=sys.stderr, flush=True)
                return 7
            self.fail()
            failures += 1
            time.sleep(0.1)
        return 1 if self.wrong == "code" else code

    def fail(self) -> None:
        if self.connection:
            self.connection.close()
            self.connection = None
        if self.wrong == "hang":
            time.sleep(3600)
        if self.wrong == "restart":
            self.record.pop("url", None)

    def say(self, checksum: str | None = None) -> None:
        if self.wrong == "checksum":
            checksum = "0" * 64
        checksum = checksum or self.sha256
        print(json.dumps({"event": "delivered", "file": self.record["file"], "checksum_sha256": checksum}), flush=True)

    def save(self, **changes) -> None:
        self.record.update(changes)
        if self.wrong == "secret":
            self.record["password"] = self.password
        new = self.folder / "new"
        new.write_text(json.dumps(self.record))
        os.replace(new, self.folder / self.record["name"])

    # tus.

    def attempt(self) -> None:
        if self.record["state"] == "delivered":
            return
        offset = self.offset() if "url" in self.record else self.create()
        while offset < self.size:
            length = self.size - offset if self.wrong == "large-chunks" else min(CHUNK_BYTES, self.size - offset)
            answer = self.request("PATCH", self.record["url"], offset=offset, length=length)
            offset = int(answer.headers["Upload-Offset"])
        if self.wrong != "claim" and self.record["finalizes"]:
            self.finalize()
        self.save(state="pending" if self.wrong == "forget" else "delivered")

    def create(self) -> int:
        name = base64.b64encode(os.path.basename(self.record["file"]).encode()).decode()
        headers = {"Upload-Length": str(self.size), "Upload-Metadata": f"filename {name}"}
        answer = self.request("POST", "/files/", headers)
        self.save(url=urllib.parse.urlsplit(answer.headers["Location"]).path)
        return 0

    def offset(self) -> int:
        try:
            return int(self.request("HEAD", self.record["url"]).headers["Upload-Offset"])
        except Trouble:
            if self.record.get("complete"):
                return self.size  # finalized, its answer was lost
            raise

    def finalize(self) -> None:
        self.save(complete=True)
        today = time.strftime("%Y-%m-%d")
        events = ["The Band"] + (["Another Band"] if self.wrong == "two-events" else [])
        for number, organisation in enumerate(events):
            if number:
                self.create()
                self.request("PATCH", self.record["url"], offset=0, length=self.size)
            document = {"upload_id": self.record["url"].rpartition("/")[2], "label": self.record["label"],
                        "event_date": today, "org_name": organisation, "event_type": "band"}
            answer = self.request("POST", "/api/uploads/finalize", document=document)
            if json.loads(answer.body)["checksum_sha256"] != self.sha256 and self.wrong != "corrupt":
                raise Refused("another checksum")

    # HTTP.

    def request(self, method: str, target: str, headers=None, offset=None, length=0, document=None):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.base.hostname, self.base.port, timeout=self.patience)
            self.connection.connect()
        connection = self.connection
        credentials = base64.b64encode(f"{self.options.user}:{self.password}".encode()).decode()
        connection.putrequest(method, target)
        for name, value in {"Tus-Resumable": "1.0.0", "Authorization": f"Basic {credentials}", **(headers or {})}.items():
            connection.putheader(name, value)
        body = json.dumps(document).encode() if document else b""
        if offset is not None:
            connection.putheader("Content-Type", "application/offset+octet-stream")
            connection.putheader("Upload-Offset", str(offset))
        elif document:
            connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(length or len(body)))
        connection.endheaders(body or None)
        if length:
            self.send_body(offset, length)
        connection.sock.settimeout(ANSWER_SECONDS)
        answer = connection.getresponse()
        answer.body = answer.read()
        if connection.sock:
            connection.sock.settimeout(self.patience)
        if answer.status in AGAIN:
            if answer.will_close:
                self.connection = None
            raise Trouble(f"{method} {answer.status} {answer.body[:200]!r}")
        if answer.status >= 300:
            raise Refused(f"{method} {answer.status} {answer.body[:200]!r}")
        if answer.will_close:
            connection.close()
            self.connection = None
        return answer

    def send_body(self, offset: int, length: int) -> None:
        with open(self.record["file"], "rb") as file:
            file.seek(0 if self.wrong == "corrupt" else offset)
            while length:
                block = file.read(min(length, BLOCK_BYTES))
                self.connection.send(block)
                length -= len(block)


if __name__ == "__main__":
    sys.exit(main())
