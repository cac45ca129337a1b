"""The fuzzer: see README.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzz import board, build, campaign  # noqa: E402


def main() -> int:
    options = parse()
    if options.board:
        return replay_on_board(options)
    began = time.monotonic()
    try:
        if options.build:
            build.binary(options.build)
            return 0
        fuzzer = build.binary("fuzzer")
    except build.BuildFailed as reason:
        print(reason)
        return 2
    print(f"built in {time.monotonic() - began:.0f} s; {len(options.targets)} targets, {options.seconds} s each")
    unnoticed = campaign.canary(fuzzer)
    print("canary:", "caught, for the right reasons  ok" if not unnoticed else "NOT CAUGHT  FAILED")
    print(*(f"    {reason}" for reason in unnoticed), f"\n{campaign.HEADER}", sep="\n", flush=True)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(campaign.run, fuzzer, target, options.seconds, options.seed) for target in options.targets]
        for done in as_completed(runs):
            report(done.result())
            failed += done.result().reason is not None
    failed += bool(unnoticed)
    print(f"\n{time.monotonic() - began:.0f} s")
    print(f"{len(options.targets) + 1 - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 Tests/Fuzz", description=__doc__)
    known = build.targets()
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(known)} (all)")
    parser.add_argument("--seconds", type=int, default=30, help="for each target (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of libFuzzer's choices; 0: another one each time (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="targets at a time (%(default)s)")
    parser.add_argument("--build", choices=("replay", "fuzzer"), help="only this program; replay is for the corpora")
    parser.add_argument("--board", action="store_true", help="replay the corpora on a 32-bit board instead")
    sysroot = build.ROOT / ".build/sysroot/armel"
    parser.add_argument("--sysroot", type=Path, default=sysroot, help="Debian's armel libraries (%(default)s)")
    parser.add_argument("--emulator", default="qemu-arm-static -cpu cortex-a7", help="(%(default)s)")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(known):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    options.targets = options.targets or known
    return options


def replay_on_board(options: argparse.Namespace) -> int:
    try:
        found = board.replay(options.sysroot, options.emulator)
    except build.BuildFailed as reason:
        print(reason)
        return 2
    print(*found, "every rule holds on the board" if not found else f"{len(found)} failed", sep="\n")
    return 1 if found else 0


def report(outcome: campaign.Outcome) -> None:
    print(outcome.line(), flush=True)
    if outcome.reason is None:
        return
    print(f"    {outcome.reason}")
    if outcome.reproducer:
        print(f"    {outcome.reproducer}\n    again: {campaign.replay_command(outcome)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
