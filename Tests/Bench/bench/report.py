"""docs/measured/performance.md and docs/measured/performance.svg: nothing in them that was not measured in the run that writes them."""

from __future__ import annotations

import datetime

from . import chart, goals, machine, pace
from .calls import CallCount
from .goals import Outcome
from .pairs import Comparison, Quartiles
from .scenarios import PLAIN, START_PAIRS_FACTOR, VERIFIED, Results
from .tools import ROOT

PAGE, PICTURE = ROOT / "docs" / "measured" / "performance.md", ROOT / "docs" / "measured" / "performance.svg"
OURS = "gighive-upload"

TITLES = {
    "http": "1 GiB over HTTP",
    "https": "1 GiB over HTTPS",
    "verified": "1 GiB to GigHive over HTTP, with its SHA-256",
    "verified-https": "1 GiB to GigHive over HTTPS, with its SHA-256",
    "tus": "1 GiB by tus over HTTP",
    "tus-https": "1 GiB by tus over HTTPS",
    "s3": "1 GiB to S3 over HTTP, in parts with their SHA-256",
    "s3-https": "1 GiB to S3 over HTTPS, in parts with their SHA-256",
    "no-aes": "1 GiB over HTTPS without AES instructions",
    "start": "Start-up over HTTPS, from exec to the first byte of the body at the receiver",
}

INTRODUCTION = """\
# Performance

Written by `make bench`{date}. Do not edit: every number comes from that run.

![Bars: time for 1 GiB over HTTP, HTTPS, by tus and without AES instructions; start-up; peak memory](performance.svg)

gighive-upload and another program run in turn (A B A B …, {pairs} pairs, {start_pairs} for the start-up), and each pair is compared: *ratio* is the figure of
gighive-upload divided by the other's. Figures are medians, with the quartiles in brackets; in the tables below the goals, lower is better.
[How it is measured](#how-it-is-measured) is below.

## This project's goals
"""

TO_DISK = ["fsync", "rename", "unlink", "mkdir", "fchmod"]
CALLS = """
Calls for each additional PATCH of 8 MiB (`--chunk-size 8Mi`). An upload as a whole also makes {to_disk}.
"""

PACE = """
The worst of {rates} MB/s, counted on the wire by the kernel's time stamps in the first {seconds} s. *Burst* is the most that went out above
the rate, as the time that it takes at that rate. *Pause* is the longest time without a byte. Figures are the median of {rounds} runs, with
the worst in parentheses. Allowed: a deviation of {deviation:.0%}, bursts and pauses of {burst:.0f} ms.
"""

METHOD = """\
## How it is measured

    make bench                                          # all of it, and this page
    python3 Tests/Bench --only http --peers curl,bare   # a part; --help lists the rest

- **Everything runs on one machine**, over loopback, with the file in the page cache. Over a real network, all of these clients wait for the link.
- **The receiver** (`Tests/Bench/receiver.c`) discards bodies faster than any client sends them: over HTTP inside the kernel
  (`MSG_TRUNC`), over HTTPS by skipping from record to record after a real handshake. With tus and S3 over HTTPS it must decrypt,
  on the same processors on which the client encrypts and hashes.
- **Before anything is timed**, each client uploads a file to HiveStub, and its SHA-256 must be correct.
- **Wall time** is from exec to exit. **Processor time** is user plus system time. **Peak memory** is VmHWM, read every 5 ms. **System
  calls** are those for 256 MiB minus those for a tiny file, counted with `strace -f -c` in separate runs.
- **Trust**: every client uses the system's trust store. curl loads all certificates; {ours} looks up the one that it needs.
- **Without AES instructions**: `OPENSSL_ia32cap=~0x200000200000000` for the client alone.
- **The bare C loops** (`Tests/Bench/bare.c`) only move the data: `sendfile`, or `pread` and `write` or `SSL_write` of 512 KiB.
- **curl, one PATCH** sends the file to an existing upload and ignores the result. *{ours}* also creates the upload, sends several
  requests, and keeps a synced record. *GigHive* also computes the SHA-256, finalizes, and compares.
- **With SHA-256** (`--digest`, GigHive): no other client here computes one. *The hash alone* is one thread that reads and hashes, and sends
  nothing. The receiver is given the SHA-256 beforehand.
- **Other processes**: a pair counts if they used less than {disturbance:.0%} of one processor meanwhile. {disturbed}
"""


def write(results: Results, outcomes: list[Outcome], profiles: dict, pairs: int) -> None:
    date = datetime.date.today()
    goal_rows = [_goal_row(outcome) for outcome in outcomes] + [_pace_row(results.paces)]
    parts = [
        INTRODUCTION.format(date=f" on {date}", pairs=pairs, start_pairs=pairs * START_PAIRS_FACTOR),
        _table(["goal", "", "measured", ""], goal_rows),
    ]
    for scenario in TITLES:
        parts += [f"## {TITLES[scenario]}\n", _scenario_table(results, scenario)]
    parts += ["## System calls with tus\n", _calls_table(results.tus_calls)]
    parts += ["## --limit-rate\n", _pace_table(results.paces)]
    for scenario, rows in profiles.items():
        parts += _profile_part(scenario, rows, outcomes)
    limit = machine.Disturbance.LIMIT
    parts += [METHOD.format(ours=OURS, disturbance=limit, disturbed=_disturbed_text(results)),
              "## Machine\n", "; ".join(f"{name}: {value}" for name, value in machine.description()) + ".\n"]
    PAGE.write_text("\n".join(parts).rstrip() + "\n")
    PICTURE.write_text(chart.draw([*(_group(results, scenario) for scenario in TITLES), _memory_group(results)]))


# Tables.


def _goal_row(outcome: Outcome) -> list[str]:
    return [outcome.goal, outcome.limit_text, _ratio(outcome.measured), "met" if outcome.is_met else "**missed**"]


def _pace_row(paces: list[pace.Pace]) -> list[str]:
    """All of them as one goal."""
    missed = sum(not found.is_met for found in paces)
    worst = max(abs(found.median("deviation")) for found in paces)
    burst = max(max(found.median("burst_seconds"), found.median("pause_seconds")) for found in paces) * 1000
    return ["--limit-rate: deviation over 10 s, bursts and pauses", "≤ 3 %, ≤ 250 ms",
            f"at worst {worst:.2%}, {burst:.0f} ms", f"**missed** in {missed} of {len(paces)}" if missed else "met"]


def _scenario_table(results: Results, scenario: str) -> str:
    comparisons = results.of(scenario)
    is_start = scenario == "start"
    quantity = "first_byte_seconds" if is_start else "wall_seconds"
    header = ["", "first byte, ms" if is_start else "wall, s", "ratio", "CPU, ms" if is_start else "CPU, s",
              "ratio", "peak, MB"] + ([] if _without_calls(results, scenario) else ["calls/MiB"])
    own = f"{OURS}, with SHA-256" if scenario in VERIFIED else OURS
    rows = [[f"**{own}**", _time(results.ours(scenario, quantity), is_start), "",
             _time(results.ours(scenario, "cpu_seconds"), is_start), "",
             _megabytes(max(run.peak_kib for comparison in comparisons for run in comparison.ours)),
             *_calls(results, scenario, OURS)]]
    for comparison in comparisons:
        name = comparison.peer.name
        rows.append([
            f"{OURS}, without" if scenario in VERIFIED and name == OURS else name, _time(comparison.of_theirs(quantity), is_start), _ratio(comparison.ratio(quantity)),
            _time(comparison.of_theirs("cpu_seconds"), is_start), _ratio(comparison.ratio("cpu_seconds")),
            _megabytes(max(run.peak_kib for run in comparison.theirs)),
            *_calls(results, scenario, name)])
    ciphers = _cipher_text(comparisons) if scenario not in PLAIN else ""
    return _table(header, rows) + ciphers


def _calls_table(counts: list[CallCount]) -> str:
    """By name: those that a PATCH makes. Below it, those that change something on the disk."""

    def row(title: str, names: set[str]) -> list[str]:
        return [title, *(_count(sum(found.per_request.get(name, 0) for name in names)) for found in counts)]

    everything = {name for found in counts for name in found.per_request}
    most = {name: max(found.per_request.get(name, 0) for found in counts) for name in everything}
    told = sorted((name for name in everything if most[name] >= 1), key=lambda name: (-most[name], name))
    rows = [row(f"`{name}`", {name}) for name in told]
    table = _table(["", *(found.title for found in counts)], [*rows, row("others", everything - set(told)), row("**all**", everything)])
    return table + CALLS.format(to_disk=", ".join(_to_disk(name, counts) for name in TO_DISK))


def _to_disk(name: str, counts: list[CallCount]) -> str:
    """How often an upload calls it; a range, if the ways of `counts` differ."""
    least, most = (bound(round(found.per_upload.get(name, 0)) for found in counts) for bound in (min, max))
    return f"{least} `{name}`" if least == most else f"{least} to {most} `{name}`"


def _count(calls: float) -> str:
    return f"{calls:.1f}" if round(abs(calls), 1) else "–"


def _pace_table(paces: list[pace.Pace]) -> str:
    """A row for each way, with the worst of its rates in each column."""
    rows = []
    for way in dict.fromkeys(found.way for found in paces):
        own = [found for found in paces if found.way == way]

        def worst(quantity: str, text, own=own) -> str:
            median, worst = (max((figure(found) for found in own), key=abs)
                             for figure in (lambda found: found.median(quantity), lambda found: found.worst(quantity)))
            return f"{text(median)} ({text(worst)})"

        rows.append([way + ("" if all(found.is_met for found in own) else " **missed**"), worst("deviation", "{:+.2%}".format),
                     *(worst(quantity, _milliseconds) for quantity in ("burst_seconds", "pause_seconds"))])
    rates = [f"{rate / 1e6:g}" for rate in pace.RATES]
    return _table(["", "deviation", "burst, ms", "pause, ms"], rows) + PACE.format(
        rates=f"{', '.join(rates[:-1])} and {rates[-1]}", rounds=pace.ROUNDS, seconds=pace.WINDOW_SECONDS,
        deviation=pace.MOST_DEVIATION, burst=pace.MOST_BURST_SECONDS * 1000)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f}"


def _table(header: list[str], rows) -> str:
    align = ["---"] + ["---:" if cell and header[0] == "" else "---" for cell in header[1:]]
    lines = [header, align, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _time(value: Quartiles, in_milliseconds: bool) -> str:
    if in_milliseconds:
        return f"{value.median * 1000:.1f}"
    return f"{value.median:.3f}" if value.median < 1 else f"{value.median:.2f}"


def _ratio(value: Quartiles) -> str:
    digits = 3 if value.median < 0.3 else 2 if value.median < 10 else 1
    return f"{value.median:.{digits}f} [{value.low:.{digits}f}–{value.high:.{digits}f}]"


def _megabytes(kib: int) -> str:
    return f"{kib * 1024 / 1e6:.1f}" if kib else "–"


def _without_calls(results: Results, scenario: str) -> bool:
    return (scenario, OURS) not in results.calls_per_mib


def _calls(results: Results, scenario: str, client: str) -> list[str]:
    if _without_calls(results, scenario):
        return []
    return [f"{results.calls_per_mib[scenario, client]:.1f}"]


def _cipher_text(comparisons: list[Comparison]) -> str:
    """Which suites were agreed on: they decide the speed without AES instructions."""
    own = comparisons[0].ours[0].cipher
    others = {comparison.theirs[0].cipher for comparison in comparisons if comparison.peer.uploads}
    return f"\nCipher suite: {own}" + (f" (the others: {', '.join(sorted(others))})" if others != {own} else "") + ".\n"


def _profile_part(scenario: str, rows, outcomes: list[Outcome]) -> list[str]:
    missed = "; ".join(f"{outcome.goal} ({outcome.limit_text})" for outcome in outcomes
                       if outcome.scenario == scenario and not outcome.is_met)
    return [f"## Profile: {TITLES[scenario]}\n", f"For the missed goal: {missed}. `perf record` of the client:\n",
            _table(["", "share", "in"], [[f"`{symbol}`", f"{share:.1f} %", dso] for share, dso, symbol in rows])]


def _disturbed_text(results: Results) -> str:
    repeated = sum(comparison.disturbed for comparison in results.comparisons)
    kept = sum(comparison.kept_disturbed for comparison in results.comparisons)
    counted = sum(len(comparison.ours) for comparison in results.comparisons)
    kept_text = f"{kept} of them despite being disturbed" if kept else "none of them disturbed"
    return f"In this run {counted} pairs count, {kept_text}; {repeated} disturbed ones were repeated."


# The picture.


def _group(results: Results, scenario: str) -> chart.Group:
    is_start = scenario == "start"
    quantity, factor = ("first_byte_seconds", 1000) if is_start else ("wall_seconds", 1)
    comparisons = results.of(scenario)
    limit = goals.fastest_loop(results) if scenario == "http" else None
    is_verified = scenario in VERIFIED
    bars = [_bar(OURS, results.ours(scenario, quantity), factor, "own")]
    for comparison in comparisons:
        name = comparison.peer.name
        if name.startswith("bare ") and scenario == "http" and comparison is not limit:
            continue
        kind = "limit" if comparison is limit or not comparison.peer.uploads else ""
        label = "without SHA-256" if is_verified and name == OURS else _label(name)
        bars.append(_bar(label, comparison.of_theirs(quantity), factor, kind))
    title, _, rest = TITLES[scenario].partition(", ")
    return chart.Group(title, f"milliseconds {rest}" if is_start else "seconds", bars, 1 if is_start else 2)


def _memory_group(results: Results) -> chart.Group:
    comparisons = [found for found in results.of("https") if not found.peer.name.startswith(("bare ", OURS))]
    bars = [_bar(OURS, results.ours("https", "peak_kib"), 1024 / 1e6, "own")]
    bars += [_bar(found.peer.name, found.of_theirs("peak_kib"), 1024 / 1e6, "") for found in comparisons]
    return chart.Group("Peak memory over HTTPS", "megabytes", bars, 1)


def _label(name: str) -> str:
    if name.startswith(OURS + ","):
        return "to GigHive"
    return "with its SHA-256" if name.startswith(OURS + " ") else name


def _bar(label: str, value: Quartiles, factor: float, kind: str) -> chart.Bar:
    return chart.Bar(label, value.low * factor, value.median * factor, value.high * factor, kind)
