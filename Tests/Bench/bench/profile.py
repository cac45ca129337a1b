"""Where the time goes, for goals that are missed: perf(1) over the unstripped twin of the static binary."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from digests import sha256
from machine import install

from .clients import NO_AES
from .goals import Outcome
from .receiver import Receiver
from .scenarios import BY_S3, BY_TUS, PLAIN, ours
from .tools import BUILD, PROFILER_PACKAGE, Tools

LEAST_SHARE = 5.0
"""Of the samples, in percent."""
START_REPETITIONS = 50


def of_misses(outcomes: list[Outcome], tools: Tools, certificates) -> dict[str, list[tuple[float, str, str]]]:
    """By scenario: share of the samples in percent, object, symbol; those with the most samples first."""
    missed = dict.fromkeys(outcome.scenario for outcome in outcomes if not outcome.is_met)
    if missed:
        install(PROFILER_PACKAGE)
    return {scenario: _profile(scenario, tools, certificates) for scenario in missed}


def _profile(scenario: str, tools: Tools, certificates) -> list[tuple[float, str, str]]:
    data = BUILD / f"perf-{scenario}.data"
    is_start = scenario == "start"
    files = () if scenario in PLAIN else (certificates.certificate, certificates.key)
    file = tools.tiny if is_start else tools.recording
    digests = {file.stat().st_size: sha256(file)}
    with Receiver(tools.receiver, *files, decrypts=scenario in (*BY_TUS, *BY_S3), digests=digests) as hive:
        client = ours(scenario, tools)
        send = client.arguments(file, hive.url)
        send[0] = str(tools.unstripped)
        many = ["sh", "-c", f'for n in $(seq {START_REPETITIONS}); do "$@" || exit; done', "sh"] if is_start else []
        variables = {**dict(client.environment), **(NO_AES if scenario == "no-aes" else {})}
        environment = ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
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
    return [(float(share), dso.strip("[]"), symbol) for share, dso, symbol in rows if float(share) >= LEAST_SHARE]
