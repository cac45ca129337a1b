"""The station harness: see README.md."""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))

from station import canary, summary  # noqa: E402
from station.plan import EVERY, FILE_BYTES, LIVE_AT, Plan, WatchPlan, plan_of  # noqa: E402
from station.rules import Finding, Observation, Rule, judge_live  # noqa: E402
from station.summary import Outcome  # noqa: E402
from station.upload import UploadRound  # noqa: E402
from station.watch import WatchRound, why_no_fat  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build/station"
ROUNDS, QUICK_ROUNDS = 200, 20
MEMORY_FOLDER = Path("/dev/shm")
FILES_A_ROUND = 5
"""The file, the stored part, the spooled part, and a reserve; or what ten recorders make, twice."""
MOST_FINDINGS = 6
"""That are printed of a round, unless it is replayed."""
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Setting:
    """What all rounds share."""

    binary: Path
    folder: Path
    base: Path
    """The file that every round with one file changes a little."""

    def play(self, seed: int) -> Outcome:
        return self.play_plan(plan_of(seed))

    def play_plan(self, plan: Plan, spoiled: canary.Canary | None = None, meddle: Callable = lambda run: None) -> Outcome:
        """Never raises: what goes wrong here is a finding."""
        began, log, seen, figures = time.monotonic(), [], Observation(), {}
        try:
            with tempfile.TemporaryDirectory(prefix=f"round-{plan.seed}-", dir=self.folder) as name:
                folder, binary = Path(name), self.binary
                if spoiled and spoiled.spoiled:
                    spoiled.script(binary, folder / "program")
                    binary = folder / "program"
                log.append(f"seed {plan.seed}: {vars(plan)}")
                if isinstance(plan, WatchPlan):
                    run = WatchRound(binary, plan, folder, log.append)
                    seen, findings = run.seen, run.play(meddle)
                    figures = run.figures
                else:
                    run = UploadRound(binary, self.base, plan, folder, log.append)
                    seen, findings = run.seen, run.play()
        except Exception:
            findings = [*seen.found, Finding(Rule.HARNESS, traceback.format_exc())]
        return Outcome(plan, time.monotonic() - began, seen, figures, findings, log)

    def play_canary(self, number: int) -> str:
        """Which one, if it went unnoticed."""
        one = canary.CANARIES[number]
        outcome = self.play_plan(one.plan(), one, one.meddle)
        missed = canary.unnoticed(outcome.findings + judge_live([outcome.seen]), one.rules)
        return f"{one.name}: {missed}" if missed else ""


def main() -> int:
    options = parse()
    # So that files and processes are cleared away; and what is ignored stays ignored in a watcher.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="station-", dir=options.folder or roomy_folder(options)) as name:
        folder = Path(name)
        # A copy, so that a concurrent build cannot replace it.
        setting = Setting(Path(shutil.copy(options.binary, folder)), folder, folder / "base")
        setting.base.write_bytes(random.Random(0).randbytes(FILE_BYTES))
        print(f"left out: a tree on FAT, because {why_no_fat()}\n" if why_no_fat() else "", end="")
        print(summary.HEADER, flush=True)
        began = time.monotonic()
        if options.replay is not None:
            outcomes, unnoticed = [setting.play(options.replay)], []
            report(outcomes[0], options)
            print(*outcomes[0].log, sep="\n")
        else:
            outcomes, unnoticed = run_all(setting, options)
        print(f"\n{summary.table(outcomes, time.monotonic() - began)}")
    failed = [outcome for outcome in outcomes if outcome.findings]
    for outcome in failed:
        first = "; ".join(map(str, outcome.findings[:MOST_FINDINGS]))
        print(f"seed {outcome.plan.seed} FAILED: {first}; again: {replay_command(outcome, options)}")
    found = judge_live([outcome.seen for outcome in outcomes])
    print(*found, sep="\n", end="\n" if found else "")
    for reason in unnoticed:
        print(f"canary NOT CAUGHT: {reason}")
    failures = len(failed) + len(found) + len(unnoticed)
    print(f"{len(outcomes) - len(failed)} passed, {failures} failed", flush=True)
    return 1 if failures else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 Tests/Station", description=__doc__)
    default = Path(os.environ.get("GIGHIVE_UPLOAD") or ROOT / "dist/gighive-upload-x86_64")
    option = parser.add_argument
    option("--binary", type=Path, default=default, help="the program under test (%(default)s)")
    option("--rounds", type=int, help=f"how many ({ROUNDS})")
    option("--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds, for CI")
    option("--seed", type=int, default=1, help="the first round's seed; the next ones count up (%(default)s)")
    option("--replay", type=int, metavar="SEED", help="this round only, with all that happens in it")
    option("--jobs", type=int, default=3 * (os.cpu_count() or 2), help="rounds at a time; mostly they wait (%(default)s)")
    option("--folder", type=Path, help="where the files go (memory if there is room, else the temporary directory)")
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    if not options.binary.exists():
        parser.error(f"{options.binary} does not exist: run `make static`")
    return options


def roomy_folder(options: argparse.Namespace) -> str | None:
    needed = 2 * (options.jobs * FILES_A_ROUND + 1) * FILE_BYTES
    if not MEMORY_FOLDER.is_dir() or not os.access(MEMORY_FOLDER, os.W_OK):
        return None
    lines = Path("/proc/meminfo").read_text().splitlines()
    available = next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)
    return str(MEMORY_FOLDER) if min(available, shutil.disk_usage(MEMORY_FOLDER).free) > needed else None


def run_all(setting: Setting, options: argparse.Namespace) -> tuple[list[Outcome], list[str]]:
    """Returns the rounds, and which canaries went unnoticed."""
    outcomes = []
    # An error ends what is still running.
    with multiprocessing.get_context("fork").Pool(options.jobs, initializer=end_with_parent) as pool:
        # Those with a watcher take longest.
        seeds = sorted(range(options.seed, options.seed + options.rounds), key=lambda seed: seed % EVERY not in (0, LIVE_AT))
        running = pool.imap_unordered(setting.play, seeds)
        canaries = pool.map_async(setting.play_canary, range(len(canary.CANARIES)), chunksize=1)
        for outcome in running:
            outcomes.append(outcome)
            report(outcome, options)
        unnoticed = [reason for reason in canaries.get() if reason]
        # A worker that SIGTERM interrupts between two tasks may not end.
        pool.close()
        pool.join()
    print(f"canaries: {len(canary.CANARIES)}, {len(canary.CANARIES) - len(unnoticed)} as they should be")
    return outcomes, unnoticed


def end_with_parent() -> None:
    """A round ends its server and its program itself. This ends the round if nothing waits for it any more."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def report(outcome: Outcome, options: argparse.Namespace) -> None:
    print(summary.line(outcome), flush=True)
    shown = outcome.findings if options.replay is not None else outcome.findings[:MOST_FINDINGS]
    for finding in shown:
        print(f"        {finding}", flush=True)
    if len(shown) < len(outcome.findings):
        print(f"        and {len(outcome.findings) - len(shown)} more", flush=True)
    if outcome.findings and options.replay is None:
        # Nothing happens twice in quite the same way: who waits for what is the kernel's choice.
        LOGS.mkdir(parents=True, exist_ok=True)
        path = LOGS / f"seed-{outcome.plan.seed}.log"
        path.write_text("\n".join([*outcome.log, *map(str, outcome.findings)]) + "\n")
        print(f"        again: {replay_command(outcome, options)}")
        print(f"        what happened: {path}", flush=True)


def replay_command(outcome: Outcome, options: argparse.Namespace) -> str:
    return f"python3 Tests/Station --binary {options.binary} --replay {outcome.plan.seed}"


if __name__ == "__main__":
    sys.exit(main())
