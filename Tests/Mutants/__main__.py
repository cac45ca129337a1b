"""`make mutants`: one thing is changed at a time, and a test must fail. See README.md."""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants import building, finding, results, testing

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--count", type=int, help="how many mutants; default: " + str(finding.SHARES))
    parser.add_argument("--areas", nargs="+", choices=finding.AREAS, default=list(finding.AREAS))
    parser.add_argument("--batch", type=int, default=300, help="how many are compiled together")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tested at once")
    parser.add_argument("--again", action="store_true", help="also those that survived before")
    parser.add_argument("--all", action="store_true", help="also after a test has failed: which tests kill nothing?")
    parser.add_argument("--build", action="store_true", help="only the program that finds mutants")
    parser.add_argument("--list", action="store_true", help="only show what is drawn")
    options = parser.parse_args()

    directory = ROOT / ".build/mutants"
    directory.mkdir(parents=True, exist_ok=True)
    generator = finding.compile_generator(directory)
    if options.build:
        return
    found = finding.find(ROOT, generator, options.areas)
    known = results.Results(directory / ("all.jsonl" if options.all else "results.jsonl"))
    if options.again:
        known.forget_survivors()
    equivalent = results.equivalents(Path(__file__).with_name("equivalent.txt").read_text())

    def drawn() -> list[finding.Mutant]:
        return finding.draw(found, options.seed, finding.shares(options.count, options.areas), known.dropped)

    if options.list:
        print(*drawn(), sep="\n")
        return
    tree = building.Tree(ROOT, directory)
    runner = testing.Runner(tree.path, goes_on=options.all)
    while pending := [mutant for mutant in drawn() if mutant not in known]:
        together = building.batch([mutant for mutant in pending if mutant.is_swift], options.batch)
        began = time.monotonic()
        numbers, dropped = tree.build(together)
        print(f"{len(numbers)} compiled in {time.monotonic() - began:.0f} s, {len(dropped)} do not compile", flush=True)
        for key in dropped:
            known.note(key, results.DROPPED)
        compiled = [mutant for mutant in together if mutant.key in numbers]
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda mutant: judge(mutant, numbers[mutant.key], runner, known), compiled))
        if not together:
            for mutant in pending:
                tree.write([mutant])
                judge(mutant, 0, runner, known)
            tree.write()
    (directory / "kills.txt").write_text(results.kills(drawn(), known))
    print("\n" + results.report(drawn(), known, equivalent))


def judge(mutant: finding.Mutant, number: int, runner: testing.Runner, known: results.Results) -> None:
    began = time.monotonic()
    killers = runner.killers(mutant, number)
    known.note(mutant.key, killers)
    what = f"killed by {killers[0]}" if killers else "SURVIVED"
    print(f"{time.monotonic() - began:4.0f} s  {mutant}: {what}", flush=True)


if __name__ == "__main__":
    main()
