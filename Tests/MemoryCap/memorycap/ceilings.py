"""`--max-memory`: at every ceiling the program either delivers or ends with exit code 12 and a sentence, at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .rows import FAST, MIB, PROTOCOLS, SMALL, Protocol, Row
from .workbench import Workbench

MUST_DELIVER_FROM = 12 * MIB
LOWEST, STEP = 2 * MIB, MIB // 2
MEMORY_CEILING_EXIT_CODE = 12
AT_ONCE_SECONDS = 5.0


@dataclass(frozen=True)
class Ceilings:
    """A sweep with one protocol."""

    protocol: Protocol
    delivers_from: int
    """The lowest ceiling from which every run delivered, in bytes; 0 if none."""
    problems: tuple[str, ...]

    def __str__(self) -> str:
        lowest = f"delivers from {self.delivers_from / MIB:.1f} MiB" if self.delivers_from else "never delivers"
        return f"{self.protocol.name} with --max-memory {LOWEST // MIB} to {MUST_DELIVER_FROM // MIB} MiB: {lowest}"


def sweep(workbench: Workbench, binary: Path) -> list[Ceilings]:
    return [_sweep(workbench, binary, protocol) for protocol in PROTOCOLS]


def _sweep(workbench: Workbench, binary: Path, protocol: Protocol) -> Ceilings:
    row = Row(protocol, SMALL, FAST)
    launcher = workbench.launcher({}, None)
    problems, delivers_from = [], 0
    for ceiling in range(LOWEST, MUST_DELIVER_FROM + 1, STEP):
        extra = ("--max-memory", str(ceiling))
        measured, arrivals, _ = workbench.run(
            launcher, row, lambda port: workbench.uploader_command(binary, row, port, extra), is_limited=False
        )
        label = f"{ceiling / MIB:.1f} MiB"
        if measured.exit_code == 0:
            delivers_from = delivers_from or ceiling
            if [arrival.file_sha256 for arrival in arrivals.files] != workbench.digests(row):
                problems.append(f"{label}: says delivered, was not")
        elif measured.exit_code != MEMORY_CEILING_EXIT_CODE:
            problems.append(f"{label}: exit code {measured.exit_code} {measured.output.strip()[:120]}")
        elif not measured.output.strip().endswith("."):
            problems.append(f"{label}: exit code 12 without a sentence")
        if measured.exit_code != 0:
            delivers_from = 0
            if ceiling >= MUST_DELIVER_FROM:
                problems.append(f"{label}: does not deliver")
        if measured.seconds > AT_ONCE_SECONDS:
            problems.append(f"{label}: took {measured.seconds:.0f} s")
    return Ceilings(protocol, delivers_from, tuple(problems))
