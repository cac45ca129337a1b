"""Everything that a run needs and a clean checkout does not have: packages, programs, the recording."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import install

BENCH = Path(__file__).resolve().parents[1]
ROOT = BENCH.parents[1]
BUILD = ROOT / ".build" / "bench"

PACKAGES = ["ca-certificates", "curl", "libssl-dev", "openssl", "python3-venv", "strace"]
PROFILER_PACKAGE = "linux-perf"
RECORDING_BYTES = 1 << 30
QUARTER_BYTES = RECORDING_BYTES // 4
TINY_BYTES = 1000


@dataclass(frozen=True)
class Tools:
    ours: Path
    unstripped: Path
    """The same code with its symbols, for profiles."""
    receiver: Path
    bare: Path
    launcher: Path
    url_session: Path
    python: Path
    """With requests-toolbelt and tuspy."""
    recording: Path
    quarter: Path
    eighth: Path
    tiny: Path
    state: Path
    """Below it each run of ours has its state directory."""
    password: Path


def prepare(with_url_session: bool, with_python: bool, binary: Path | None, symbols: Path | None) -> Tools:
    install(*PACKAGES)
    BUILD.mkdir(parents=True, exist_ok=True)
    if binary is None:
        _call(["make", "static"], cwd=ROOT)
        binary, symbols = ROOT / "dist/gighive-upload-x86_64", ROOT / ".build/embedded-x86_64/release/gighive-upload"
    for name, flags in (("receiver", []), ("bare", ["-static"]), ("launch", ["-static"])):
        _compile(name, flags)
    if with_url_session:
        _call(["swift", "build", "-c", "release", "--scratch-path", str(BUILD / "urlsession")],
              cwd=BENCH / "URLSessionUpload")
    if with_python:
        _make_venv()
    return Tools(
        ours=_copy(binary, "gighive-upload"),
        unstripped=_copy(symbols or binary, "unstripped/gighive-upload"),
        receiver=BUILD / "receiver",
        bare=BUILD / "bare",
        launcher=BUILD / "launch",
        url_session=BUILD / "urlsession" / "release" / "URLSessionUpload",
        python=BUILD / "venv" / "bin" / "python",
        recording=make_file("recording.mp4", RECORDING_BYTES),
        quarter=make_file("quarter.mp4", QUARTER_BYTES),
        eighth=make_file("eighth.mp4", QUARTER_BYTES // 2),
        tiny=make_file("tiny.mp4", TINY_BYTES),
        state=_make_state(),
        password=_make_password(),
    )


def _make_state() -> Path:
    state = BUILD / "state"
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    return state


def _make_password() -> Path:
    path = BUILD / "password"
    path.write_text("secret\n")
    path.chmod(0o600)
    return path


def warm(path: Path) -> None:
    """Reads a file into the page cache, so that no run waits for a disk."""
    with open(path, "rb", buffering=0) as file:
        while file.read(16 << 20):
            pass


def _compile(name: str, flags: list[str]) -> None:
    source, program = BENCH / f"{name}.c", BUILD / name
    libraries = [] if name == "launch" else ["-lssl", "-lcrypto"]
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        # -w: a static OpenSSL makes the linker warn of name services that nothing here uses.
        _call(["clang", "-O2", "-w", *flags, "-o", str(program), str(source), *libraries])


def _copy(program: Path, name: str) -> Path:
    """A concurrent build must not change what is measured."""
    copy = BUILD / name
    copy.parent.mkdir(exist_ok=True)
    shutil.copy2(program, copy)
    return copy


def _make_venv() -> None:
    python = BUILD / "venv" / "bin" / "python"
    if python.exists() and subprocess.run([python, "-c", "import requests_toolbelt, tusclient"]).returncode == 0:
        return
    _call(["/usr/bin/python3", "-m", "venv", "--clear", str(BUILD / "venv")])
    _call([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "requests-toolbelt", "tuspy"])


def make_file(name: str, length: int) -> Path:
    """Random bytes, on the disk rather than sparse: a read of a hole costs less than one of data."""
    path = BUILD / name
    if not path.exists() or path.stat().st_size != length:
        partial = path.with_suffix(".part")
        with open(partial, "wb") as file:
            while (left := length - file.tell()) > 0:
                file.write(os.urandom(min(left, 1 << 20)))
        partial.replace(path)
    return path


def _call(command: list[str], cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} failed:\n{done.stdout}{done.stderr}")
