"""Runs a target under libFuzzer for some time, and reports the outcome."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .build import CORPORA, ROOT, SCRATCH, TESTS

MEMORY_MB = 512
"""What one process may have, the sanitizer's share included."""
INPUT_SECONDS = 10
"""What one input may take; the slowest takes milliseconds."""
LONGEST_INPUT = {"response": 8192, "chunked": 10240, "record": 8192, "tus": 8192}
GRACE_SECONDS = 120

DONE = re.compile(r"#(\d+)\s+DONE\s+cov: (\d+) ft: (\d+) corp: (\d+)")
REASON = re.compile(r"Fatal error: .*|ERROR: (?:AddressSanitizer|libFuzzer): .*")


@dataclass
class Outcome:
    target: str
    executions: int = 0
    edges: int = 0
    features: int = 0
    inputs: int = 0
    reason: str | None = None
    """Why it failed."""
    reproducer: Path | None = None

    def line(self) -> str:
        figures = f"{self.target:12} {self.executions:>11,} {self.edges:>7,} {self.features:>9,} {self.inputs:>8,}"
        return f"{figures}  {'ok' if self.reason is None else 'FAILED'}"


HEADER = f"{'target':12} {'executions':>11} {'edges':>7} {'features':>9} {'inputs':>8}"


def environment(target: str) -> dict[str, str]:
    # A small quarantine: the corpus grows by thousands of inputs a second, and memory is a limit here.
    options = "quarantine_size_mb=16:detect_leaks=0"
    return os.environ | {"FUZZ_TARGET": target, "ASAN_OPTIONS": options, "SWIFT_BACKTRACE": "enable=no"}


def run(fuzzer: Path, target: str, seconds: int, seed: int) -> Outcome:
    """From the committed corpus, and from what was found before on this machine."""
    findings = SCRATCH / "findings" / target
    own = SCRATCH / "corpus" / target
    for folder in (findings, own):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        str(fuzzer), f"-max_total_time={seconds}", f"-seed={seed}", f"-rss_limit_mb={MEMORY_MB}", f"-timeout={INPUT_SECONDS}",
        f"-max_len={LONGEST_INPUT.get(target, 4096)}", f"-artifact_prefix={findings}/", "-reload=0",
        *dictionary(target), str(own), str(CORPORA / target),
    ]  # fmt: skip
    return execute(command, target, seconds + GRACE_SECONDS)


def dictionary(target: str) -> list[str]:
    path = TESTS / "Dictionaries" / f"{target}.dict"
    return [f"-dict={path}"] if path.exists() else []


def execute(command: list[str], target: str, seconds: int) -> Outcome:
    outcome = Outcome(target)
    try:
        ran = subprocess.run(
            command, env=environment(target), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        outcome.reason = f"libFuzzer has not ended in {seconds} s"
        return outcome
    text = ran.stderr.decode(errors="replace")
    if done := DONE.findall(text):
        outcome.executions, outcome.edges, outcome.features, outcome.inputs = map(int, done[-1])
    if ran.returncode != 0 or not done:
        reason = REASON.search(text)
        outcome.reason = reason[0] if reason else f"exit code {ran.returncode}: {text[-500:]}"
        if written := re.search(r"Test unit written to (\S+)", text):
            outcome.reproducer = Path(written[1])
    return outcome


def canary(fuzzer: Path) -> list[str]:
    """Whoever runs the targets has to notice what is wrong on purpose. Returns what was not noticed."""
    unnoticed = []
    folder = SCRATCH / "canary"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    options = [str(fuzzer), "-timeout=1", f"-artifact_prefix={folder}/"]
    words = {"trap": "Fatal error", "page": "SEGV", "heap": "heap-buffer-overflow", "loop": "timeout"}
    for name, word in words.items():
        outcome = execute([*options, str(CORPORA / "canary" / name)], "canary", 60)
        if word not in (outcome.reason or ""):
            unnoticed.append(f"{name}: {outcome.reason}")
    # And libFuzzer has to come upon it by itself.
    outcome = execute([*options, "-max_total_time=60"], "canary", 120)
    if outcome.reproducer is None or not outcome.reproducer.exists():
        unnoticed.append(f"nothing found in 60 s: {outcome.reason}")
    return unnoticed


def replay_command(outcome: Outcome) -> str:
    binary = SCRATCH / "replay"
    shown = binary.relative_to(ROOT) if binary.is_relative_to(ROOT) else binary
    return f"{shown} {outcome.target} {outcome.reproducer}"
