"""Runs one client under the launcher and watches it: memory of the process, queues of its sockets."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import scoreboard
from .scoreboard import Scoreboard

SAMPLE_SECONDS = 0.01
HANGS_AFTER_SECONDS = 300
ENOUGH_HITS = 100_000
"""As in launch.c: a breakpoint that was hit so often in steady state is withdrawn."""
STATUS_FIELDS = ("VmHWM", "VmRSS", "RssAnon", "RssFile")


@dataclass(frozen=True)
class Sample:
    """Bytes, at one moment."""

    seconds: float
    received: int
    peak: int
    resident: int
    anonymous: int
    file: int
    send_queue: int
    """Written by the client, not acknowledged by the receiver."""
    receive_queue: int
    """Acknowledged, not yet read by the receiver."""


@dataclass
class Measurement:
    """The result of one run."""

    exit_code: int = -1
    """The client's; 128 + N if signal N ended it, -1 if it hung or never started."""
    seconds: float = 0.0
    peak: int = 0
    """The highest VmHWM or VmRSS that was seen, in bytes, also in the client's last moment. Since Linux 6.2 VmHWM
    alone can be some hundred KiB low: the kernel counts pages a processor and adds them up for VmRSS only."""
    peak_mapped: int = 0
    """VmPeak: what RLIMIT_AS bounds."""
    samples: list[Sample] = field(default_factory=list)
    allocations: tuple[int, int, int] = (0, 0, 0)
    """Calls before 5 %, from 5 % to 95 %, after 95 % of the transfer."""
    between_allocations: tuple[int, int] = (0, 0)
    """Calls between requests, in the first and in the second half of the transfer."""
    steady_allocations: dict[str, int] = field(default_factory=dict)
    """Those from 5 % to 95 %, by function."""
    stacks: list[tuple[str, list[int]]] = field(default_factory=list)
    """Where they came from: function, then return addresses."""
    output: str = ""

    def highest(self, name: str) -> int:
        return max((getattr(sample, name) for sample in self.samples), default=0)


class Launcher:
    """The compiled launch.c and the breakpoints that it plants."""

    def __init__(self, program: Path, board: Scoreboard, breakpoints: dict[str, int], text: tuple[int, int]):
        self._program, self._board = program, board
        self._breakpoints = [f"{name}={address:x}" for name, address in breakpoints.items()]
        self._text = [f"{address:x}" for address in text]

    def run(
        self, command: list[str], port: int, address_space: int, cgroup_procs: Path | None, environment: dict
    ) -> Measurement:
        """address_space: RLIMIT_AS in bytes, 0 for none. The client's output is kept whole: it is run with --quiet."""
        report = self._board.path.with_suffix(".report")
        output = self._board.path.with_suffix(".output")
        report.unlink(missing_ok=True)
        self._board.reset()
        full = [str(self._program), str(self._board.path), str(report), str(address_space), str(cgroup_procs or "-")]
        full += [*self._text, *self._breakpoints, "--", *command]
        result = Measurement()
        began = time.monotonic()
        with output.open("wb") as sink:
            launcher = subprocess.Popen(
                full, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, env=environment
            )
        try:
            while launcher.poll() is None and time.monotonic() - began < HANGS_AFTER_SECONDS:
                sample = self._sample(time.monotonic() - began, port)
                if sample is not None:
                    result.samples.append(sample)
                time.sleep(SAMPLE_SECONDS)
        finally:
            if launcher.poll() is None:
                launcher.kill()  # its client ends with it (PTRACE_O_EXITKILL)
                launcher.wait()
        result.seconds = time.monotonic() - began
        result.output = output.read_text("utf-8", "replace")
        if report.exists():
            _read_report(report, result)
        result.peak = max(result.peak, result.highest("peak"))
        return result

    def _sample(self, seconds: float, port: int) -> Sample | None:
        pid = self._board[scoreboard.CLIENT_PID]
        if pid == 0:
            return None
        try:
            text = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return None
        values = dict.fromkeys(STATUS_FIELDS, 0)
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name in values:
                values[name] = int(value.split()[0]) * 1024
        if values["VmRSS"] == 0:
            return None  # it has ended
        sent, received = socket_queues(port)
        return Sample(
            seconds,
            self._board[scoreboard.RECEIVED],
            max(values["VmRSS"], values["VmHWM"]),
            values["VmRSS"],
            values["RssAnon"],
            values["RssFile"],
            sent,
            received,
        )


def socket_queues(port: int) -> tuple[int, int]:
    """The client's send queues and the receiver's receive queues, from the kernel's table. (SIOCOUTQ of another
    process's socket cannot be asked for.)"""
    ending = f":{port:04X}"
    sent = received = 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote, queues = fields[1], fields[2], fields[4]
        if remote.endswith(ending):
            sent += int(queues.split(":")[0], 16)
        elif local.endswith(ending) and fields[3] != "0A":  # not the listening socket
            received += int(queues.split(":")[1], 16)
    return sent, received


def _read_report(report: Path, result: Measurement) -> None:
    totals = [0] * 5
    for line in report.read_text().splitlines():
        kind, *words = line.split()
        if kind == "at-exit" and words[0] == "VmHWM:":
            result.peak = int(words[1]) * 1024
        elif kind == "at-exit" and words[0] == "VmPeak:":
            result.peak_mapped = int(words[1]) * 1024
        elif kind == "hits":
            counts = [int(word) for word in words[1:]]
            totals = [total + count for total, count in zip(totals, counts)]
            if counts[scoreboard.STEADY]:
                result.steady_allocations[words[0]] = counts[scoreboard.STEADY]
        elif kind == "stack":
            result.stacks.append((words[0], [int(word, 16) for word in words[1:]]))
        elif kind == "exit":
            result.exit_code = int(words[0])
        elif kind == "signal":
            result.exit_code = 128 + int(words[0])
    result.allocations = tuple(totals[: scoreboard.BETWEEN_EARLY])
    result.between_allocations = tuple(totals[scoreboard.BETWEEN_EARLY :])
