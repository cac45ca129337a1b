"""Rules are broken by what they forbid, and only they, beyond what the canaries show in each run."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from callfailures.bench import Fault, Hit, Outcome, Run, Sight  # noqa: E402
from callfailures.rules import DOCUMENTED, WAS_SENT, Rule, judge  # noqa: E402
from callfailures.scenarios import SCENARIOS  # noqa: E402

NAMED = {scenario.name: scenario for scenario in SCENARIOS}
SENTENCE = "gighive-upload: the connection to the server was lost.\n"
LOST = Run(4, "", SENTENCE, 0.1)
DONE = Run(0, "", "", 0.1)
RESET = Hit(3, "recv", "ECONNRESET", 7, "")


def outcome(
    scenario="tus-http", retries=0, is_json=False, hit=RESET, faulty=LOST, again=DONE, problem=None, **more
) -> Outcome:
    again = again if faulty.code != 0 or "seen" in more else None
    fault = Fault(hit.function, hit.number)
    return Outcome(NAMED[scenario], retries, is_json, fault, hit, faulty, problem, again=again, **more)


def rules(*arguments, **changes) -> set[Rule]:
    return {rule for rule, _ in judge(outcome(*arguments, **changes))}


def hit(function: str, way: str, about: str = "") -> Hit:
    return Hit(1, function, way, 5, about)


def event(**changes) -> str:
    words = SENTENCE.removeprefix("gighive-upload: ").strip()
    return json.dumps({"event": "failed", "exit_code": 4, "message": words, **changes}) + "\n"


def test_a_good_end_passes():
    assert rules() == set()
    assert rules(faulty=DONE) == set()
    assert rules(is_json=True, faulty=dataclasses.replace(LOST, out=event())) == set()


@pytest.mark.parametrize(
    "rule, changes", [
        (Rule.EXIT_CODE, {"faulty": Run(99, "", SENTENCE, 0.1)}),
        (Rule.RIGHT_CODE, {"retries": 2}),
        (Rule.SENTENCE, {"faulty": Run(4, "", "gighive-upload: error.\n", 0.1)}),
        (Rule.SENTENCE, {"faulty": Run(4, "", "Fatal error: unexpectedly found nil while unwrapping.\n", 0.1)}),
        (Rule.SENTENCE, {"faulty": Run(4, "", "gighive-upload: TLS with 127.0.0.1 failed: no reason given.\n", 0.1)}),
        (Rule.SENTENCE, {"faulty": Run(4, "", SENTENCE + "See gighive-upload help send.\n", 0.1)}),
        (Rule.SENTENCE, {"faulty": Run(0, "", SENTENCE, 0.1)}),
        (Rule.EVENT, {"is_json": True}),
        (Rule.EVENT, {"is_json": True, "faulty": Run(4, "{", SENTENCE, 0.1)}),
        (Rule.EVENT, {"is_json": True, "faulty": Run(4, event(exit_code=5), SENTENCE, 0.1)}),
        (Rule.EVENT, {"is_json": True, "faulty": Run(4, event(message="something else"), SENTENCE, 0.1)}),
        (Rule.EVENT, {"is_json": True, "faulty": Run(0, event(), "", 0.1)}),
        (Rule.AGAIN, {"again": Run(None, "", "", 10)}),
        (Rule.ONCE, {"problem_again": "the server has 2 recordings of it"}),
    ])
def test_each_rule_is_broken_by_what_it_forbids(rule, changes):
    assert rules(**changes) == {rule}


GONE, THERE, DUE = Sight(False, False, None), Sight(True, False, None), Sight(True, True, None)
LOST_FILE = Sight(False, False, "it is gone, and the server does not have it")
KEPT = Run(0, "", "gighive-upload: warning: take-1.mp4 was kept: it cannot be checked: Input/output error.\n", 0.1)
FULL = hit("renameat2", "ENOSPC", "/x/recordings/.gighive-upload-5e1f0a77")


@pytest.mark.parametrize(
    "wanted, changes", [
        (set(), {"seen": GONE, "seen_again": GONE}),
        (set(), {"seen": THERE, "seen_again": THERE}),
        (set(), {"seen": DUE, "seen_again": GONE}),
        (set(), {"faulty": LOST, "seen": DUE, "seen_again": GONE}),
        ({Rule.LOST}, {"seen": LOST_FILE, "seen_again": GONE}),
        ({Rule.LOST}, {"seen": GONE, "seen_again": LOST_FILE}),
        ({Rule.KEPT}, {"faulty": DONE, "seen": THERE, "seen_again": GONE}),
        ({Rule.KEPT}, {"seen": DUE, "seen_again": DUE}),
        ({Rule.KEPT}, {"faulty": LOST, "seen": THERE, "seen_again": THERE}),
        ({Rule.BALLAST}, {"hit": FULL, "seen": DUE, "seen_again": GONE}),
        ({Rule.LEFT_OVER}, {"seen": GONE, "seen_again": GONE, "left_over": (".gighive-upload-5e1f0a77",)}),
    ])
def test_a_removal_breaks_the_rule_that_forbids_its_end(wanted, changes):
    assert rules(**{"scenario": "after-delete", "faulty": KEPT, **changes}) == wanted


def test_a_form_that_may_be_stored_is_not_sent_again():
    refused = Run(16, "", "gighive-upload: the server may already have stored this recording (upload 5e1f0a77).\n", 0.1)
    unread = hit("fstat", "EIO", "/x/take-1.mp4")
    lost = Run(3, "", "gighive-upload: cannot read take-1.mp4: Input/output error.\n", 0.1)
    changes = {"scenario": "post-http", "hit": unread, "again": refused}
    assert rules(faulty=dataclasses.replace(lost, err=lost.err.strip() + f" {WAS_SENT}\n"), **changes) == set()
    assert rules(faulty=lost, **changes) == {Rule.AGAIN}


@pytest.mark.parametrize("state", ["", " --state-dir /x/state"])
def test_with_json_the_command_that_resumes_is_in_the_same_line(state):
    words = SENTENCE.strip() + " Resume with: gighive-upload resume 5e1f0a77" + state
    run = Run(4, event(message=SENTENCE.removeprefix("gighive-upload: ").strip()), words + "\n", 0.1)
    assert rules(is_json=True, faulty=run) == set()


def test_an_upload_whose_creation_was_lost_may_stay_on_the_server():
    assert rules(orphans=1) == set()


def test_no_failure_may_end_with_an_internal_error():
    assert 1 not in DOCUMENTED and all(code < 128 for code in DOCUMENTED)
