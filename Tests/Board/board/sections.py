"""The harness's four parts: each measures, judges, and gives what the document needs as plain values."""

from __future__ import annotations

import dataclasses
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import conditions, cuts, links, memory, story, writelog
from .machine import AMD64, ARM64, ARMHF, Board, Machine

MIB = 1 << 20


QUICK_BOARD = dataclasses.replace(ARMHF, program="armv6")
"""The binary for ARMv6 is the only one for ARM that CI builds."""


@dataclass
class Setting:
    binaries: Path
    folder: Path
    is_quick: bool
    cuts: int
    """How many power cuts, over all file systems, of deliveries and again of removals, and a tenth of them while a recording is made."""
    seed: int

    def program(self, board: Board) -> Path:
        return self.binaries / f"gighive-upload-{board.program}"

    def machine(self, board: Board) -> Machine:
        return Machine(board, self.program(board), self.folder)

    @property
    def arm_boards(self) -> tuple[Board, ...]:
        return (QUICK_BOARD,) if self.is_quick else (ARM64, ARMHF)

    def place(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))


@dataclass
class Section:
    """Rows for the table, and what was wrong."""

    rows: list[list[str]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    passed: int = 0
    failed: int = 0

    def add(self, row: list[str], findings: list[str]) -> None:
        self.rows.append(row)
        self.findings += findings
        self.passed += not findings
        self.failed += bool(findings)
        print("  ".join(row), " FAILED" if findings else " ok", *(f"\n    {finding}" for finding in findings), flush=True)


def run_memory(setting: Setting) -> Section:
    section = Section()
    for board in setting.arm_boards:
        size = 12 * MIB if setting.is_quick else 1000 * MIB if board is ARM64 else 256 * MIB
        disk, sha256 = memory.make_disk(setting.place(), size, 16 * MIB)
        for upload in memory.measure(setting.machine(board), disk, size, sha256, setting.is_quick):
            smallest = f"{upload.smallest / 1024:.1f} MiB" if upload.smallest else "–"
            row = [board.name, upload.row.name, f"{size >> 20} MiB", f"{upload.hwm / 1024:.1f} MiB",
                   f"{upload.peak / 1024:.1f} MiB", smallest]  # fmt: skip
            section.add(row, upload.findings)
        disk.unlink()
    return section


SHARES = {"ext4": (ARM64, 0.4), "vfat": (ARM64, 0.4), "f2fs": (ARMHF, 0.2)}
"""Which board has which file system, and its share of the cuts. Only the armhf kernel has F2FS."""
PLOTS = {"deliveries": cuts.DELIVERIES, "removals": cuts.REMOVALS, "live": cuts.LIVE}
QUICK_CUTS = 10
"""Of each file system and plot."""


def run_cuts(setting: Setting) -> Section:
    """The file systems side by side: a guest waits most of the time, for the server and for its turn."""
    section = Section()
    names = [(plot, name) for plot in PLOTS for name in SHARES if not (setting.is_quick and name == "f2fs")]
    with ThreadPoolExecutor(len(SHARES)) as pool:
        for rows in pool.map(lambda pair: cut(setting, *pair), names):
            for row, findings in rows:
                section.add(row, findings)
    return section


def cut(setting: Setting, plot_name: str, name: str) -> list[tuple[list[str], list[str]]]:
    """The row of a file system, and for ext4 that of the canary, each with what was wrong."""
    plot, (board, share) = PLOTS[plot_name], SHARES[name]
    board = QUICK_BOARD if setting.is_quick else board
    system, folder = story.FILE_SYSTEMS[name], setting.place()
    system = dataclasses.replace(system, mebibytes=system.mebibytes + plot.mebibytes)
    machine = setting.machine(board)
    told = story.record(machine, plot.job, plot.is_told, system, folder)
    count = max(3, int((QUICK_CUTS if setting.is_quick else setting.cuts * share) * plot.share))
    chosen = writelog.choose(told.entries, count, setting.seed, max(1, told.copied))
    replayed = cuts.replay(machine, plot, told, chosen, system, folder)
    row = [f"{name}, {board.name}, {plot_name}", str(replayed.entries), str(replayed.flushes), str(len(chosen)),
           str(replayed.kinds["between"]), str(replayed.uploads), str(replayed.resumed),
           str(replayed.repaired)]  # fmt: skip
    rows = [(row, told.problems + replayed.findings)]
    if name == "ext4":
        caught = cuts.canary(machine, plot, told, system, folder, setting.seed)
        found = [] if caught else ["nothing found"]
        rows.append(([f"canary of {plot_name}: a disk that forgets flushes: {caught} findings"], found))
    return rows


def run_links(setting: Setting) -> Section:
    return run_plan(setting, links.QUICK if setting.is_quick else links.FULL)


def run_connections(setting: Setting) -> Section:
    return run_plan(setting, links.CONNECTIONS)


def run_plan(setting: Setting, plan: links.Plan) -> Section:
    section = Section()
    # One processor, whose instructions are the guest's clock.
    machine = setting.machine(dataclasses.replace(AMD64, options=("-cpu", "max", "-smp", "1")))
    result = links.measure(machine, setting.program(AMD64), plan, setting.place())
    others = list(result.findings)
    for one in result.measurements:
        findings = [finding for finding in result.findings if finding.startswith(one.name)]
        others = [finding for finding in others if finding not in findings]
        program = links.PROGRAMS[one.program]
        section.add([one.link, one.congestion, f"{one.bytes >> 20} MiB", program, f"{one.seconds:.1f} s", f"{one.ratio:.2f}"], findings)
    section.findings += others
    section.failed += bool(others)
    return section


def run_conditions(setting: Setting) -> Section:
    section = Section()
    for board in setting.arm_boards:
        for one in conditions.run_all(setting.machine(board), setting.place(), not setting.is_quick):
            section.add([one.board, one.name, one.outcome], one.findings)
    return section


SECTIONS = {
    "memory": run_memory, "cuts": run_cuts, "conditions": run_conditions, "links": run_links, "connections": run_connections,
}
