"""Each rule about a power cut fails, and only it, when what it forbids is seen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from board.memory import BEYOND_KIB, LIMIT_KIB, ROWS, Upload  # noqa: E402
from board.memory import judge as judge_memory  # noqa: E402
from board import live, removals  # noqa: E402
from board.rules import Seen, judge  # noqa: E402
from board.story import Story  # noqa: E402
from board.writelog import Cut  # noqa: E402

SHA = {"a.mp4": "aa" * 32, "b.mp4": "bb" * 32}
CUT = Cut(50)


def story(**changes) -> Story:
    told = Story(Path(), [], known={"a.mp4": 10, "b.mp4": 30, "c.mp4": 35}, delivered={"a.mp4": 20})
    told.cancelled = {"c.mp4": 40}
    for name, value in changes.items():
        setattr(told, name, value)
    return told


def record(name: str, state: str) -> dict:
    return {"file": f"/recordings/{name}", "state": state, "checksum_sha256": SHA[name]}


def stored(*names: str) -> tuple[list[dict], list[dict]]:
    return [{"sha256": SHA[name]} for name in names], []


def good() -> Seen:
    return Seen(
        before=[record("a.mp4", "delivered"), record("b.mp4", "pending")],
        after=[record("a.mp4", "delivered"), record("b.mp4", "delivered")],
        codes={"before": 0, "resume": 0, "after": 0},
        server_before=stored("a.mp4"), server_after=stored("a.mp4", "b.mp4"),
    )  # fmt: skip


def rules(seen: Seen, told: Story | None = None, **options) -> set[str]:
    return {finding.partition(":")[0] for finding in judge(told or story(), CUT, seen, **options)} - {"  there were "}


def test_a_good_cut_passes():
    assert rules(good()) == set()


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"before": [record("b.mp4", "pending")]}, "lost"),
        ({"before": [record("a.mp4", "pending"), record("b.mp4", "pending")]}, "lost"),
        ({"before": [record("a.mp4", "delivered")]}, "lost"),
        ({"before": [*good().before, {"file": "/recordings/c.mp4", "state": "pending"}]}, "came back"),
        ({"server_before": stored()}, "invented"),
        ({"server_after": stored("a.mp4")}, "invented"),
        ({"after": good().before}, "not resumed"),
        ({"server_after": stored("a.mp4", "b.mp4", "b.mp4")}, "twice"),
        ({"server_after": (stored("a.mp4", "b.mp4")[0], [{"filename": "x"}] * 2)}, "twice"),
        ({"codes": {"before": 0, "resume": 4, "after": 0}}, "exit codes"),
        ({"codes": {"before": 13, "resume": 0, "after": 0}}, "exit codes"),
        ({"warnings": ["1.record is damaged and was renamed"]}, "torn"),
        ({"problems": ["unmountable"]}, "unmountable"),
    ],
)
def test_each_rule_fails_alone(changes, expected):
    seen = good()
    for name, value in changes.items():
        setattr(seen, name, value)
    assert {rule for rule in rules(seen) if not rule.startswith("  there were")} == {expected}


def test_a_record_may_be_missing_until_the_server_has_seen_its_upload():
    seen = good()
    seen.before, seen.after = seen.before[:1], seen.after[:1]
    assert rules(seen, story(known={"a.mp4": 10, "b.mp4": 51})) == set()


def test_a_read_only_file_system_is_excused_only_where_that_can_be():
    seen = good()
    seen.after, seen.codes["resume"] = seen.before, 13
    seen.errors = ["/state/uploads/1.room: Read-only file system."]
    assert rules(seen, may_be_broken=True) == set()
    assert {"exit codes", "not resumed"} <= rules(seen)
    seen.before = seen.before[:1]
    assert "lost" in rules(seen, may_be_broken=True)


def test_a_directory_that_cannot_be_read_is_told_of_and_is_excused_only_where_that_can_be():
    seen = good()
    seen.is_unreadable, seen.before, seen.after = True, [], []
    seen.codes = {"before": 13, "resume": 13, "after": 13}
    assert rules(seen, may_be_broken=True) == set()
    assert rules(seen) == {"the directory of the records cannot be read"}
    seen.codes["resume"] = 0
    assert len(rules(seen, may_be_broken=True)) == 1


@pytest.mark.parametrize(
    "changes", [{"code": 1}, {"killed": 1}, {"peak": 0}, {"hwm": 0}, {"peak": LIMIT_KIB + BEYOND_KIB + 1}, {"bytes": 6}]
)
def test_a_measurement_in_little_memory_can_fail(changes):
    upload = Upload("arm64", ROWS[0], 5, code=0, peak=LIMIT_KIB, hwm=4000)
    judge_memory(upload, [("ab", 5)], "ab")
    assert upload.findings == []
    for name, value in changes.items():
        setattr(upload, name, value)
    judge_memory(upload, [("ab", 5)], "ab")
    assert len(upload.findings) == 1


def test_records_that_are_being_forgotten_may_be_missing():
    seen = good()
    seen.before, seen.after = seen.before[1:], seen.after[1:]
    assert "lost" in rules(seen, story(forgotten=60, cancelled={"c.mp4": 55}))
    assert "lost" not in rules(seen, story(forgotten=60))


def removed(*there: str) -> Seen:
    """After a cut before the end of the removal of d.mp4; all others were removed or moved, or are there."""
    moved = [[removals.SHA256[name], f"/state/sent/{name}"] for name in sorted(removals.MOVED)]
    every = [{"sha256": sha256} for sha256 in removals.SHA256.values()]
    records = [{"file": f"/state/rec/{name}", "state": "delivered"} for name in removals.SHA256]
    look = [*([removals.SHA256[name], f"/state/rec/{name}"] for name in there), *moved]
    return Seen(
        before=records, codes={"before": 0, "resume": 0, "send": 3, "clean": 15},
        looks={"first": look, "then": look, "last": moved}, server_before=(every, []), server_after=(every, []),
    )  # fmt: skip


ENDED = Story(Path(), [], delivered={"a.mp4": 50, "c.mp4": 50, "b.mp4": 51})
LINE = '1c291ca3 {"id":"5e1f0a77","file":"/state/rec/b.mp4","device":"7","file_system":"5"}'
HIDDEN = "/state/rec/.gighive-upload-5e1f0a77"


def removal_rules(seen: Seen, **options) -> set[str]:
    return {finding.partition(":")[0] for finding in removals.judge(ENDED, CUT, seen, **options)} - {"  there were {'first'"}


def test_a_good_cut_of_removals_passes():
    assert removal_rules(removed()) == set() == removal_rules(removed("b.mp4", "e.mp4"))


@pytest.mark.parametrize(
    "rule, change",
    [
        ("lost", lambda seen: seen.server_before[0].pop(1)),
        ("unrecorded", lambda seen: seen.before.pop(1)),
        ("came back", lambda seen: seen.places("first").append([removals.SHA256["a.mp4"], HIDDEN])),
        ("came back", lambda seen: seen.places("first")[0].__setitem__(1, "/state/rec/c.mp4")),
        ("torn", lambda seen: seen.places("first").append(["00" * 32, "/state/rec/b.mp4"])),
        ("torn", lambda seen: seen.places("last").append(["unreadable", "/state/sent/b.mp4"])),
        ("hidden", lambda seen: seen.looks.update(then=[*seen.places("first"), [removals.SHA256["b.mp4"], HIDDEN]])),
        ("half removed", lambda seen: setattr(seen, "journal", LINE)),
        ("not removed", lambda seen: seen.places("last").append([removals.SHA256["b.mp4"], "/state/rec/b.mp4"])),
        ("exit codes", lambda seen: seen.codes.update(resume=4)),
        ("exit codes", lambda seen: seen.codes.pop("send")),
        ("delivered 0 times", lambda seen: setattr(seen, "server_after", (seen.server_after[0][1:], []))),
        ("delivered 2 times", lambda seen: setattr(seen, "server_after", (seen.server_after[0] + seen.server_after[0][:1], []))),
        ("unmountable", lambda seen: seen.problems.append("unmountable")),
    ],
)  # fmt: skip
def test_each_rule_of_removals_fails_alone(rule, change):
    seen = removed()
    seen.looks = {moment: list(map(list, places)) for moment, places in seen.looks.items()}
    seen.server_before = (list(seen.server_before[0]), [])
    change(seen)
    assert {finding for finding in removal_rules(seen) if not finding.startswith("  there were")} == {rule}


def test_files_that_a_broken_file_system_does_not_let_go_are_excused():
    seen = removed("b.mp4")
    seen.errors, seen.codes["resume"] = ["Read-only file system."], 13
    seen.looks["last"] = seen.places("first")
    assert removal_rules(seen, may_be_broken=True) == set()
    assert removal_rules(seen) == {"exit codes", "not removed"}


SHORTER = "cc" * 32


def made(*stored: str, on_disk: str = SHORTER, state: str = "pending") -> Seen:
    """After a cut that took the end of the recording."""
    look = [[on_disk, "/state/rec/a.wav"]]
    before = [{"sha256": sha256} for sha256 in stored]
    return Seen(
        before=[{"file": "/state/rec/a.wav", "state": state}], codes={"resume": 3, "send": 0}, looks={"first": look, "last": list(look)},
        server_before=(before, []), server_after=([*before, {"sha256": on_disk}], []),
    )  # fmt: skip


def live_rules(seen: Seen, delivered: int = 51, **options) -> set[str]:
    found = live.judge(Story(Path(), [], delivered={"a.mp4": delivered}), CUT, seen, **options)
    return {finding.partition(":")[0] for finding in found} - {"  there were {'first'"}


def test_a_good_cut_while_a_recording_is_made_passes():
    assert live_rules(made()) == set() == live_rules(made(live.SHA256))
    whole = made(on_disk=live.SHA256, state="delivered")
    whole.server_before = whole.server_after
    assert live_rules(whole, delivered=50) == set()


@pytest.mark.parametrize(
    "rule, change",
    [
        ("torn", lambda seen: seen.looks["last"].clear()),
        ("exit codes", lambda seen: seen.codes.update(send=4)),
        ("delivered 0 times", lambda seen: seen.server_after[0].clear()),
        ("invented", lambda seen: seen.server_after[0].append({"sha256": "dd" * 32})),
        ("invented", lambda seen: seen.server_after[0].append({"sha256": live.SHA256})),
        ("left on the server", lambda seen: seen.server_after[1].extend([{}, {}])),
        ("unmountable", lambda seen: seen.problems.append("unmountable")),
    ],
)
def test_each_rule_of_a_recording_that_is_made_fails_alone(rule, change):
    seen = made()
    change(seen)
    assert live_rules(seen) == {rule}


def test_a_recording_may_be_delivered_only_once_and_its_delivery_not_be_lost():
    twice = made(SHORTER)
    assert live_rules(twice) == {"delivered 2 times", "twice"}
    assert live_rules(made(), delivered=50) == {"lost"} and live_rules(made(), delivered=50, may_be_broken=True) == set()
