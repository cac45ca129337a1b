"""The memory-cap harness: see README.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))

import page_cache  # noqa: E402
from memorycap import canary, ceilings, console, document, elf, picture, rows, rules  # noqa: E402
from memorycap.workbench import TESTS, Workbench  # noqa: E402

DOCS = TESTS.parent / "docs" / "measured"


class Tally:
    """Counts what a test runner would count."""

    def __init__(self):
        self.passed = self.failed = 0

    def add(self, has_passed: bool) -> None:
        self.passed += has_passed
        self.failed += not has_passed


def main() -> int:
    options = parse()
    began = time.monotonic()
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="memorycap-") as folder:
        workbench = Workbench(Path(folder))
        # A copy, so that a concurrent build cannot replace it.
        options.binary = page_cache.copy(options.binary, Path(folder) / options.binary.name)
        try:
            breakpoints, code = elf.allocators(options.binary, options.symbols or canary.unstripped_twin(TESTS.parent))
        except elf.NotUsable as reason:
            print(f"memory cap: {reason}")
            return 2
        print_conditions(options.binary, workbench, breakpoints)
        outcomes, growths, swept = [], [], []
        if not options.canary:
            runner = Runner(options.binary, workbench, workbench.launcher(breakpoints, code), code, tally)
            print(console.HEADER, flush=True)
            chosen = rows.quick() if options.quick else rows.full()
            outcomes = [runner.run(row) for row in chosen if not options.only or options.only in row.name]
            growths = [runner.settle(growth) for growth in rules.growths(outcomes)]
        if not options.canary and not options.only:
            swept = run_ceilings(workbench, options.binary, tally)
        is_canary_caught = not options.only and not options.quick and run_canary(workbench, options.binary.name, tally)
        if options.write_docs:
            print("\nThe picture: the same upload by gighive-upload and by curl, without breakpoints.", flush=True)
            traces = picture.record(workbench, options.binary)
            (DOCS / "memory.svg").write_text(picture.draw(traces))
            report = document.Report(options.binary, workbench, outcomes, growths, swept, is_canary_caught, traces)
            (DOCS / "memory.md").write_text(document.text(report))
    print(f"\n{time.monotonic() - began:.0f} s")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 Tests/MemoryCap", description=__doc__)
    default = TESTS.parent / "dist/gighive-upload-x86_64"
    parser.add_argument("--binary", type=Path, default=default, help="the shipped binary (%(default)s)")
    parser.add_argument("--symbols", type=Path, help="the file that it was stripped from (below .build)")
    parser.add_argument("--quick", action="store_true", help="the rows that matter most and no canary, for CI")
    parser.add_argument("--canary", action="store_true", help="only the proof that a leaking build is caught")
    parser.add_argument("--only", metavar="TEXT", help="only the rows whose names have this in them, and no canary")
    parser.add_argument("--write-docs", action="store_true", help="write docs/measured/memory.md and docs/measured/memory.svg")
    options = parser.parse_args()
    if options.write_docs and (options.canary or options.only):
        parser.error("--write-docs needs the rows that --canary and --only leave out")
    if not options.binary.exists():
        parser.error(f"{options.binary} does not exist: run `make static`")
    return options


def print_conditions(binary: Path, workbench: Workbench, breakpoints: dict[str, int]) -> None:
    print(f"{binary.name}: {binary.stat().st_size} bytes, one process, loopback, really decrypted and hashed")
    print(f"limit: RLIMIT_AS {rows.ADDRESS_SPACE_BYTES // rows.MIB} MiB on everything mapped")
    if workbench.cgroup_parent:
        print(f"limit: cgroup v2 memory.max {rows.CGROUP_BYTES // rows.MB} MB, below {workbench.cgroup_parent}")
    else:
        print(f"limit: NO cgroup v2 memory.max on this machine ({workbench.cgroup_reason})")
    print(f"counted: {', '.join(breakpoints)}\n", flush=True)


@dataclass
class Runner:
    """Runs rows, prints what they took, and counts them."""

    binary: Path
    workbench: Workbench
    launcher: object
    code: elf.Code
    tally: Tally

    def run(self, row: rows.Row) -> rules.Outcome:
        command = lambda port: self.workbench.uploader_command(self.binary, row, port)  # noqa: E731
        outcome = rules.Outcome(row, *self.workbench.run(self.launcher, row, command))
        outcome.findings = rules.judge(outcome, self.workbench.digests(row))
        console.print_outcome(outcome, self.code)
        self.tally.add(outcome.has_passed)
        return outcome

    def settle(self, growth: rules.Growth) -> rules.Growth:
        """The growth, measured again if it is too much: a leak is there each time, the kernel's imprecision is not."""
        for _ in range(rows.GROWTH_REPEATS):
            if growth.finding is None:
                break
            print(f"{growth.finding}: measured again", flush=True)
            [growth] = rules.growths([self.run(growth.row.smaller), self.run(growth.row)])
        console.print_growth(growth)
        self.tally.add(growth.finding is None)
        return growth


def run_ceilings(workbench: Workbench, binary: Path, tally: Tally) -> list[ceilings.Ceilings]:
    swept = ceilings.sweep(workbench, binary)
    for one in swept:
        print(f"{one}  {'FAILED' if one.problems else 'ok'}", *one.problems, sep="\n    ", flush=True)
        tally.add(not one.problems)
    return swept


def run_canary(workbench: Workbench, name: str, tally: Tally) -> bool:
    print("\nThe canary, a build that leaks at each read: every line has to fail.", flush=True)
    try:
        unnoticed = canary.examine(workbench, *canary.build(workbench.folder, name))
    except canary.Failed as reason:
        unnoticed = [str(reason)]
    print("canary:", "caught, for the right reasons  ok" if not unnoticed else "NOT CAUGHT  FAILED")
    for reason in unnoticed:
        print(f"    {reason}")
    tally.add(not unnoticed)
    return not unnoticed


if __name__ == "__main__":
    sys.exit(main())
