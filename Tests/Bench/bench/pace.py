"""Whether `--limit-rate` is kept and spread evenly, counted on the wire."""

from __future__ import annotations

import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from digests import sha256

from . import clients
from .clients import Client
from .measure import LIMIT_SECONDS, RunFailed
from .meter import PIECE, Meter, Track
from .receiver import Receiver
from .tools import Tools, make_file

RATES = (100_000, 1_000_000, 20_000_000)
WINDOW_SECONDS = 10
FILE_SECONDS = 11
"""The length of the file. It fills the window however long the start takes."""
OVERHEAD_BYTES = 16 << 10
"""The most that precedes the file: handshake and heads. The window starts after it."""

MOST_DEVIATION = 0.03
MOST_BURST_SECONDS = 0.25
MOST_PAUSE_SECONDS = 0.25


PIECE_SECONDS = 0.005
"""How exactly the relay has to know when what came."""

ROUNDS = 3
"""The median counts, because a machine that runs nothing for a while causes a pause that is not the program's."""


@dataclass(frozen=True)
class Run:
    deviation: float
    """Of the bytes in the window, from the rate."""
    burst_seconds: float
    """The most that went out beyond the rate in any part of the upload, in seconds' worth of the rate."""
    pause_seconds: float
    """The longest time in which nothing came."""


@dataclass(frozen=True)
class Pace:
    way: str
    rate: int
    runs: list[Run]

    def median(self, quantity: str) -> float:
        return statistics.median(getattr(run, quantity) for run in self.runs)

    def worst(self, quantity: str) -> float:
        return max((getattr(run, quantity) for run in self.runs), key=abs)

    @property
    def is_met(self) -> bool:
        return (abs(self.median("deviation")) <= MOST_DEVIATION
                and self.median("burst_seconds") <= MOST_BURST_SECONDS
                and self.median("pause_seconds") <= MOST_PAUSE_SECONDS)


def measure(tools: Tools, certificates) -> list[Pace]:
    files = {rate: make_file(f"rate-{rate}.mp4", rate * FILE_SECONDS) for rate in RATES}
    digests = {file.stat().st_size: sha256(file) for file in files.values()}
    tls = (certificates.certificate, certificates.key)
    found = []
    for way, keys, client in (
        ("multipart, HTTP", (), clients.ours(tools)),
        ("multipart, HTTPS", tls, clients.ours(tools)),
        ("tus, HTTP", (), clients.ours_by_tus(tools)),
        ("tus, HTTPS", tls, clients.ours_by_tus(tools)),
        ("GigHive, HTTPS", tls, clients.ours_to_gighive(tools)),
    ):
        def run(rate: int) -> Run:
            with Receiver(tools.receiver, *keys, decrypts=bool(keys), digests=digests) as receiver:
                return _run(rate, files[rate], client, receiver)

        # The rates at the same time: together they are little for any machine.
        with ThreadPoolExecutor() as pool:
            rounds = [list(pool.map(run, RATES)) for _ in range(ROUNDS)]
        for rate, runs in zip(RATES, zip(*rounds)):
            found.append(Pace(way, rate, list(runs)))
            print(line(found[-1]), flush=True)
    return found


def line(pace: Pace) -> str:
    return (f"{'met   ' if pace.is_met else 'MISSED'} --limit-rate {pace.rate / 1e6:g} MB/s, {pace.way}: "
            f"{pace.median('deviation'):+.2%}, burst {milliseconds(pace, 'burst_seconds')} ms, "
            f"pause {milliseconds(pace, 'pause_seconds')} ms")


def milliseconds(pace: Pace, quantity: str) -> str:
    """Median, and the worst in parentheses."""
    return f"{pace.median(quantity) * 1000:.0f} ({pace.worst(quantity) * 1000:.0f})"


def _run(rate: int, file: Path, client: Client, receiver: Receiver) -> Run:
    with Meter(receiver.port, max(1, min(PIECE, int(rate * PIECE_SECONDS)))) as meter:
        url = receiver.url.replace(f":{receiver.port}/", f":{meter.port}/")
        command = [*client.arguments(file, url), "--limit-rate", str(rate)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        raise RunFailed(f"{client.name} at {rate} bytes a second: {done.stderr[-500:]}")
    receiver.upload()
    return judge(rate, meter.track)


def judge(rate: int, track: Track) -> Run:
    arrivals, before = list(track.arrivals), 0
    while before < OVERHEAD_BYTES:
        start, count = arrivals.pop(0)
        before += count
    in_window = sum(count for moment, count in arrivals if moment <= start + WINDOW_SECONDS * 1_000_000_000)
    total, lowest, burst, pause, last = 0.0, 0.0, 0.0, 0.0, start
    for moment, count in arrivals:
        line_at = rate * (moment - start) / 1e9
        lowest = min(lowest, total - line_at)
        total += count
        burst = max(burst, total - line_at - lowest)
        pause = max(pause, (moment - last) / 1e9 if moment <= start + WINDOW_SECONDS * 1_000_000_000 else 0.0)
        last = moment
    return Run(in_window / (rate * WINDOW_SECONDS) - 1, burst / rate, pause)
