"""The performance goals, and whether they are met."""

from __future__ import annotations

from dataclasses import dataclass

from .pairs import Comparison, Quartiles
from .scenarios import Results

HASH = "the hash alone"


@dataclass(frozen=True)
class Outcome:
    goal: str
    scenario: str
    limit: float
    is_upper_bound: bool
    measured: Quartiles

    @property
    def is_met(self) -> bool:
        median = self.measured.median
        return median <= self.limit if self.is_upper_bound else median >= self.limit

    @property
    def limit_text(self) -> str:
        return f"{'≤' if self.is_upper_bound else '≥'} {self.limit:g}"

    def line(self) -> str:
        measured = self.measured
        verdict = "met   " if self.is_met else "MISSED"
        return (f"{verdict} {self.goal}: {self.limit_text}, measured {measured.median:.3f} "
                f"[{measured.low:.3f} {measured.high:.3f}]")


def judge(results: Results) -> list[Outcome]:
    """Those goals for which there are measurements."""
    outcomes: list[Outcome] = []

    def at_most(limit: float, goal: str, comparison: Comparison | None, quantity: str) -> None:
        if comparison:
            outcomes.append(Outcome(goal, comparison.scenario, limit, True, comparison.ratio(quantity)))

    def at_least(limit: float, goal: str, comparison: Comparison | None) -> None:
        if comparison:
            times = comparison.times_as_fast("wall_seconds")
            outcomes.append(Outcome(goal, comparison.scenario, limit, False, times))

    form = "curl -F"
    at_most(0.62, "HTTP, wall time relative to curl -F", results.get("http", form), "wall_seconds")
    at_most(0.85, "HTTP, processor time relative to curl -F", results.get("http", form), "cpu_seconds")
    at_most(0.69, "HTTPS, wall time relative to curl -F", results.get("https", form), "wall_seconds")
    at_most(0.45, "HTTPS, processor time relative to curl -F", results.get("https", form), "cpu_seconds")
    at_least(0.95, "HTTP, throughput relative to the faster bare loop", fastest_loop(results))
    at_least(3.5, "HTTPS without AES instructions, throughput relative to curl -F", results.get("no-aes", form))
    at_most(0.2, "start-up to the first byte of the body over HTTPS, time relative to curl -F",
            results.get("start", form), "first_byte_seconds")
    at_least(15, "HTTP, throughput relative to URLSession", results.get("http", "URLSession"))
    at_least(15, "HTTPS, throughput relative to URLSession", results.get("https", "URLSession"))
    at_most(1.15, "HTTP with SHA-256, wall time relative to the hash alone", results.get("verified", HASH), "wall_seconds")
    longer = longest(results, "verified-https", (form, HASH))
    if longer:
        at_most(1.15, f"HTTPS with SHA-256, wall time relative to curl -F or the hash alone, whichever is longer (here: "
                f"{longer.peer.name})", longer, "wall_seconds")
    at_most(1.05, "tus over HTTP, wall time relative to curl with one PATCH", results.get("tus", "curl, one PATCH"),
            "wall_seconds")
    at_most(1.05, "tus over HTTPS, wall time relative to curl with one PATCH",
            results.get("tus-https", "curl, one PATCH"), "wall_seconds")
    longer = longest(results, "s3-https", ("curl -T", HASH))
    if longer:
        at_most(1.15, f"S3 over HTTPS with SHA-256, wall time relative to curl -T or the hash alone, whichever is longer (here: "
                f"{longer.peer.name})", longer, "wall_seconds")
    return outcomes


def longest(results: Results, scenario: str, names: tuple[str, ...]) -> Comparison | None:
    """Of several peers, the one that takes longest beside ours, by the medians of the pairs; None unless all were
    measured."""
    found = [results.get(scenario, name) for name in names]
    if None in found:
        return None
    return min(found, key=lambda comparison: comparison.ratio("wall_seconds").median)


def fastest_loop(results: Results) -> Comparison | None:
    """Of the bare loops over HTTP, the one that is faster by the median."""
    loops = [found for found in results.of("http") if found.peer.name.startswith("bare ")]
    return min(loops, key=lambda loop: loop.of_theirs("wall_seconds").median, default=None)
