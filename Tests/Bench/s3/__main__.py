"""`make s3bench`: gighive-upload beside rclone and the AWS CLI on one S3 server (`rclone serve s3`), and what a kill costs each of them."""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), *(str(BENCH.parent / name) for name in ("HiveStub", "Interop", "Support"))]

import rclone_server  # noqa: E402
import s3_server  # noqa: E402
import servers  # noqa: E402
from bench import machine, measure, tools  # noqa: E402
from line import Line, Point  # noqa: E402
from machine import install  # noqa: E402

DOCUMENT = tools.ROOT / "docs/measured/s3.md"
AWS = tools.BUILD / "aws/bin/aws"
MIB = 1 << 20
KILL_LENGTH = tools.QUARTER_BYTES


@dataclass(frozen=True)
class Client:
    name: str
    command: list
    again: list
    """After a kill."""
    environment: dict[str, str]


@dataclass(frozen=True)
class Run:
    wall: float
    cpu: float
    peak_kib: int


def clients(binary: Path, url: str, folder: Path, file: Path, key: str) -> list[Client]:
    keys = folder / "keys"
    keys.write_text(f"[default]\naws_access_key_id = {s3_server.KEY}\naws_secret_access_key = {s3_server.SECRET}\n")
    keys.chmod(0o600)
    options = ["--s3-endpoint", url, "--s3-credentials", keys, "--state-dir", folder / "state"]
    ours = [binary, "send", file, "--s3", f"s3://recordings/{key}-ours", *options]
    rclone = ["/usr/bin/rclone", "--config", "/dev/null", "copyto", file, f":s3:recordings/{key}-rclone", "--s3-provider", "Other",
              "--s3-env-auth", "--s3-endpoint", url]
    aws = [AWS, "s3", "cp", "--quiet", file, f"s3://recordings/{key}-aws", "--endpoint-url", url]
    secrets = {"AWS_ACCESS_KEY_ID": s3_server.KEY, "AWS_SECRET_ACCESS_KEY": s3_server.SECRET, "AWS_DEFAULT_REGION": "us-east-1"}
    return [
        Client("gighive-upload", ours, [binary, "resume", "--all", "--state-dir", folder / "state"], {}),
        Client("gighive-upload --connections 1", [*ours[:3], *("--s3", f"s3://recordings/{key}-one"), *options, "--connections", "1"],
               [], {}),
        Client("rclone", rclone, rclone, secrets), Client("aws s3 cp", aws, aws, secrets)]


def start(client: Client, command: list) -> subprocess.Popen:
    with open(os.devnull, "r+b") as null:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RCLONE_"))}
        return subprocess.Popen(command, stdin=null, stdout=null, stderr=subprocess.PIPE, env=environment | client.environment)


def timed(client: Client) -> Run:
    began = time.monotonic_ns()
    process = start(client, client.command)
    peak_kib, ended, usage, status = measure.wait(process.pid)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        raise SystemExit(f"{client.name} failed: {process.stderr.read().decode()}")
    return Run((ended - began) / 1e9, usage.ru_utime + usage.ru_stime, peak_kib)


def killed(client: Client, line: Line, served: Path, length: int) -> tuple[int, int]:
    """Kills it when half of the file has passed the line, and runs it again.
    Returns what it sent in all beyond the file, and what stays on the server beside it, in bytes."""
    before = line.passed
    process = start(client, client.command)
    line.when(Point(length // 2), lambda: os.kill(process.pid, signal.SIGKILL))
    if process.wait() != -signal.SIGKILL:
        raise SystemExit(f"{client.name} was not killed: {process.stderr.read().decode()}")
    again = start(client, client.again)
    if again.wait() != 0:
        raise SystemExit(f"{client.name} failed after the kill: {again.stderr.read().decode()}")
    sizes = {file: file.stat().st_size for file in served.iterdir()}
    left = sum(size for file, size in sizes.items() if is_of_parts(file))
    if sum(sizes.values()) - left != length:
        raise SystemExit(f"{client.name}: the object is not whole: {sizes}")
    empty(served)
    return line.passed - before - length, left


def is_of_parts(file: Path) -> bool:
    """Whether it is what the server keeps of an upload that is not complete."""
    return file.name.startswith(".")


def empty(served: Path) -> None:
    for file in served.iterdir():
        file.unlink()


@contextmanager
def serving(root: Path):
    """A directory that is served as S3, and the port."""
    (root / "log").mkdir(parents=True)

    @contextmanager
    def daemon(name, command, port):
        server = servers.Daemon(name, command, root)
        server.start()
        try:
            until = time.monotonic() + 30
            while not servers._accepts(servers.socket.AF_INET, ("127.0.0.1", port)):
                assert time.monotonic() < until and not server.has_ended, f"{name} does not listen"
                time.sleep(0.05)
            yield
        finally:
            server.stop()

    [port] = servers.free_ports(1)
    with rclone_server.running(root / "served", servers.PYTHON.parent, daemon, [port]):
        yield port


def prepare() -> None:
    install("rclone", "python3-venv")
    subprocess.run([str(BENCH.parent / "Interop/setup")], check=True)
    if not AWS.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", AWS.parents[1]], check=True)
        subprocess.run([AWS.parent / "pip", "install", "--quiet", "--disable-pip-version-check", "awscli"], check=True)
    tools.BUILD.mkdir(parents=True, exist_ok=True)


def version(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/Bench/s3", description=__doc__)
    parser.add_argument("--binary", type=Path, default=tools.ROOT / "dist/gighive-upload-x86_64", help="the program (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each client (default: %(default)s)")
    parser.add_argument("--write-docs", action="store_true", help="write docs/measured/s3.md")
    options = parser.parse_args()
    prepare()
    file, small = tools.make_file("recording.mp4", tools.RECORDING_BYTES), tools.make_file("quarter.mp4", KILL_LENGTH)
    tools.warm(file)
    runs: dict[str, list[Run]] = {}
    costs: dict[str, list[tuple[int, int]]] = {}
    with tempfile.TemporaryDirectory(dir=tools.BUILD) as folder, serving(Path(folder)) as port:
        served = Path(folder) / "served/recordings"
        for number in range(options.rounds):
            for client in clients(options.binary.resolve(), f"http://127.0.0.1:{port}", Path(folder), file, str(number)):
                runs.setdefault(client.name, []).append(timed(client))
            empty(served)
            with Line(port) as line:
                for client in clients(options.binary.resolve(), f"http://127.0.0.1:{line.port}", Path(folder), small, f"k{number}"):
                    if client.again:
                        costs.setdefault(client.name, []).append(killed(client, line, served, KILL_LENGTH))
    text = table(runs, costs)
    print(text)
    if options.write_docs:
        DOCUMENT.write_text(document(text, options.rounds))
    return 0


def table(runs: dict[str, list[Run]], costs: dict[str, list[tuple[int, int]]]) -> str:
    rows = ["|  | wall, s | CPU, s | peak, MB | after a kill: sent twice, MiB | left on the server, MiB |",
            "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, measured in runs.items():
        wall, cpu = (statistics.median(getattr(run, what) for run in measured) for what in ("wall", "cpu"))
        peak = max(run.peak_kib for run in measured) * 1024 / 1e6
        cost = " | ".join(f"{statistics.median(of) / MIB:.1f}" for of in zip(*costs[name])) if name in costs else "– | –"
        rows.append(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:.1f} | {cost} |")
    return "\n".join(rows)


def document(text: str, rounds: int) -> str:
    facts = dict(machine.description())
    return f"""# Beside rclone and the AWS CLI

Written by `make s3bench` on {time.strftime("%Y-%m-%d")}. Do not edit: every number comes from that run.

{text}

1 GiB over HTTP and loopback to `rclone serve s3` ({version(servers.PYTHON.parent / "rclone", "version")}), {rounds} runs of each in turn: medians,
and the highest peak (VmHWM). gighive-upload proves each part with its SHA-256, the others with MD5 or CRC. All of them use their default options:
rclone and the AWS CLI hold several parts in memory.

*Sent twice after a kill*: at half of 256 MiB the client gets SIGKILL, and then runs again ("resume" for gighive-upload). It is what passes the
line in both runs beyond the file, with all heads. *Left on the server*: parts of the first run that nobody completes or aborts, which a
provider charges for.

Clients: Debian's {version("/usr/bin/rclone", "version")}; {version(AWS, "--version").split()[0]}. Machine: {facts["processor"]}.
"""


if __name__ == "__main__":
    sys.exit(main())
