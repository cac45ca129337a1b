"""Runs files through a target without libFuzzer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from . import build

SECONDS = 60


def run(*arguments: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [build.SCRATCH / "replay", *arguments],
        capture_output=True, timeout=SECONDS, env=os.environ | {"SWIFT_BACKTRACE": "enable=no"},
    )  # fmt: skip


def listed() -> dict[str, bool]:
    """All targets, and whether their results can be shown."""
    lines = run("--list").stdout.decode().splitlines()
    return {line.split()[0]: line.endswith(" show") for line in lines}


def findings(target: str, paths: list[Path]) -> list[str]:
    """The files that break a rule, with the rule. All at once if all is well, else one by one."""
    if run(target, *paths).returncode == 0:
        return []
    found = []
    for path in paths:
        ran = run(target, path)
        if ran.returncode != 0:
            said = ran.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {ran.returncode}"]
            found.append(f"{path}: {said[0]}")
    return found or [f"{target}: fails on all files together and on none alone"]


def shown(target: str, paths: list[Path]) -> list[str]:
    ran = run("--show", target, *paths)
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    return ran.stdout.decode().splitlines()
