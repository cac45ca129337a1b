"""The station harness: see README.md."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "Chaos")]

from station import canary  # noqa: E402
from station.run import Plan, Result, Run  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build/station"
MOST_FINDINGS = 20
"""That are printed of a run."""


def main() -> int:
    options = parse()
    # So that files and processes are cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    removes = removes_recordings(options.binary)
    size = dict(recordings=100, kills=8, restarts=3, outages=2) if options.quick else dict(
        recordings=1000, kills=50, restarts=20, outages=10
    )
    plan = Plan(seed=options.seed, removes=removes, pause=0.02 if options.quick else 0.1, **size)
    with tempfile.TemporaryDirectory(prefix="station-", dir=options.folder) as name:
        # A copy, so that a concurrent build cannot replace it.
        binary = Path(shutil.copy(options.binary, name))
        print(f"seed {plan.seed}: {', '.join(f'{count} {what}' for what, count in size.items())}", flush=True)
        result = Run(binary, Path(name) / "run", plan).play()
        examined = canary.examine(binary, Path(name))
    report(result)
    unnoticed = [(one, reason) for one, reason in examined if reason]
    print(f"canaries: {len(examined)}, {len(examined) - len(unnoticed)} as they should be")
    for one, reason in unnoticed:
        print(f"canary NOT CAUGHT: {one.name}: {reason}")
    is_right = not result.findings and not unnoticed
    kept = "removed" if removes else "kept"
    if is_right:
        print(f"passed: {result.figures['recordings']} recordings, each on the server exactly once and {kept} on this machine")
    else:
        print(f"FAILED: {len(result.findings)} findings, {len(unnoticed)} canaries not caught; seed {plan.seed}")
    return 0 if is_right else 1


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 Tests/Station", description=__doc__)
    default = Path(os.environ.get("GIGHIVE_UPLOAD") or ROOT / "dist/gighive-upload-x86_64")
    option = parser.add_argument
    option("--binary", type=Path, default=default, help="the program under test (%(default)s)")
    option("--quick", action="store_true", help="100 recordings, for CI")
    option("--seed", type=int, default=1, help="decides what the writers do and when what fails (%(default)s)")
    option("--folder", type=Path, help="where the files go (the temporary directory)")
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    if not options.binary.exists():
        parser.error(f"{options.binary} does not exist: run `make static`")
    return options


def removes_recordings(binary: Path) -> bool:
    """Whether this program can remove what it has delivered."""
    text = subprocess.run([binary, "help", "watch"], capture_output=True, text=True, check=True).stdout
    return " --after " in text


def report(result: Result) -> None:
    width = max(map(len, result.figures))
    for name, value in result.figures.items():
        print(f"  {name.replace('_', ' '):{width}}  {value}")
    for finding in result.findings[:MOST_FINDINGS]:
        print(f"  FOUND {finding}")
    if len(result.findings) > MOST_FINDINGS:
        print(f"  and {len(result.findings) - MOST_FINDINGS} more")
    if result.findings:
        LOGS.mkdir(parents=True, exist_ok=True)
        path = LOGS / f"seed-{result.plan.seed}.log"
        path.write_text(result.log)
        print(f"  the watcher's log: {path}")


if __name__ == "__main__":
    sys.exit(main())
