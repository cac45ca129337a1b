"""The stub as a program: `python3 Tests/HiveStub --help`."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from hivestub import KINDS, Certificates, HiveStub, Request, make_certificates
from hivestub.fault_kinds import usage
from hivestub.faults import SCOPES
from hivestub.tus import EXTENSIONS, GIGHIVE_EXTENSIONS


def parse_arguments() -> argparse.Namespace:
    listing = "\n".join(f"  {usage(name)}\n      {kind.meaning}" for name, kind in KINDS.items())
    parser = argparse.ArgumentParser(
        prog="HiveStub",
        description="A loopback server that answers like a GigHive server.",
        epilog="faults; NAME@COUNT applies to the first COUNT requests only, NAME@FIRST-LAST to a range;\n"
        f"SCOPE/ restricts it to a METHOD or to one of {', '.join(SCOPES)}:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--host", default="127.0.0.1", choices=["127.0.0.1", "::1"])
    option("--port", type=int, default=0, help="default: 0, a free port")
    option("--receive-buffer", type=int, metavar="BYTES", help="of each connection: what the kernel acknowledges unread (SO_RCVBUF)")
    option("--ready-file", metavar="PATH", help="also write the first line of output to this file")
    option("--user", default="uploader")
    option("--no-auth", action="store_true", help="require no credentials")
    option("--password-file", metavar="FILE", help="file with the password on its first line; default: secret")
    option("--upload-token-file", metavar="FILE", help="accept this X-Upload-Token from guests")
    option("--store", metavar="DIR", help="keep the files, and continue with them after a restart; default: only hash them")
    option("--tus-extensions", metavar="LIST", default=",".join(GIGHIVE_EXTENSIONS),
           help=f"comma-separated, may be empty; default: %(default)s; also: {','.join(EXTENSIONS[-2:])}")
    option("--fault", action="append", default=[], metavar="[SCOPE/]NAME[=ARG][@COUNT]", help="can be repeated")
    option("--tls", action="store_true", help="use TLS with a new certificate")
    return parser.parse_args()


def first_line(path: str | None) -> str | None:
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        return file.readline().rstrip("\r\n")


def report(request: Request) -> None:
    files = ", ".join(f"{part.filename} ({part.size} bytes, sha256 {part.sha256})" for part in request.files)
    outcome = request.status if request.status is not None else request.ending or "no answer"
    line = f"HiveStub: {request.method} {request.target} -> {outcome}, body {request.body_bytes} bytes"
    # repr without its quotes: a file name must not reach the terminal with control characters.
    line += f", {repr(files)[1:-1]}" if files else ""
    print(line + "\n", end="", file=sys.stderr, flush=True)  # in one piece: connections report at once


def announce(hive: HiveStub, certificates: Certificates | None, ready_file: str | None) -> None:
    cacert = certificates.cacert if certificates else None
    line = json.dumps({"url": hive.url, "port": hive.port, "cacert": cacert, "pid": os.getpid()})
    if ready_file:
        # Renamed into place, so that a reader never sees half a line.
        Path(ready_file + ".new").write_text(line + "\n")
        os.replace(ready_file + ".new", ready_file)
    print(line, flush=True)


def main() -> None:
    options = parse_arguments()
    finished = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: finished.set())
    certificates = make_certificates() if options.tls else None
    try:
        hive = HiveStub(
            tls=certificates,
            user=None if options.no_auth else options.user,
            password=first_line(options.password_file) or "secret",
            upload_token=first_line(options.upload_token_file),
            faults=options.fault,
            store=options.store,
            tus_extensions=[name.strip() for name in options.tus_extensions.split(",") if name.strip()],
            host=options.host,
            port=options.port,
            receive_buffer=options.receive_buffer,
            on_finished=report,
        )
    except ValueError as problem:
        sys.exit(f"HiveStub: {problem}")
    with hive:
        announce(hive, certificates, options.ready_file)
        finished.wait()


if __name__ == "__main__":
    main()
