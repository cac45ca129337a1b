"""`make livebench`: sends what real recorders make with `send --live`, while they make it, to the S3 server of the tests, and what they only
append to also to a tus server that joins no parts."""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH.parent / "CLITests"), str(BENCH.parent / "Support"), str(BENCH.parent / "HiveStub")]

from bench import tools  # noqa: E402
from live import measure, picture, recorders  # noqa: E402
from machine import install  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/Bench/live", description=__doc__)
    parser.add_argument("--binary", type=Path, default=tools.ROOT / "dist/gighive-upload-x86_64", help="the program (default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=120, help="length of each recording (default: %(default)s, at least 32)")
    parser.add_argument("--rate", type=float, default=8.4, help="MB/s of each recorder (default: %(default)s, twice real time)")
    parser.add_argument("--only", default="", help="recorders and formats whose names contain this, such as MP4")
    parser.add_argument("--picture", type=Path, help="draws the MP4 of ffmpeg there")
    options = parser.parse_args()
    if options.megabytes < 32 or options.rate <= 0:
        parser.error("--megabytes: at least 32; --rate: more than 0")
    install(*recorders.PACKAGES)
    materials = recorders.make_materials(tools.BUILD / "live", options.megabytes * 1_000_000)
    passed = failed = 0
    print(measure.HEAD, flush=True)
    runs = [(measure.ToS3, recorder) for recorder in recorders.RECORDERS]
    runs += [(measure.ToTus, replace(recorder, format=recorder.format + ", tus in order"))
             for recorder in recorders.RECORDERS if recorder.appends]
    for server, recorder in runs:
        if options.only.lower() not in f"{recorder.name} {recorder.format}".lower():
            continue
        try:
            result = measure.measure(server(), options.binary.resolve(), recorder, materials[recorder.material], options.rate * 1e6)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"| {recorder.name} | {recorder.format} **{error}** |", flush=True)
            failed += 1
            continue
        print(result.row(), flush=True)
        if options.picture and (recorder.name, recorder.format, server) == ("ffmpeg", "MP4", measure.ToS3):
            options.picture.write_text(picture.draw(result.timeline, f"An MP4 of {result.length / 1e6:.0f} MB", result.length))
        passed, failed = passed + (not result.problem), failed + bool(result.problem)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
