"""Where the time goes, for goals that are missed: perf(1) over the unstripped twin of the static binary."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .clients import NO_AES, ours, ours_by_tus
from .goals import Outcome
from .receiver import Receiver
from .tools import BUILD, PROFILER_PACKAGE, Tools, install

ROWS = 14
START_REPETITIONS = 50


def of_misses(outcomes: list[Outcome], tools: Tools, certificates) -> dict[str, list[tuple[float, str, str]]]:
    """By scenario: share of the samples in percent, object, symbol; those with the most samples first."""
    missed = dict.fromkeys(outcome.scenario for outcome in outcomes if not outcome.is_met)
    if missed:
        install([PROFILER_PACKAGE])
    return {scenario: _profile(scenario, tools, certificates) for scenario in missed}


def _profile(scenario: str, tools: Tools, certificates) -> list[tuple[float, str, str]]:
    data = BUILD / f"perf-{scenario}.data"
    is_start = scenario == "start"
    is_tus = scenario.startswith("tus")
    files = () if scenario in ("http", "tus") else (certificates.certificate, certificates.key)
    client = ours_by_tus(tools) if is_tus else ours(tools)
    with Receiver(tools.receiver, *files, decrypts=is_tus) as hive:
        send = client.arguments(tools.tiny if is_start else tools.recording, hive.url)
        send[0] = str(tools.unstripped)
        many = ["sh", "-c", f'for n in $(seq {START_REPETITIONS}); do "$@" || exit; done', "sh"] if is_start else []
        environment = ["env", *(f"{name}={value}" for name, value in NO_AES.items())] if scenario == "no-aes" else []
        subprocess.run(["perf", "record", "--quiet", "-F", "8000", "-o", data, "--", *environment, *many, *send],
                       check=True)
        for _ in range(START_REPETITIONS if is_start else 1):
            hive.upload()
    return read(data)


def read(data: Path) -> list[tuple[float, str, str]]:
    done = subprocess.run(
        ["perf", "report", "-i", data, "--stdio", "--no-children", "--comm", "gighive-upload", "--sort", "dso,symbol"],
        check=True, capture_output=True, text=True)
    rows = re.findall(r"^\s*([\d.]+)%\s+(\S+)\s+\[[.k]\]\s+(.*?)[\s-]*$", done.stdout, re.M)
    return [(float(share), dso.strip("[]"), symbol) for share, dso, symbol in rows[:ROWS]]
