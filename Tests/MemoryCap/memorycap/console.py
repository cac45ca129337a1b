"""What a person sees while it runs."""

from __future__ import annotations

import shutil
import subprocess

from . import elf
from .rules import Growth, Outcome

HEADER = (
    f"{'row':<42} {'peak':>7} {'goal':>5}  {'anon':>5} {'file':>5}  {'mapped':>6}  {'queues':>11}  "
    f"{'allocations':>18} {'request':>9}  {'time':>6}\n"
    f"{'':<42} {'MB':>7} {'MB':>5}  {'MB':>5} {'MB':>5}  {'MiB':>6}  {'MB sent/got':>11}  "
    f"{'before/steady/after':>18} {'1st/2nd ½':>9}  {'s':>6}"
)
FRAMES_SHOWN = 6

_shown: set[tuple] = set()
"""Allocations whose origin was printed: each once."""


def table_line(outcome: Outcome) -> str:
    measured, row = outcome.measured, outcome.row
    queues = f"{measured.highest('send_queue') / 1e6:.1f}/{measured.highest('receive_queue') / 1e6:.1f}"
    return (
        f"{row.name:<42} {measured.peak / 1e6:>7.3f} {row.protocol.budget_bytes / 1e6:>5.1f}  "
        f"{measured.highest('anonymous') / 1e6:>5.2f} {measured.highest('file') / 1e6:>5.2f}  "
        f"{measured.peak_mapped / (1 << 20):>6.2f}  {queues:>11}  {'/'.join(map(str, measured.allocations)):>18} "
        f"{per_request(outcome):>9}  "
        f"{measured.seconds:>6.1f}  {'ok' if outcome.has_passed else 'FAILED'}"
    )


def per_request(outcome: Outcome) -> str:
    """Allocations for each request, in the first and in the second half."""
    found = outcome.allocations_per_request
    if found is None:
        return ""
    return f"{found[0]:.0f} over" if outcome.arrivals.has_overlapped else "/".join(f"{calls:.0f}" for calls in found)


def print_outcome(outcome: Outcome, code: elf.Code) -> None:
    print(table_line(outcome), flush=True)
    for finding in outcome.findings:
        print(f"    {finding}")
    for function, addresses in outcome.measured.stacks:
        frames = [address for address in addresses if code.follows_call(address)]
        # What posix_memalign asks of malloc is told with posix_memalign.
        key = (function, *frames[:FRAMES_SHOWN])
        if not frames or key in _shown or code.name_of(frames[0]) == "posix_memalign":
            continue
        _shown.add(key)
        print(f"    {function} is called by (return addresses found on the stack, nearest first):")
        for frame in frames[:FRAMES_SHOWN]:
            print(f"        {frame:#x} {demangled(code.name_of(frame))}")


def demangled(name: str) -> str:
    """A demangled Swift name, if the toolchain is installed."""
    swift = shutil.which("swift")
    if swift is None or not name.startswith("$"):
        return name
    answer = subprocess.run([swift, "demangle", "--compact", "--simplified", name], capture_output=True, text=True)
    return answer.stdout.strip() or name


def print_growth(growth: Growth) -> None:
    verdict = f"FAILED\n    {growth.finding}" if growth.finding else "ok"
    print(f"{growth.row.protocol.name:<10} growth, {growth.row.manner}: {growth.text}  {verdict}", flush=True)
