"""Each rule is broken, and only it, by what it forbids."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from callfailures.bench import Fault, Hit, Outcome, Run, Sight  # noqa: E402
from callfailures.rules import DOCUMENTED, WAS_SENT, Rule, expected, judge  # noqa: E402
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
        (Rule.HANG, {"faulty": Run(None, "", "", 10)}),
        (Rule.EXIT_CODE, {"faulty": Run(1, "", SENTENCE, 0.1)}),
        (Rule.EXIT_CODE, {"faulty": Run(-11, "", SENTENCE, 0.1)}),
        (Rule.EXIT_CODE, {"faulty": Run(99, "", SENTENCE, 0.1)}),
        (Rule.RIGHT_CODE, {"faulty": Run(3, "", SENTENCE, 0.1)}),
        (Rule.RIGHT_CODE, {"retries": 2}),
        (Rule.RIGHT_CODE, {"hit": hit("recv", "EINTR")}),
        (Rule.CLAIM, {"faulty": DONE, "problem": "the server has 0 recordings of it"}),
        (Rule.SENTENCE, {"faulty": Run(4, "", "", 0.1)}),
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
        (Rule.SECRET, {"secrets": ("the password",)}),
        (Rule.AGAIN, {"again": LOST}),
        (Rule.AGAIN, {"again": Run(None, "", "", 10)}),
        (Rule.ONCE, {"problem_again": "the server has 2 recordings of it"}),
        (Rule.RESUMABLE, {"is_forgotten": True}),
        (Rule.RESUMABLE, {"had_upload": True, "orphans": 1}),
        (Rule.RESUMABLE, {"scenario": "resume-http", "faulty": DONE, "orphans": 1}),
        (Rule.LEFT_OVER, {"left_over": ("5e1f0a77.new",)}),
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


def test_with_json_the_command_that_resumes_is_in_the_same_line():
    words = SENTENCE.strip() + " Resume with: gighive-upload resume 5e1f0a77"
    run = Run(4, event(message=SENTENCE.removeprefix("gighive-upload: ").strip()), words + "\n", 0.1)
    assert rules(is_json=True, faulty=run) == set()


def test_an_upload_whose_creation_was_lost_may_stay_on_the_server():
    assert rules(orphans=1) == set()


@pytest.mark.parametrize(
    "scenario, retries, call, codes", [
        ("tus-http", 0, hit("pread", "EIO", "/x/take-1.mp4"), {3}),
        ("tus-http", 2, hit("fstat", "EIO", "/x/take-1.mp4"), {3}),
        ("tus-http", 0, hit("open", "EACCES", "/x/password"), {2}),
        ("tus-http", 0, hit("connect", "ECONNREFUSED"), {0, 4}),
        ("tus-http", 2, hit("connect", "ECONNREFUSED"), {0}),
        ("post-http", 2, hit("send", "EPIPE"), {0, 4, 16}),
        ("tus-http", 0, hit("fsync", "EIO", "/x/state/gighive/5e1f0a77.new"), {0, 13}),
        ("multipart-http", 0, hit("fsync", "EIO", "/x/state/gighive/5e1f0a77.new"), {0}),
        ("tus-http", 0, hit("flock", "EAGAIN", "/x/state/gighive/directory.lock"), {0}),
        ("tus-http", 0, hit("flock", "EAGAIN", "/x/state/gighive/5e1f0a77.lock"), {11}),
        ("multipart-https", 0, hit("readdir", "EIO", "/x/capath"), {5}),
        ("tus-https", 0, hit("SSL_CTX_new", "failure"), {12}),
        ("tus-https", 2, hit("SSL_CTX_load_verify_file", "failure"), {5}),
        ("tus-http", 0, hit("poll", "EINTR"), {0}),
        ("tus-http", 0, hit("write", "EPIPE", "stdout"), {14}),
        ("list", 0, hit("write", "ENOSPC", "stdout"), {14}),
        ("tus-http", 0, hit("write", "EAGAIN", "stdout"), {0}),
        ("tus-http", 0, hit("write", "ENOSPC", "stderr"), {0}),
        ("tus-http", 0, hit("sendfile", "EINVAL"), {0}),
        ("after-delete", 0, hit("fsync", "EIO", "/x/state/gighive/5e1f0a77.delivered"), {0}),
        ("after-delete", 0, hit("fstat", "EIO", "/x/recordings/take-1.mp4"), {0, 3}),
        ("clean", 0, hit("fsync", "EIO", "/x/state/gighive/removals"), {0, 13, 15}),
        ("clean", 0, hit("realpath", "EACCES", "/x/recordings"), {0, 3, 15}),
        ("after-move", 0, hit("stat", "EACCES", "/x/sent"), {0, 2}),
        ("clean", 0, hit("pwrite", "EINTR", "/x/state/gighive/removals"), {0}),
    ], ids=lambda value: str(value) if isinstance(value, Hit) else None)
def test_the_right_exit_codes(scenario, retries, call, codes):
    assert expected(NAMED[scenario], retries, call) == codes


def test_no_failure_may_end_with_an_internal_error():
    assert 1 not in DOCUMENTED and all(code < 128 for code in DOCUMENTED)
