"""The machine: what it is, and whether others are using it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Disturbance:
    """Which share of one processor everybody else used while a block of code ran: all processors' busy and stolen time
    less that of the client, the receiver and this program. It begins when the machine is calm, or after a while."""

    LIMIT = 0.10
    CALM_SAMPLE_SECONDS = 0.05
    CALM_PATIENCE_SECONDS = 2.0

    def __init__(self, receiver):
        self._receiver = receiver
        self.own_seconds = 0.0
        self.share = 0.0

    def __enter__(self) -> "Disturbance":
        give_up = time.monotonic() + self.CALM_PATIENCE_SECONDS
        while time.monotonic() < give_up:
            before = _busy_seconds()
            time.sleep(self.CALM_SAMPLE_SECONDS)
            if _busy_seconds() - before <= 1 / TICKS_A_SECOND:
                break
        self._started = time.monotonic()
        self._before = _busy_seconds() - self._own()
        return self

    def __exit__(self, *_) -> None:
        elapsed = time.monotonic() - self._started
        others = _busy_seconds() - self._own() - self.own_seconds - self._before
        # The kernel counts in ticks: a few of them prove nothing.
        self.share = max(0.0, others - 3 / TICKS_A_SECOND) / elapsed

    def _own(self) -> float:
        return time.process_time() + self._receiver.cpu_seconds()


def _busy_seconds() -> float:
    """Of all processors since the start, with what the hypervisor gave to others."""
    with open("/proc/stat") as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS_A_SECOND


def description() -> list[tuple[str, str]]:
    """Rows for the report: what was measured, and where."""
    cpu = Path("/proc/cpuinfo").read_text()
    flags = set(re.search(r"^flags\s*: (.*)$", cpu, re.M).group(1).split())
    model = re.search(r"^model name\s*: (.*)$", cpu, re.M).group(1)
    interesting = ["aes", "pclmulqdq", "vaes", "vpclmulqdq", "avx2", "avx512f", "sha_ni"]
    return [
        ("processor", f"{model}, {os.cpu_count()} cores" + (" (virtual machine)" if "hypervisor" in flags else "")),
        ("instructions", ", ".join(name for name in interesting if name in flags) or "none of AES, SHA, AVX2"),
        ("kernel", platform.release()),
        ("system", _first(r'^PRETTY_NAME="(.*)"$', Path("/etc/os-release").read_text())),
        ("OpenSSL", _words(["openssl", "version"], 2)),
        ("curl", _words(["curl", "--version"], 2)),
        ("Swift", _first(r"Swift version (\S+)", _output(["swift", "--version"]))),
        ("trust store", f"{len(list(Path('/etc/ssl/certs').glob('*.0')))} authorities"),
    ]


def _words(command: list[str], count: int) -> str:
    return " ".join(_output(command).split()[:count])


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.M)
    return found.group(1) if found else "unknown"
