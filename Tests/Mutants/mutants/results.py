"""What is known about each mutant: on the disk, so that a run can be continued; and what it comes to."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from .finding import Mutant

DROPPED = "does not compile"


class Results:
    def __init__(self, path: Path):
        self._path = path
        self._known: dict[str, list[str] | str] = {}
        """The tests that fail, none if it survives; or DROPPED."""
        if path.exists():
            for line in path.read_text().splitlines():
                key, result = json.loads(line)
                self._known[key] = result

    def __contains__(self, mutant: Mutant) -> bool:
        return mutant.key in self._known

    def note(self, key: str, result: list[str] | str) -> None:
        self._known[key] = result
        with self._path.open("a") as file:
            file.write(json.dumps([key, result]) + "\n")

    def forget_survivors(self) -> None:
        self._known = {key: result for key, result in self._known.items() if result}
        self._path.write_text("".join(json.dumps(item) + "\n" for item in self._known.items()))

    @property
    def dropped(self) -> set[str]:
        return {key for key, result in self._known.items() if result == DROPPED}

    def killers(self, mutant: Mutant) -> list[str]:
        return self._known[mutant.key]


def equivalents(text: str) -> dict[str, str]:
    """A line as the tool prints it, without the number of the line; below it, indented, why no test can see it."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] != " ":
            assert line not in found, f"twice: {line}"
            key = line
            found[key] = ""
        else:
            found[key] += line.strip() + " "
    for key, why in found.items():
        assert why, f"not explained: {key}"
    return found


def report(drawn: list[Mutant], results: Results, equivalent: dict[str, str]) -> str:
    """The survivors, and the score of each area."""
    judged = [mutant for mutant in drawn if mutant in results]
    survivors = [mutant for mutant in judged if not results.killers(mutant)]
    lines = [str(mutant) for mutant in survivors if mutant.key not in equivalent]
    lines += ["", f"{'':12}{'mutants':>9}{'killed':>9}{'survived':>10}{'equivalent':>12}{'score':>8}{'without equivalents':>21}"]
    for area in [*dict.fromkeys(mutant.area for mutant in judged), ""]:
        here = [mutant for mutant in judged if area in ("", mutant.area)]
        alive = [mutant for mutant in survivors if area in ("", mutant.area)]
        same = sum(mutant.key in equivalent for mutant in alive)
        killed = len(here) - len(alive)
        score, without = (100 * killed / max(1, count) for count in (len(here), len(here) - same))
        lines.append(
            f"{area or 'all':12}{len(here):9}{killed:9}{len(alive) - same:10}{same:12}{score:7.1f}%{without:20.1f}%")
    return "\n".join(lines)


def kills(drawn: list[Mutant], results: Results) -> str:
    """Each test with the mutants that it killed, and how many only it did."""
    by_test: dict[str, list[Mutant]] = {}
    for mutant in drawn:
        for test in results.killers(mutant) if mutant in results else ():
            by_test.setdefault(test, []).append(mutant)
    alone = Counter(results.killers(mutant)[0] for mutant in drawn if mutant in results and len(results.killers(mutant)) == 1)
    lines = []
    for test, killed in sorted(by_test.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"{len(killed)} ({alone[test]} alone)  {test}")
        lines += [f"    {mutant}" for mutant in killed]
    return "\n".join(lines) + "\n"
