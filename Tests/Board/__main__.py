"""The board harness: see README.md."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from board import document  # noqa: E402
from board.machine import ROOT, UNPACKED, GuestFailed, stop_all  # noqa: E402
from board.sections import SECTIONS, Section, Setting  # noqa: E402

RESULTS = UNPACKED / "results.json"
"""What the last long run of each part measured: they may run on different days."""
CUTS = 1000
PARTS = [name for name in SECTIONS if name != "connections"]


def main() -> int:
    options = parse()
    signal.signal(signal.SIGTERM, end)
    sections: dict[str, Section] = {}
    with tempfile.TemporaryDirectory(prefix="board-", dir=options.folder) as folder:
        setting = Setting(options.binaries, Path(folder), options.quick, options.cuts, options.seed)
        for name in options.only:
            began = time.monotonic()
            print(f"{name}: {', '.join(document.TABLES[name])}", flush=True)
            try:
                sections[name] = SECTIONS[name](setting)
            except GuestFailed as reason:
                sections[name] = Section(findings=[str(reason)], failed=1)
            for finding in sections[name].findings if sections[name].failed else []:
                print(f"    {finding}")
            print(f"{time.monotonic() - began:.0f} s\n", flush=True)
    if options.write_docs:
        document.write(ROOT / "docs/measured/boards.md", options.binaries, keep(sections))
    passed, failed = (sum(getattr(one, count) for one in sections.values()) for count in ("passed", "failed"))
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def end(*_) -> None:
    """So that guests end and folders are cleared away."""
    stop_all()
    sys.exit(143)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 Tests/Board", description=__doc__)
    option = parser.add_argument
    option("--binaries", type=Path, default=ROOT / "dist", help="the folder of the static binaries (%(default)s)")
    option("--quick", action="store_true", help="small files and few cuts, for CI")
    option("--only", type=lambda text: text.split(","), default=PARTS, metavar="LIST",
           help=f"some of {','.join(SECTIONS)} (all but connections, which is measured only)")
    option("--cuts", type=int, default=CUTS, help="power cuts, over all file systems, of deliveries and again of removals (%(default)s)")
    option("--seed", type=int, default=1, help="which of all cuts (%(default)s)")
    option("--folder", type=Path, help="where disks go (the temporary directory)")
    option("--write-docs", action="store_true", help="write the tables of docs/measured/boards.md")
    options = parser.parse_args()
    unknown = [name for name in options.only if name not in SECTIONS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}")
    if options.write_docs and options.quick:
        parser.error("--write-docs needs the long form")
    if not (UNPACKED / "amd64/.unpacked").exists():
        parser.error("there are no kernels: run `make boards`")
    return options


def keep(sections: dict[str, Section]) -> dict:
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, section in sections.items():
        results[name] = {**dataclasses.asdict(section), "date": datetime.date.today().isoformat()}
    RESULTS.write_text(json.dumps(results))
    return results


if __name__ == "__main__":
    sys.exit(main())
