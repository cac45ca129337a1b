"""Every fallible call of the program fails once: see README.md."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from callfailures import bench, canary
from callfailures.rules import judge
from callfailures.scenarios import SCENARIOS, Broken, Scenario
from callfailures.sweep import MEMORY, Result, Sweep, Workers
from machine import c_compiler  # callfailures.bench has named its directory

TESTS = Path(__file__).resolve().parents[1]
MEMORY_SCENARIOS = ("multipart-http", "tus-https", "multipart-https", "cancel-http")
MEMORY_PARTS = 8
SHARES = {"quick": {0: 10, 2: 60, MEMORY: 400}, "calls": {0: 1, 2: 5, MEMORY: 61}, "all": {0: 1, 2: 1, MEMORY: 1}}
"""One of so many calls fails, without and with retries, and of the allocations. All that a removal is made of fail."""
OF_REMOVALS = set(
    "fcntl fstatat fsync ftruncate lstat openat openat2 pwrite realpath rename renameat2 statvfs unlink unlinkat".split())

MUST_BE_REACHED = set(
    "open openat openat2 pread pwrite read write dup fstat fstatat stat lstat statvfs fsync ftruncate rename renameat2"
    " realpath fcntl flock mkdir opendir readdir unlink unlinkat close socket"
    " connect getsockopt setsockopt send sendfile recv poll ioctl getrandom eventfd pthread_create getaddrinfo getifaddrs sendmsg recvmsg inflate malloc calloc"
    " EVP_MD_CTX_new SSL_CTX_new SSL_new SSL_do_handshake SSL_read SSL_write SSL_CTX_load_verify_file"
    " SSL_get1_peer_certificate BIO_new".split())
"""If one of these is never called any more, this file or failing_*.c has lost touch with the program."""


class Tally:
    """Counts what a test runner would count, and says the same thing once."""

    def __init__(self, lists: bool):
        self.passed = self.failed = 0
        self.reached: Counter = Counter()
        self._lists = lists
        self._findings: dict[tuple, list] = defaultdict(list)

    def add(self, result: Result) -> None:
        if result.broken:
            self.fail("the scenario is broken", result.sweep.scenario.name, result.broken)
        for outcome in result.outcomes:
            findings = judge(outcome)
            self.passed += not findings
            self.failed += bool(findings)
            self.reached[outcome.hit.function] += 1
            for rule, words in findings:
                self._findings[rule.value, str(outcome.hit)].append((outcome, words))
            if self._lists:
                last = (outcome.faulty.err.strip().splitlines() or [""])[-1]
                print(f"{outcome.scenario.name} {outcome.retries} {outcome.hit.number} {outcome.hit} -> "
                      f"{outcome.faulty.code} {last}")

    def fail(self, rule: str, what: str, words: str) -> None:
        self.failed += 1
        print(f"FAILED {what}: {rule}\n    {words}", flush=True)

    def print_findings(self) -> None:
        for (rule, hit), found in sorted(self._findings.items(), key=lambda item: -len(item[1])):
            places = Counter(f"{outcome.scenario.name}, --retry {outcome.retries}" for outcome, _ in found)
            print(f"FAILED {hit}: {rule} ({len(found)} times)")
            print(f"    {'; '.join(f'{place}: {count}' for place, count in places.most_common(4))}")
            outcome, words = found[0]
            print(f"    call {outcome.hit.number} of {outcome.scenario.name}: {words}", flush=True)


def main() -> int:
    options = parse()
    began = time.monotonic()
    tally = Tally(options.list)
    with tempfile.TemporaryDirectory(prefix="call-failures-", dir=bench.memory_directory()) as name:
        folder = Path(name)
        # A copy, so that a concurrent build cannot replace it.
        program = Path(shutil.copy(options.binary, folder / "gighive-upload"))
        library = build(folder)
        certificates = bench.certificates()
        scenarios = [scenario for scenario in SCENARIOS if scenario.name in (options.scenario or scenario.name)]
        print(f"{options.binary}: {len(scenarios)} scenarios", flush=True)
        is_partial = options.scenario or options.function
        try:
            with Workers(program, library, certificates) as workers:
                if not options.canary:
                    sweeps, called = plan(workers, scenarios, options, folder)
                    for result in workers.run(sweeps):
                        tally.add(result)
                    tally.print_findings()
                    if not is_partial:
                        check_reach(tally, called)
                if not is_partial:
                    run_canaries(workers, tally)
        except Broken as reason:
            tally.fail("it works without a fault", "the program", str(reason))
    seconds = time.monotonic() - began
    print(f"{sum(tally.reached.values())} calls of {len(tally.reached)} functions failed, {seconds:.0f} s")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 Tests/CallFailures", description=__doc__)
    default = Path(os.environ.get("GIGHIVE_UPLOAD", TESTS.parent / ".build/debug/gighive-upload"))
    parser.add_argument("--binary", type=Path, default=default, help="an ordinary, dynamic build (%(default)s)")
    parser.add_argument("--share", choices=SHARES, default="calls",
                        help="quick, what CI runs: a sample of the calls, and those of a removal; all: also every allocation (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (%(default)s)")
    parser.add_argument("--scenario", action="append", help="only this one; can be repeated")
    parser.add_argument("--function", action="append", help="only its calls, or memory; can be repeated")
    parser.add_argument("--canary", action="store_true", help="only the proof that mistakes are noticed")
    parser.add_argument("--list", action="store_true", help="print every failure and what the program said")
    options = parser.parse_args()
    if not os.access(options.binary, os.X_OK):
        parser.error(f"there is no program at {options.binary}: run `swift build`")
    if options.scenario and not set(options.scenario) <= {scenario.name for scenario in SCENARIOS}:
        parser.error("there are: " + ", ".join(scenario.name for scenario in SCENARIOS))
    return options


def build(folder: Path) -> Path:
    library = folder / "failing.so"
    sources = sorted(Path(__file__).with_name("callfailures").glob("*.c"))
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([c_compiler(), *flags, "-o", library, *sources], check=True)
    return library


def plan(workers: Workers, scenarios: list[Scenario], options, folder: Path) -> tuple[list[Sweep], set[str]]:
    """The longest sweeps first, so that no processor waits for another in the end; and all functions that are called."""
    sweeps, called, steps = [], set(), SHARES[options.share]
    wanted = set(options.function or ())
    for scenario, functions in workers.survey(scenarios, "", folder).items():
        called |= functions.keys()
        for function, count in functions.items():
            if wanted and function not in wanted:
                continue
            for retries in (0, 2):
                step = 1 if retries == 0 and scenario.removes and function in OF_REMOVALS else steps[retries]
                start, last = (1, None) if step == 1 else (first(options.seed, step, scenario, function), count)
                # With retries, one way of failing shows whether there is another try.
                sweeps.append((count / step, Sweep(scenario, function, retries, step, start, last, is_whole=retries == 0)))
    if not wanted or MEMORY in wanted:
        remembering = [scenario for scenario in scenarios if scenario.name in MEMORY_SCENARIOS]
        step = steps[MEMORY]
        for scenario, functions in workers.survey(remembering, MEMORY, folder).items():
            called |= functions.keys()
            if count := sum(functions.values()):
                for part in range(MEMORY_PARTS):
                    start = first(options.seed, step, scenario, MEMORY) + part * step
                    sweep = Sweep(scenario, MEMORY, 0, step=MEMORY_PARTS * step, first=start)
                    sweeps.append((count / sweep.step, sweep))
    return [sweep for _, sweep in sorted(sweeps, key=lambda item: -item[0])], called


def first(seed: int, step: int, scenario: Scenario, function: str) -> int:
    """The first call of a sample; the others follow step by step."""
    return random.Random(f"{seed} {scenario.name} {function}").randint(1, step)


def check_reach(tally: Tally, called: set[str]) -> None:
    for function in sorted(MUST_BE_REACHED - called):
        tally.fail("it is called in some scenario", function, "no run calls it; adapt failing_*.c or the scenarios")


def run_canaries(workers: Workers, tally: Tally) -> None:
    for one, unnoticed in canary.examine(workers):
        if unnoticed:
            tally.fail("the harness notices it", f"canary {one.name}", unnoticed)
        else:
            tally.passed += 1
    print(f"canaries: {len(canary.CANARIES)} wrong programs", flush=True)


if __name__ == "__main__":
    sys.exit(main())
