"""The chaos harness: see README.md."""

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
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chaos import round as rounds  # noqa: E402
from chaos import canary, summary  # noqa: E402
from chaos.plan import FILE_BYTES  # noqa: E402
from chaos.round import Outcome, Setting  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build/chaos"
ROUNDS, QUICK_ROUNDS = 200, 20
MEMORY_FOLDER = Path("/dev/shm")
FILES_A_ROUND = 4
"""The file, the stored part, the spooled part, and a reserve."""
MOST_FINDINGS = 6
"""That are printed of a round, unless it is replayed."""
PR_SET_PDEATHSIG = 1


def main() -> int:
    options = parse()
    # So that files and processes are cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="chaos-", dir=options.folder or roomy_folder(options)) as name:
        folder = Path(name)
        # A copy, so that a concurrent build cannot replace it.
        binary = Path(shutil.copy(options.binary, folder))
        base = folder / "base"
        base.write_bytes(random.Random(0).randbytes(options.size))
        setting = Setting(binary, folder, base, options.size)
        began = time.monotonic()
        if options.replay is not None:
            outcomes, unnoticed = [rounds.run(setting, options.replay)], []
            print(*outcomes[0].log, sep="\n", end=f"\n\n{summary.HEADER}\n")
            report(outcomes[0], options)
        else:
            outcomes, unnoticed = run_all(setting, options)
        print(f"\n{summary.table(outcomes, time.monotonic() - began)}")
    failed = [outcome for outcome in outcomes if not outcome.has_passed]
    for outcome in failed:
        print(f"seed {outcome.plan.seed} FAILED; again: {replay_command(outcome, options)}")
    print(*(f"canary NOT CAUGHT: {reason}" for reason in unnoticed), sep="\n", end="\n" if unnoticed else "")
    print(f"{len(outcomes) - len(failed)} passed, {len(failed) + len(unnoticed)} failed", flush=True)
    return 1 if failed or unnoticed else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 Tests/Chaos", description=__doc__)
    default = Path(os.environ.get("GIGHIVE_UPLOAD") or ROOT / "dist/gighive-upload-x86_64")
    cores = os.cpu_count() or 2
    option = parser.add_argument
    option("--binary", type=Path, default=default, help="the program under test (%(default)s)")
    option("--rounds", type=int, help=f"how many ({ROUNDS})")
    option("--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds, for CI")
    option("--seed", type=int, default=1, help="the first round's seed; the next ones count up (%(default)s)")
    option("--replay", type=int, metavar="SEED", help="this round only, with all that happens in it")
    option("--jobs", type=int, default=2 * cores, help="rounds at a time; mostly they wait (%(default)s)")
    option("--size", type=int, default=FILE_BYTES, help="bytes of the file (%(default)s)")
    option("--folder", type=Path, help="where the files go (memory if there is room, else the temporary directory)")
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    if not options.binary.exists():
        parser.error(f"{options.binary} does not exist: run `make static`")
    return options


def roomy_folder(options: argparse.Namespace) -> str | None:
    needed = (options.jobs * FILES_A_ROUND + 1) * options.size
    if MEMORY_FOLDER.is_dir() and os.access(MEMORY_FOLDER, os.W_OK):
        if shutil.disk_usage(MEMORY_FOLDER).free > 2 * needed and available_memory() > 2 * needed:
            return str(MEMORY_FOLDER)
    return None


def available_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def run_all(setting: Setting, options: argparse.Namespace) -> tuple[list[Outcome], list[str]]:
    """Returns the rounds, and which canaries went unnoticed."""
    print(summary.HEADER, flush=True)
    outcomes = []
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(options.jobs, context, initializer=end_with_parent) as pool:
        seeds = range(options.seed, options.seed + options.rounds)
        for done in as_completed([pool.submit(rounds.run, setting, seed) for seed in seeds]):
            outcomes.append(done.result())
            report(outcomes[-1], options)
        examined = list(canary.examine(pool, setting))
    print(f"canaries: {len(examined)}, right and wrong programs")
    return outcomes, [f"{one.name}: {reason}" for one, reason in examined if reason]


def end_with_parent() -> None:
    """A round ends its server and client itself. This ends the round if nothing waits for it any more."""
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
        print(f"        again: {replay_command(outcome, options)}")
        print(f"        what happened: {keep_log(outcome)}", flush=True)


def keep_log(outcome: Outcome) -> Path:
    """Nothing happens twice in quite the same way: who waits for what is the kernel's choice."""
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"seed-{outcome.plan.seed}.log"
    path.write_text("\n".join([*outcome.log, *map(str, outcome.findings)]) + "\n")
    return path


def replay_command(outcome: Outcome, options: argparse.Namespace) -> str:
    size = f" --size {options.size}" if options.size != FILE_BYTES else ""
    return f"python3 Tests/Chaos --binary {options.binary}{size} --replay {outcome.plan.seed}"


if __name__ == "__main__":
    sys.exit(main())
