"""The harness proves itself: a right client passes, and each wrong one is caught for what is wrong with it."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from chaos import client as clients  # noqa: E402
from chaos import round as rounds  # noqa: E402
from chaos.conduct import CALM, CLOSE, RESET, Conduct, Point, Trouble  # noqa: E402
from chaos.plan import MIB, Attempt, Moment, Plan, Receiver, ServerKill  # noqa: E402
from chaos.rules import Rule  # noqa: E402
from chaos.wire import CREATION, FINALIZE, PATCH  # noqa: E402
from fake_client import WRONG  # noqa: E402

SIZE = 24 * MIB
STREAMING = Receiver(is_spooling=False, checksums=False, creation_with_upload=False, lock_seconds=0.0)
SPOOLING = Receiver(is_spooling=True, checksums=False, creation_with_upload=False, lock_seconds=0.0)


class Script(Plan):
    """A plan whose blows are given instead of drawn."""

    def __init__(self, troubles: list[Trouble | None] = (), kills: list[Moment] = (), retries: int = 5, **changes):
        super().__init__(seed=1, size=SIZE)
        self.receiver, self.server_kills = SPOOLING, []
        self._script, self._kills, self._retries = list(troubles), list(kills), retries
        self.troubles = len(self._script)
        for name, value in changes.items():
            setattr(self, name, value)

    def conduct(self, number: int, has_trouble: bool) -> Conduct:
        return Conduct(trouble=self._script[number]) if number < len(self._script) else CALM

    def attempt(self, number: int) -> Attempt:
        kill = self._kills[number] if number < len(self._kills) else None
        return Attempt(resumes=number % 2 == 1, kill=kill, retries=self._retries, pause=0.0)


@pytest.fixture
def play(tmp_path):
    def run(plan: Plan, wrong: str = "") -> rounds.Outcome:
        binary = tmp_path / "client"
        binary.write_text(f"#!/bin/sh\nFAKE_WRONG={wrong} exec {sys.executable} -B {FOLDER}/fake_client.py \"$@\"\n")
        binary.chmod(0o755)
        base = tmp_path / "base"
        base.write_bytes(random.Random(0).randbytes(SIZE))
        outcome = rounds.run(rounds.Setting(binary, tmp_path, base, SIZE), 1, plan)
        print(*outcome.log, *outcome.findings, sep="\n")
        return outcome

    return run


def rules_of(outcome: rounds.Outcome) -> set[Rule]:
    return {finding.rule for finding in outcome.findings}


CUT = Trouble(RESET, Point(12 * MIB))
"""In the second chunk of the right client."""


@pytest.mark.parametrize("receiver", [STREAMING, SPOOLING], ids=lambda receiver: receiver.name)
@pytest.mark.parametrize("retries", [0, 5])
def test_a_right_client_passes(play, receiver, retries):
    troubles = [CUT, Trouble(CLOSE, Point(0, FINALIZE, is_answer=True)), Trouble(CLOSE, Point(20, FINALIZE, is_answer=True))]
    outcome = play(Script(troubles, receiver=receiver, retries=retries))
    assert rules_of(outcome) == set()
    assert [interruption.what for interruption in outcome.seen.interruptions] == [RESET, CLOSE, CLOSE]
    assert len(outcome.seen.starts) == (4 if retries == 0 else 1)


@pytest.mark.parametrize(
    "point",
    [
        Point(0, CREATION),
        Point(0, CREATION, is_answer=True),
        Point(None, CREATION, is_answer=True),
        Point(5 * MIB, PATCH),
        Point(0, PATCH, is_answer=True),
        Point(0, FINALIZE),
        Point(0, FINALIZE, is_answer=True),
    ],
    ids=str,
)
def test_a_right_client_survives_a_kill(play, point):
    outcome = play(Script(kills=[Moment(point), Moment(point)]))
    assert rules_of(outcome) == set()
    assert 1 <= sum(start.was_killed for start in outcome.seen.starts) <= 2


def test_a_right_client_survives_the_servers_death(play):
    outcome = play(Script(server_kills=[ServerKill(Moment(Point(12 * MIB)), 0.1)], receiver=STREAMING, retries=8))
    assert rules_of(outcome) == set()
    assert len(outcome.seen.outages) == 1


PLANS = {
    "restart": (lambda: Script([CUT], receiver=STREAMING), {Rule.AGAIN}),
    "large-chunks": (lambda: Script([CUT]), {Rule.AGAIN}),
    "two-events": (lambda: Script(), {Rule.RECORDINGS, Rule.AGAIN}),
    "corrupt": (lambda: Script(), {Rule.CONTENT}),
    "claim": (lambda: Script(), {Rule.RECORDINGS, Rule.CONTENT}),
    "code": (lambda: Script([CUT], retries=0), {Rule.EXIT_CODE, Rule.DELIVERY}),
    "hang": (lambda: Script([CUT]), {Rule.DELIVERY, Rule.HANG}),
    "secret": (lambda: Script(), {Rule.SECRET}),
    "checksum": (lambda: Script(), {Rule.CONTENT}),
    "forget": (lambda: Script(), {Rule.STATE}),
    "timid": (lambda: Script(), {Rule.NO_REASON}),
    "noise": (lambda: Script(), {Rule.OUTPUT}),
}


def test_every_wrong_client_is_run():
    assert set(PLANS) | {""} == set(WRONG)


@pytest.mark.parametrize("wrong", PLANS)
def test_a_wrong_client_is_caught(play, wrong, monkeypatch):
    monkeypatch.setattr(clients, "HANGS_AFTER_SECONDS", 5.0 if wrong == "hang" else 60.0)
    plan, expected = PLANS[wrong]
    assert rules_of(play(plan(), wrong)) == expected


def test_the_program_ends_with_1_and_says_how_to_see_it_again(tmp_path):
    binary = tmp_path / "client"
    binary.write_text(f"#!/bin/sh\nFAKE_WRONG=forget exec {sys.executable} -B {FOLDER}/fake_client.py \"$@\"\n")
    binary.chmod(0o755)
    command = [sys.executable, "-B", str(FOLDER), "--binary", str(binary), "--rounds", "2", "--seed", "7", "--size", "300000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"python3 Tests/Chaos --binary {binary} --size 300000 --replay 8" in done.stdout
    assert done.stdout.endswith("0 passed, 2 failed\n")


def test_the_long_line_is_measured(tmp_path):
    fake = [sys.executable, "-B", str(FOLDER / "delay.py"), "--binary", str(FOLDER / "fake_client.py")]
    command = [*fake, "--size", "2000000", "--rate", "160", "--round-trip", "10"]
    for limit, code in (("100", 0), ("0.5", 1)):
        done = subprocess.run([*command, "--limit", limit], capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        assert [line.split("  ")[0] for line in done.stdout.splitlines()[1:4]] == [
            "curl, one PATCH", "to --tus-url", "to --server, with finalize",
        ]  # fmt: skip
