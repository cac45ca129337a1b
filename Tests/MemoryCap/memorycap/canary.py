"""The harness proves itself: a copy of the program that leaks at each read, of the file or of an answer, must be caught, and for
that reason."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from . import console, elf, rules
from .rows import FAST, HTTP, HUGE, MEDIUM, SMALL_CHUNK, TUS_HTTP, Row
from .rules import Rule
from .workbench import TESTS, Workbench

LEAKS = {
    "Sources/CShims/File/system.c": (
        "int64_t shim_pread(int32_t descriptor, void *buffer, size_t length, int64_t offset) {\n",
        1 << 10,
    ),
    "Sources/CShims/Connection/network.c": (
        "int64_t shim_receive(int32_t descriptor, void *buffer, size_t length) {\n",
        4 << 10,
    ),
}
"""Files, where in them a leak is planted, and its bytes. An answer leaks more than a read of the file: how often an upload of few
requests reads its file depends on the time, and what that leaks must not hide what many requests do."""
LEAK = "    static void *volatile canary; canary = memset(malloc({bytes}), 1, {bytes});\n"
INCLUDES = "#include <stdlib.h>\n#include <string.h>\n"

MAKES_OWN = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MAKEFILES")
LEFT_OUT = shutil.ignore_patterns(".build", "dist", ".git", "__pycache__", "Tests", "docs")


class Failed(Exception):
    """The canary could not be built."""


def build(folder: Path, binary_name: str) -> tuple[Path, Path]:
    """Copies the tree, plants the leaks, builds. Returns the binary and its twin."""
    tree = folder / "canary"
    shutil.copytree(TESTS.parent, tree, ignore=LEFT_OUT)
    (tree / "Tests").symlink_to(TESTS)
    for name, (place, bytes) in LEAKS.items():
        source = tree / name
        text = source.read_text()
        if text.count(place) != 1:
            raise Failed(f"the leak cannot be planted: {name} has changed. Adapt {Path(__file__).name}.")
        source.write_text(INCLUDES + text.replace(place, place + LEAK.format(bytes=bytes)))
    # OpenSSL is that of the tree itself, which is built already.
    command = ["nice", "make", "-C", tree, "static", f"OPENSSL_DIRECTORY={TESTS.parent / '.build/openssl'}"]
    # Not as a part of the make that runs us: its variables would point into the tree itself.
    environment = {name: value for name, value in os.environ.items() if name not in MAKES_OWN}
    built = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if built.returncode != 0:
        raise Failed("the canary does not build:\n" + built.stdout[-2000:])
    return tree / "dist" / binary_name, unstripped_twin(tree)


def unstripped_twin(tree: Path) -> Path:
    return tree / ".build/embedded-x86_64/release/gighive-upload"


def examine(workbench: Workbench, binary: Path, unstripped: Path) -> list[str]:
    """Runs the leaking build. Returns what the harness failed to notice: nothing, if it can be trusted."""
    breakpoints, code = elf.allocators(binary, unstripped)
    launcher = workbench.launcher(breakpoints, code)

    def run(row: Row, **limit) -> rules.Outcome:
        outcome = rules.Outcome(
            row, *workbench.run(launcher, row, lambda port: workbench.uploader_command(binary, row, port), **limit)
        )
        outcome.findings = rules.judge(outcome, workbench.digests(row))
        console.print_outcome(outcome, code)
        return outcome

    # Without the kernel's limit, so that it is the measurement that has to notice.
    outcomes = [run(Row(HTTP, size, FAST), is_limited=False) for size in (MEDIUM, HUGE)]
    unnoticed = []
    for outcome in outcomes:
        if not _blames_the_leak(outcome, code):
            unnoticed.append(f"{outcome.row.name}: the allocation in shim_pread was not noticed")
    for growth in rules.growths(outcomes):
        console.print_growth(growth)
        if growth.finding is None:
            unnoticed.append("the growth was not noticed")
    # Many small requests have no steady state, so only the growth reveals the leak.
    plain, chunked = Row(TUS_HTTP, MEDIUM), Row(TUS_HTTP, MEDIUM, chunk=SMALL_CHUNK)
    for growth in rules.growths([run(plain, is_limited=False), run(chunked, is_limited=False)]):
        console.print_growth(growth)
        if growth.finding is None:
            unnoticed.append("the growth with the number of requests was not noticed")
    # And with it, to see that the kernel's limit does hold.
    limited = run(Row(HTTP, HUGE, FAST))
    if not any(finding.rule is Rule.EXIT_CODE for finding in limited.findings):
        unnoticed.append("it delivered under the kernel's limit")
    return unnoticed


def _blames_the_leak(outcome: rules.Outcome, code: elf.Code) -> bool:
    """An allocation in steady state, with shim_pread as the caller."""
    callers = [code.name_of(addresses[0]) for _, addresses in outcome.measured.stacks if addresses]
    is_found = any(finding.rule is Rule.ALLOCATION for finding in outcome.findings)
    return is_found and any(caller == "shim_pread" for caller in callers)
