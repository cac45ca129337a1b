"""Replays the corpora on an emulated 32-bit board, as Embedded Swift: an Int has 32 bits there."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from . import build

TRIPLE = "armv7-none-none-eabi"
SWIFT_FLAGS = [
    "-target", TRIPLE, "-enable-experimental-feature", "Embedded", "-wmo", "-Osize", "-Xfrontend", "-function-sections",
    "-parse-as-library", "-swift-version", "6", "-package-name", "gighive-upload", "-module-name", "Fuzz",
]  # fmt: skip
C_FLAGS = ["--target=armv7-linux-gnueabi", "-mfloat-abi=soft", "-static", "-fuse-ld=lld", "-Wl,--gc-sections"]
LIBRARIES = ["-lswiftUnicodeDataTables", "-latomic", "-lm"]


def binary(sysroot: Path) -> Path:
    folder = build.SCRATCH / "board"
    folder.mkdir(parents=True, exist_ok=True)
    product, module = folder / "replay", folder / "Fuzz.o"
    toolchain = Path(run(["readlink", "-f", run(["which", "swiftc"]).strip()]).strip()).parent
    library = toolchain.parent / "lib/swift/embedded" / TRIPLE
    files = [path for path in build.sources("board") if path.name != "GuardPage.swift"]
    run(["swiftc", *SWIFT_FLAGS, "-c", *files, "-o", module])
    link = [*C_FLAGS, f"--sysroot={sysroot}", build.TESTS / "Harness/board.c", module, f"-L{library}", *LIBRARIES]
    run([toolchain / "clang", *link, "-o", product])
    return product


def run(command: list) -> str:
    ran = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if ran.returncode != 0:
        raise build.BuildFailed(f"{ran.stdout}\n{command[0]}: exit code {ran.returncode}")
    return ran.stdout


def replay(sysroot: Path, emulator: str) -> list[str]:
    """Returns the files that break a rule, and the canary if it is not noticed."""
    program = [*shlex.split(emulator), str(binary(sysroot))]
    found = []
    for target in build.targets():
        found += broken(program, target, sorted((build.CORPORA / target).iterdir()))
    canary = build.CORPORA / "canary/trap"
    if broken(program, "canary", [canary]) != [f"canary: {canary}"]:
        found.append("the canary was not noticed")
    return found


def broken(program: list[str], target: str, paths: list[Path]) -> list[str]:
    """The first file that ends the program too early."""
    ran = subprocess.run([*program, target, *map(str, paths)], capture_output=True, text=True, timeout=600)
    if ran.returncode == 0:
        return []
    last = ran.stdout.splitlines()[-1:] or [f"exit code {ran.returncode}: {ran.stderr[-300:]}"]
    return [f"{target}: {last[0]}"]
