"""One run of one client: wall, processor time, peak memory, what the receiver saw."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .receiver import Receiver, Upload

POLL_MILLISECONDS = 5
"""How often peak memory is looked at. VmHWM only grows, so a late look misses nothing but the very end."""
LIMIT_SECONDS = 600


class RunFailed(Exception):
    """A client that did not deliver. There is no such thing as a measurement of a failed run."""


@dataclass(frozen=True)
class Run:
    wall_seconds: float
    """From the client's exec to its end."""
    cpu_seconds: float
    """User and system time, by wait4."""
    peak_kib: int
    """VmHWM; 0 for a run that was too short to look at."""
    first_byte_seconds: float
    """From the client's exec to the first byte of the body, decrypted, at the receiver; not a number without an upload."""
    cipher: str


def run(
    command: list[str], environment: dict[str, str], receiver: Receiver, launcher: Path, uploads: bool = True,
) -> Run:
    """Runs a client to its end. Its own words are kept for the case that it fails. Without `uploads` it sends nothing."""
    with open(os.devnull, "r+b", buffering=0) as null, _output() as output:
        clock_read, clock_write = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, null.fileno(), 0),
            (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, output.fileno(), 2),
            (os.POSIX_SPAWN_DUP2, clock_write, 3),
        ]
        receiver.expect_upload()
        arguments = [str(launcher), *command]
        process = os.posix_spawn(arguments[0], arguments, {**os.environ, **environment}, file_actions=actions)
        os.close(clock_write)
        try:
            peak_kib, ended, usage, status = wait(process)
        except BaseException:
            os.kill(process, signal.SIGKILL)
            raise
        with os.fdopen(clock_read) as clock:
            started = int(clock.read())
        if status != 0:
            output.seek(0)
            words = output.read().decode(errors="replace").strip()
            raise RunFailed(f"{command[0]}: exit status {os.waitstatus_to_exitcode(status)}: {words[-500:]}")
    upload: Upload | None = receiver.upload() if uploads else None
    return Run(
        wall_seconds=(ended - started) / 1e9,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_kib=peak_kib,
        first_byte_seconds=(upload.first_byte_nanoseconds - started) / 1e9 if upload else math.nan,
        cipher=upload.cipher if upload else "-",
    )


def _output():
    return os.fdopen(os.memfd_create("output"), "w+b")


def wait(process: int):
    """Waits for the end, which a pidfd tells at once, and looks at the memory until then."""
    handle = os.pidfd_open(process)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    peak_kib = 0
    deadline = time.monotonic() + LIMIT_SECONDS
    while not poll.poll(POLL_MILLISECONDS):
        peak_kib = _peak_kib(process) or peak_kib
        if time.monotonic() > deadline:
            os.kill(process, signal.SIGKILL)
    ended = time.monotonic_ns()
    os.close(handle)
    _, status, usage = os.wait4(process, 0)
    return peak_kib, ended, usage, status


def _peak_kib(process: int) -> int:
    try:
        with open(f"/proc/{process}/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except ProcessLookupError:
        pass
    return 0


def system_calls(command: list[str], environment: dict[str, str], receiver: Receiver) -> Counter[str]:
    """How many system calls a run makes, by name, counted by strace over all its threads."""
    receiver.expect_upload()
    counting = ["strace", "-f", "-c", "-U", "calls,name", "-o", "/dev/stdout", *command]
    done = subprocess.run(counting, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        raise RunFailed(f"strace {command[0]}: {done.stderr[-500:]}")
    receiver.upload()
    rows = [line.split() for line in done.stdout.splitlines()]
    return Counter({row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit() and row[1] != "total"})
