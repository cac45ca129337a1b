"""A copy of the tree with many mutants, each behind a number in the environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from .finding import Mutant

SWITCH = """
/// The C function below, which reads the number from the environment.
@_silgen_name("mutant_is") public func mutantIs(_ number: Int32) -> Bool
"""
READER = """
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static int32_t number;

__attribute__((constructor)) static void read_number(void) {
  const char *text = getenv("GIGHIVE_MUTANT");
  number = text ? atoi(text) : 0;
}

bool mutant_is(int32_t other) { return other == number; }
"""
ADDED = {
    "Sources/CShims/mutant.c": READER,
    "Sources/UploadCore/Mutant.swift": SWITCH,
    "Sources/Uploader/Mutant.swift": SWITCH,
    "Sources/gighive-upload/Mutant.swift": SWITCH,
}
ENVIRONMENT = 'environment = {"PATH": os.environ["PATH"], '
"""Where the command-line tests clean it."""
ERROR = re.compile(r"^(/\S+?\.swift):([0-9]+):[0-9]+: error: (.*)$", re.MULTILINE)
BUILD = ["swift", "build", "--build-tests"]


class Tree:
    def __init__(self, root: Path, directory: Path):
        self.root = root
        self.path = directory / "tree"

    def write(self, mutants: list[Mutant] = ()) -> None:
        """Makes it the copy with these mutants. What has not changed keeps its time."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.root, check=True,
            capture_output=True).stdout
        files = {name for name in os.fsdecode(listed).split("\0") if name and os.path.lexists(self.root / name)}
        for mutant in mutants:
            assert mutant.file in files, mutant
        for name in files | set(ADDED):
            content = ADDED[name].encode() if name in ADDED else self._source(name)
            self._put(self.path / name, content, self.root / name)
        for numbers in group(mutants).values():
            file = numbers[0][1].file
            self._put(self.path / file, apply((self.root / file).read_bytes(), numbers), self.root / file)
        for directory, folders, names in os.walk(self.path):
            folders[:] = [folder for folder in folders if folder not in (".build", "dist", ".git")]
            for name in names:
                file = Path(directory, name)
                if file.relative_to(self.path).as_posix() not in files | set(ADDED):
                    file.unlink()
        # What the tests of the packages read.
        for name in ("dist", ".build/components"):
            link = self.path / name
            if not link.is_symlink() and (self.root / name).exists():
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(self.root / name)

    def _source(self, name: str) -> bytes:
        path = self.root / name
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        if name == "Tests/CLITests/program.py":
            text = content.decode()
            assert ENVIRONMENT in text
            more = ENVIRONMENT + '"GIGHIVE_MUTANT": os.environ.get("GIGHIVE_MUTANT"), '
            content = text.replace(ENVIRONMENT, more).encode()
        return content

    @staticmethod
    def _put(path: Path, content: bytes, source: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            if not path.is_symlink():
                path.symlink_to(os.fsdecode(content))
        elif not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
            if source.exists():
                path.chmod(source.stat().st_mode)

    def build(self, mutants: list[Mutant]) -> tuple[dict[str, int], set[str]]:
        """The number of each mutant, and the keys of those that do not compile."""
        mutants, dropped = list(mutants), set()
        while True:
            self.write(mutants)
            done = subprocess.run(BUILD, cwd=self.path, capture_output=True, text=True, errors="replace")
            if done.returncode == 0:
                return {mutant.key: number for number, mutant in enumerate(mutants, 1)}, dropped
            wrong = to_blame(mutants, self.path, done.stdout + done.stderr)
            if not wrong:
                sys.exit(f"the copy does not compile in {self.path}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
            dropped |= {mutant.key for mutant in wrong}
            mutants = [mutant for mutant in mutants if mutant not in wrong]


def group(mutants) -> dict[str, list[tuple[int, Mutant]]]:
    files: dict[str, list] = {}
    for number, mutant in enumerate(mutants, 1):
        files.setdefault(mutant.file, []).append((number, mutant))
    return files


def apply(source: bytes, numbered: list[tuple[int, Mutant]]) -> bytes:
    for number, mutant in sorted(numbered, key=lambda one: -one[1].start):
        replacement = mutant.replacement.replace("mutantIs(#)", f"mutantIs({number})").encode()
        source = source[:mutant.start] + replacement + source[mutant.end:]
    return source


def to_blame(mutants: list[Mutant], tree: Path, output: str) -> set[Mutant]:
    """The mutants that errors of the compiler are about: on that line, or the last one before it."""
    wrong = set()
    for path, line, _ in ERROR.findall(output):
        here = [mutant for mutant in mutants if tree / mutant.file == Path(path)]
        before = [mutant for mutant in here if mutant.line <= int(line)] or here
        if before:
            nearest = max(mutant.line for mutant in before) if before[0].line <= int(line) else min(m.line for m in before)
            wrong |= {mutant for mutant in before if mutant.line == nearest}
    return wrong


def batch(mutants: list[Mutant], size: int) -> list[Mutant]:
    """The first ones that can be compiled together: none in another, and one on a line, so that an error has one to blame."""
    chosen: list[Mutant] = []
    for mutant in mutants:
        if len(chosen) == size:
            break
        if not any(
            other.file == mutant.file
            and (other.line == mutant.line or (other.start < mutant.end and mutant.start < other.end)) for other in chosen
        ):
            chosen.append(mutant)
    return chosen
