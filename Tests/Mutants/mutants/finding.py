"""Mutants: which there are, and which are drawn."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

AREAS = {
    "removal": ("Sources/Uploader/Removal", "Sources/UploadCore/Removal"),
    "state": ("Sources/Uploader/State",),
    "watch": ("Sources/gighive-upload/Watch", "Sources/UploadCore/Watch"),
    "core": ("Sources/UploadCore",),
    "packaging": (
        "Sources/Packaging/systemd/gighive-upload-watch.service",
        "Sources/Packaging/systemd/sysusers.conf",
        "Sources/Packaging/systemd/tmpfiles.conf",
        "Sources/Packaging/packages/debian/gighive-upload.postinst",
        "Sources/Packaging/packages/debian/gighive-upload.postrm",
        "Sources/Packaging/packages/debian/gighive-upload.prerm",
        "Sources/Packaging/openwrt/gighive-upload.init",
        "Sources/Packaging/openwrt/gighive-upload.postinst",
    ),
}
"""The longest path that a file begins with is its area."""

SHARES = {"removal": 60, "state": 60, "watch": 60, "core": 100, "packaging": 40}
"""How many are drawn from each."""

CLOSING = {"}", "fi", "done", "return 0"}
"""Lines of scripts without which there is no script."""


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    text: str
    """The mutant without its line number: what changed where."""
    start: int
    end: int
    """Of the piece in the file's bytes."""
    replacement: str
    """With `mutantIs(#)`; empty for a removed line of a file that is no Swift."""
    kind: str = "line"

    @property
    def key(self) -> str:
        return f"{self.file}: {self.text}"

    @property
    def is_swift(self) -> bool:
        return self.kind != "line"

    @property
    def area(self) -> str:
        places = [(len(place), area) for area, places in AREAS.items() for place in places if self.file.startswith(place)]
        return max(places)[1]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def compile_generator(directory: Path) -> Path:
    """With SwiftSyntax as the toolchain has it for macros."""
    source, program = Path(__file__).parents[1] / "generator.swift", directory / "generator"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        swiftc = shutil.which("swiftc")
        libraries = Path(swiftc).resolve().parents[1] / "lib/swift/host"
        new = directory / f"generator.{os.getpid()}"
        command = [swiftc, "-O", source, "-I", libraries, "-L", libraries, "-Xlinker", "-rpath", "-Xlinker", libraries, "-o", new]
        subprocess.run([*command, "-lSwiftSyntax", "-lSwiftParser", "-lSwiftOperators"], check=True)
        new.rename(program)
    return program


def find(root: Path, generator: Path, areas=AREAS) -> list[Mutant]:
    files = sorted({
        file.relative_to(root).as_posix()
        for area in areas for place in map(root.joinpath, AREAS[area])
        for file in (place.rglob("*.swift") if place.is_dir() else [place])
    })
    swift = [file for file in files if file.endswith(".swift")]
    found = in_swift(root, generator, swift) if swift else []
    for file in files:
        if not file.endswith(".swift"):
            found += lines(file, (root / file).read_bytes())
    return [mutant for mutant in numbered(found) if mutant.area in areas]


def in_swift(root: Path, generator: Path, files: list[str]) -> list[Mutant]:
    output = subprocess.run([generator, *files], cwd=root, check=True, capture_output=True).stdout
    sources = {file: (root / file).read_text().splitlines() for file in files}
    found = []
    for line in output.splitlines():
        one = json.loads(line)
        context = sources[one["file"]][one["line"] - 1].strip()
        piece = " ".join(one["piece"].split())
        change = one["change"] if one["kind"] in ("constant", "sync") else f"{piece}: {one['change']}"
        text = change if context == piece else f"{context} | {change}"
        found.append(Mutant(one["file"], one["line"], text, one["start"], one["end"], one["replacement"], one["kind"]))
    return found


def lines(file: str, content: bytes) -> list[Mutant]:
    """Each line that is no comment, except for those of debhelper. A line that goes on belongs to the next."""
    found, offset, begin = [], 0, None
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        begin = offset if begin is None else begin
        offset += len(line)
        if line.rstrip().endswith(b"\\"):
            continue
        text = " ".join(content[begin:offset].decode().split())
        counts = not text.startswith("#") or text == "#DEBHELPER#"
        if text and counts and text not in CLOSING:
            found.append(Mutant(file, number, f"{text}: removed", begin, offset, ""))
        begin = None
    return found


def numbered(mutants: list[Mutant]) -> list[Mutant]:
    """The second of the same text in a file gets a number."""
    seen: Counter = Counter()
    result = []
    for mutant in mutants:
        seen[mutant.key] += 1
        number = seen[mutant.key]
        text = mutant.text if number == 1 else f"{mutant.text} ({number})"
        result.append(Mutant(mutant.file, mutant.line, text, mutant.start, mutant.end, mutant.replacement, mutant.kind))
    return result


def draw(mutants: list[Mutant], seed: int, counts: dict[str, int], dropped: set[str]) -> list[Mutant]:
    """In an order that a change of the sources leaves alone. Of those that do not compile others take the place."""
    order = sorted(mutants, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
    left = Counter(counts)
    drawn = []
    for mutant in order:
        if mutant.key not in dropped and left[mutant.area] > 0:
            left[mutant.area] -= 1
            drawn.append(mutant)
    return sorted(drawn, key=lambda mutant: list(counts).index(mutant.area))


def shares(count: int | None, areas) -> dict[str, int]:
    """How many of each area; count: altogether."""
    total = sum(SHARES[area] for area in areas)
    return {area: SHARES[area] if count is None else -(-SHARES[area] * count // total) for area in areas}
