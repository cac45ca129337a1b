"""How long 100 MiB take over a long line: the program to a GigHive, to a tus server, and curl with one raw PATCH.

    python3 Tests/Chaos/delay.py                    # 100 ms round trip, 100 Mbit/s
    python3 Tests/Chaos/delay.py --serve 8080       # only the line to a server on this port, for trying things

What the line is, and is not: chaos/link.py.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chaos.client import environment, read_events  # noqa: E402
from chaos.link import Link  # noqa: E402
from chaos.plan import MIB, Receiver  # noqa: E402
from chaos.proxy import Proxy  # noqa: E402
from chaos.rules import digest_of  # noqa: E402
from chaos.server import USER, Server  # noqa: E402
from chaos.wire import FINALIZE, Exchange  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "long-line"
LONGEST_SECONDS = 300.0


class Failed(Exception):
    """An upload that did not succeed."""


def main() -> int:
    options = parse()
    round_trip, rate = options.round_trip / 1000, options.rate * 1e6 / 8
    if options.serve:
        link = Link(options.serve, round_trip, rate)
        print(f"http://127.0.0.1:{link.port}", flush=True)
        link.run()
    line_seconds = options.size / rate
    print(f"{options.size / MIB:g} MiB, {options.round_trip:g} ms round trip, {options.rate:g} Mbit/s: "
          f"{line_seconds:.2f} s at the line's rate", flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="delay-") as folder:
        worst = measure(options, Path(folder), round_trip, rate, line_seconds)
    if options.limit and worst > options.limit:
        print(f"too slow: {worst:.3f} x the line's rate, {options.limit:g} allowed")
        return 1
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("GIGHIVE_UPLOAD") or ROOT / "dist/gighive-upload-x86_64")
    option = parser.add_argument
    option("--binary", type=Path, default=default, help="the program under test (%(default)s)")
    option("--size", type=int, default=100 * MIB, help="bytes of the file (%(default)s)")
    option("--round-trip", type=float, default=100.0, metavar="MS", help="in milliseconds (%(default)s)")
    option("--rate", type=float, default=100.0, metavar="MBIT", help="in Mbit/s (%(default)s)")
    option("--runs", type=int, default=1, help="of each; the median counts (%(default)s)")
    option("--spool", action="store_true", help="a server that spools each request")
    option("--limit", type=float, metavar="TIMES", help="exit code 1 if the program takes more times the line's seconds")
    option("--serve", type=int, metavar="PORT", help="only the line, to a server that is there")
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    if not options.serve and not options.binary.exists():
        parser.error(f"{options.binary} does not exist: run `make static`")
    return options


def measure(options: argparse.Namespace, folder: Path, round_trip: float, rate: float, line_seconds: float) -> float:
    """Returns the program's worst time, in times of the line's."""
    file, password_file = folder / "take.mp4", folder / "password"
    file.write_bytes(random.Random(1).randbytes(options.size))
    password_file.touch(mode=0o600)
    password_file.write_text(PASSWORD + "\n")
    uploads = {"curl, one PATCH": curl, "to --tus-url": to_tus, "to --server, with finalize": to_gighive}
    ratios = {}
    for name, upload in uploads.items():
        runs = []
        for number in range(options.runs):
            run_folder = folder / f"{upload.__name__}-{number}"
            run_folder.mkdir()
            server = Server(Receiver(options.spool, False, True, 0.0), run_folder, password_file)
            server.start()
            try:
                # The proxy only reads along.
                with Proxy(server.port) as proxy, Link(proxy.port, round_trip, rate) as link:
                    seconds = upload(options.binary, file, link.port, server, password_file, run_folder)
                runs.append((seconds, finalizing(proxy.exchanges)))
            except Failed as problem:
                print(f"{name}: {problem}")
                return float("inf")
            finally:
                server.stop()
                shutil.rmtree(run_folder)
        median, of_server = sorted(runs)[len(runs) // 2]
        ratios[name] = (median - of_server) / line_seconds
        note = f", without the {of_server:.2f} s that the server took to finalize" if of_server else ""
        print(f"{name:<28}{median:>7.2f} s  {ratios[name]:.3f} x the line's time{note}", flush=True)
    return max(ratio for name, ratio in ratios.items() if name.startswith("to "))


def finalizing(exchanges: list[Exchange]) -> float:
    """How long the server itself took to hash what it had: no client can be faster."""
    return sum(each.answered - each.began for each in exchanges if each.kind == FINALIZE and each.answered)


def to_gighive(binary: Path, file: Path, port: int, server: Server, password_file: Path, folder: Path) -> float:
    seconds = program(binary, file, ["--server", f"http://127.0.0.1:{port}", "--label", "line"], password_file, folder)
    if [recording["sha256"] for recording in server.recordings()] != [digest_of(file)]:
        raise Failed(f"the server has {server.recordings()}")
    return seconds


def to_tus(binary: Path, file: Path, port: int, server: Server, password_file: Path, folder: Path) -> float:
    seconds = program(binary, file, ["--tus-url", f"http://127.0.0.1:{port}/files/"], password_file, folder)
    check_upload(server, file)
    return seconds


def program(binary: Path, file: Path, target: list[str], password_file: Path, folder: Path) -> float:
    command = [str(binary), "send", str(file), *target, "--protocol", "tus", "--json"]
    command += ["--state-dir", str(folder / "state"), "--user", USER, "--password-file", str(password_file)]
    output, seconds = timed(command, folder)
    if not any(event.get("event") == "delivered" for event in read_events(output)[0]):
        raise Failed(f"it does not say delivered: {output}")
    return seconds


def curl(binary: Path, file: Path, port: int, server: Server, password_file: Path, folder: Path) -> float:
    """Creates the upload straight at the server; only the PATCH is timed."""
    path = create(server.port, file.stat().st_size)
    headers = ["Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream", "Upload-Offset: 0"]
    command = ["curl", "--silent", "--show-error", "--fail", "--request", "PATCH", "--upload-file", str(file)]
    command += ["--user", f"{USER}:{PASSWORD}", *(word for header in headers for word in ("--header", header))]
    seconds = timed([*command, f"http://127.0.0.1:{port}{path}"], folder)[1]
    check_upload(server, file)
    return seconds


def create(port: int, size: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    credentials = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Authorization": f"Basic {credentials}"}
    connection.request("POST", "/files/", headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 201:
        raise Failed(f"creation: {answer.status}")
    return "/files/" + answer.headers["Location"].rpartition("/")[2]


def check_upload(server: Server, file: Path) -> None:
    found = server.complete_uploads()
    if found != [digest_of(file)]:
        raise Failed(f"the server has {found}")


def timed(command: list[str], folder: Path) -> tuple[str, float]:
    began = time.monotonic()
    done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=LONGEST_SECONDS)
    seconds = time.monotonic() - began
    if done.returncode != 0:
        raise Failed(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout, seconds


if __name__ == "__main__":
    sys.exit(main())
