"""Compiles the core's sources and the targets into one module and one binary, with libFuzzer or without."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parents[1]
SCRATCH = Path(os.environ.get("FUZZ_SCRATCH") or ROOT / ".build/fuzz").resolve()
CORPORA = TESTS / "Corpora"

COMMON = ["-parse-as-library", "-swift-version", "6", "-package-name", "gighive-upload", "-module-name", "Fuzz", "-g"]
FLAGS = {
    "fuzzer": ["-O", "-wmo", "-sanitize=fuzzer,address", "-use-ld=lld"],
    # Without optimization, so that a broken rule is told in words.
    "replay": ["-Onone", "-wmo"],
}
ENTRIES = {"fuzzer": "Fuzzer.swift", "replay": "Replay.swift", "board": "Board.swift"}


class BuildFailed(Exception):
    """The compiler's words."""


def sources(kind: str) -> list[Path]:
    found = sorted((ROOT / "Sources/UploadCore").rglob("*.swift"))
    found.append(ROOT / "Tests/UploadCoreTests/Support/GuardPage.swift")
    found += sorted((TESTS / "Targets").glob("*.swift"))
    return found + [TESTS / "Harness" / name for name in ("Target.swift", "Input.swift", ENTRIES[kind])]


def binary(kind: str) -> Path:
    """Builds it, unless it is there and of these sources. One process at a time."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with open(SCRATCH / f"{kind}.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _binary(kind)


def _binary(kind: str) -> Path:
    # A copy, so that an editor cannot change them in the middle.
    copy = SCRATCH / f"{kind}-sources"
    shutil.rmtree(copy, ignore_errors=True)
    digest = hashlib.sha256(repr((COMMON, FLAGS[kind], compiler())).encode())
    copied = []
    for path in sources(kind):
        content = path.read_bytes()
        digest.update(str(path).encode() + content)
        copied.append(copy / path.relative_to(ROOT))
        copied[-1].parent.mkdir(parents=True, exist_ok=True)
        copied[-1].write_bytes(content)
    product, stamp = SCRATCH / kind, SCRATCH / f"{kind}.sha256"
    if product.exists() and stamp.exists() and stamp.read_text() == digest.hexdigest():
        return product
    compile_swift(kind, copied, copy, product)
    stamp.write_text(digest.hexdigest())
    return product


def compiler() -> str:
    return subprocess.run(["swiftc", "--version"], capture_output=True, text=True, check=True).stdout


def compile_swift(kind: str, files: list[Path], copy: Path, product: Path) -> None:
    new = product.with_suffix(".new")
    paths = ["-file-prefix-map", f"{copy}={ROOT}"]
    command = ["swiftc", *COMMON, *FLAGS[kind], *paths, *map(str, files), "-o", str(new)]
    # The compiler leaves files in the working directory.
    built = subprocess.run(command, cwd=SCRATCH, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        raise BuildFailed(f"{built.stdout}\nswiftc: exit code {built.returncode}")
    new.replace(product)


def targets() -> list[str]:
    """All but the canary."""
    return sorted(path.name for path in CORPORA.iterdir() if path.is_dir() and path.name != "canary")
