"""`make firstuse`: writes the functions of an upload in the order of their first use, for the linker.

The kernel maps the 64 KiB around each page of the binary that runs. If the functions of an upload lie side by side, fewer pages
are mapped. An emulator that logs the code it translates tells the order.

Usage: first_use.py EMULATOR UNSTRIPPED-BINARY [EMULATOR UNSTRIPPED-BINARY ...]"""

import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "HiveStub"), str(TESTS / "Support"), str(TESTS / "CLITests")]

from hivestub import HiveStub, make_certificates  # noqa: E402
from s3 import ENVIRONMENT, S3Stub  # noqa: E402

RECORDING_BYTES = 6_000_000
LIVE_BYTES, BLOCK_BYTES = 36 << 20, 1 << 20
WATCH_SECONDS = 60


@dataclass(frozen=True)
class Upload:
    is_tls: bool = False
    protocol: str | None = None
    """To GigHive. Without one: a form to any other endpoint, without a digest."""
    options: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    is_live: bool = False
    is_s3: bool = False


SLOW = "slow-read=8000000"
PARTS = ("--chunk-size", "1M")
UPLOADS = [
    Upload(),
    Upload(protocol="multipart"),
    Upload(True, "multipart"),
    Upload(protocol="tus"),
    Upload(True, "tus"),
    # What comes later in large uploads: many requests, a full socket, an interruption
    Upload(False, "tus", PARTS, (SLOW,)),
    Upload(True, "tus", PARTS, (SLOW,)),
    Upload(True, "multipart", (), (SLOW,)),
    Upload(True, "tus", ("--set", "retry-max-delay=10ms"), ("reset-after=2000000",)),
    # What only parts need
    Upload(protocol="tus", is_live=True),
    Upload(True, "tus", is_live=True),
    Upload(is_s3=True),
    Upload(is_s3=True, is_live=True),
]


def functions(emulator: str, binary: str, uploads: list[Upload]) -> list[str]:
    """The functions of these uploads, in the order of their first use."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        recording = folder / "set.mp4"
        recording.write_bytes(os.urandom(RECORDING_BYTES))
        password_file = folder / "password"
        password_file.touch(mode=0o600)
        password_file.write_text("secret\n")
        certificates = make_certificates()
        found: dict[str, None] = {}
        for number, upload in enumerate(uploads):
            server = stack.enter_context(
                S3Stub() if upload.is_s3 else HiveStub(tls=certificates if upload.is_tls else None, faults=upload.faults))
            trace = folder / "trace"
            file = folder / f"live-{number}.wav" if upload.is_live else recording
            command = [*shlex.split(emulator), "-d", "in_asm,nochain", "-D", str(trace), binary, "send", str(file)]
            command += ["--cacert", str(certificates.cacert), "--state-dir", str(folder / f"state-{number}"), "--quiet"]
            if upload.is_s3:
                command += ["--s3", "s3://bucket/", "--s3-endpoint", server.url]
            elif upload.protocol:
                command += ["--server", server.url, "--protocol", upload.protocol, "--label", "Set", "--user", "uploader"]
                command += ["--password-file", str(password_file)]
            else:
                command += ["--multipart-url", f"{server.url}/any"]
            if upload.is_live:
                command += ["--live", "--settle", "1s"]
                recorder = threading.Thread(target=record, args=(file.open("wb", buffering=0),))
                recorder.start()
                stack.callback(recorder.join)
            subprocess.run([*command, *upload.options], check=True, timeout=600, env={**os.environ, **ENVIRONMENT})
            found |= dict.fromkeys(functions_in(trace))
        return list(found)


def record(file) -> None:
    """As recorders do: at last, the head is written again."""
    with file:
        for _ in range(LIVE_BYTES // BLOCK_BYTES):
            file.write(os.urandom(BLOCK_BYTES))
            time.sleep(0.1)
        os.pwrite(file.fileno(), b"RIFF", 0)


def functions_in(trace: pathlib.Path) -> list[str]:
    with open(trace, errors="replace") as lines:
        # "IN: name", or "IN: " where the emulator knows no symbol
        return [line.split()[1] for line in lines if line.startswith("IN: ") and len(line.split()) == 2]


def functions_of_watcher(emulator: str, binary: str) -> list[str]:
    """Those of a watcher that finds a recording and starts a worker. The worker itself is an upload."""
    with tempfile.TemporaryDirectory() as name, HiveStub() as server:
        folder = pathlib.Path(name)
        (folder / "rec").mkdir()
        password_file = folder / "password"
        password_file.touch(mode=0o600)
        password_file.write_text("secret\n")
        (folder / "rec" / "set.mp4").write_bytes(b"recording")
        command = [*shlex.split(emulator), "-d", "in_asm,nochain", "-D", str(folder / "trace"), binary, "watch"]
        command += [str(folder / "rec"), "--server", server.url, "--label", "{stem}", "--settle", "500ms"]
        command += ["--user", "uploader", "--password-file", str(password_file)]
        watcher = subprocess.Popen([*command, "--state-dir", str(folder / "state")])
        try:
            watcher.wait(WATCH_SECONDS)
        except subprocess.TimeoutExpired:
            watcher.terminate()
            watcher.wait(60)
        return functions_in(folder / "trace")


VARIANT = re.compile(r"(__(?:mem|raw|stp|str)[a-z]+)_(?:avx|evex|sse2)[a-z0-9_]*")
"""The x86-64 string functions of libc: __strlen_avx2."""


def with_variants(order: list[str], symbols: set[str]) -> list[str]:
    """Adds what other processors use in place of these functions: AVX-512, or neither that nor AVX2."""
    stems = {match[1] for name in order if (match := VARIANT.fullmatch(name))} | {"__strstr"}
    variants = {name for name in symbols if (match := VARIANT.fullmatch(name)) and match[1] in stems and "_rtm" not in name}
    if "aesni_gcm_initkey" in order:
        variants |= {name for name in symbols if name.startswith("vaes_gcm_")}
    return sorted(variants.difference(order)) + order


def symbols_of(binary: str) -> set[str]:
    output = subprocess.run(["nm", binary], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in output.splitlines() if len(line.split()) == 3}


def main() -> None:
    sending: dict[str, None] = {}
    watching: dict[str, None] = {}
    symbols: set[str] = set()
    for emulator, binary in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        sending |= dict.fromkeys(functions(emulator, binary, UPLOADS))
        watching |= dict.fromkeys(functions_of_watcher(emulator, binary))
        symbols |= symbols_of(binary)
    # What both use is in the middle, so that either uses one block.
    only_watching = [name for name in watching if name not in sending]
    both = [name for name in sending if name in watching]
    only_sending = [name for name in sending if name not in watching]
    print("\n".join(only_watching + with_variants(both, symbols) + only_sending))


if __name__ == "__main__":
    main()
