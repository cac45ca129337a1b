"""Each rule fails, and only it, when what it forbids is observed."""

from __future__ import annotations

from pathlib import Path

import pytest
from station.plan import KEEP, MIB, RELOAD
from station.rules import (
    CHUNK_BYTES, Observation, Rule, Start, Traffic, Written, judge_live, judge_upload, judge_watch, sent_again,
)  # fmt: skip
from station.watch import wrong_status

from line import Interruption
from wire import FORM, JOIN, PATCH, Exchange

SHA256, OTHER = "ab" * 32, "cd" * 32
SIZE = 32 * MIB
DELIVERED = {"event": "delivered", "checksum_sha256": SHA256}
LISTED = {"sha256": SHA256, "size": SIZE, "label": "a", "org_name": "band", "via": "finalize"}
STORED = (SHA256, SHA256, SIZE)


def patch(began: float, offset: int, count: int, status: int | None = 204, upload: str = "/files/1") -> Exchange:
    """Connection 1 came at 10 s, connection 3 at 30 s."""
    tens = int(began // 10)
    return Exchange(tens, "PATCH", upload, PATCH, count, offset, began, None, 10.0 * tens, count, status, upload=upload)


def form(began: float) -> Exchange:
    return Exchange(int(began // 10), "POST", "/api/uploads.php", FORM, 100, None, began, body_bytes=100, status=201)


def cuts(*times: float, what: str = "reset", is_open: bool = True) -> list[Interruption]:
    return [Interruption(time, what, 1, is_open) for time in times]


def observation(*exchanges: Exchange, interrupted_at: tuple[float, ...] = (15.0,), **changes) -> Observation:
    """A round of two starts: the first ends at 20 s with 4, the second delivers at 40 s."""
    seen = Observation({SHA256: Written(SHA256, SIZE, Path("/a.wav"), {"a"}, "band")})
    seen.starts = [Start(10, 20, 4), Start(30, 40, 0, delivered=DELIVERED)]
    seen.recordings, seen.stored, seen.uploads = [LISTED], [STORED], [{"state": "delivered"}]
    seen.traffic = Traffic(list(exchanges) or [patch(11, 0, 8 * MIB), patch(31, 8 * MIB, 24 * MIB)], cuts(*interrupted_at))
    for name, value in changes.items():
        setattr(seen.traffic if name in vars(seen.traffic) else seen, name, value)
    return seen


def rules_of(seen: Observation) -> list[Rule]:
    return [finding.rule for finding in judge_upload(seen)]


def test_a_good_round_passes():
    assert rules_of(observation()) == []


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"delivered": None}, [Rule.DELIVERY]),
        ({"delivered": {"event": "delivered", "checksum_sha256": OTHER}}, [Rule.CONTENT]),
        ({"delivered": {"event": "delivered"}}, [Rule.CONTENT]),
        ({"code": 4}, [Rule.EXIT_CODE]),
        ({"hung": True}, [Rule.HANG]),
        ({"bad_lines": ["hello"]}, [Rule.OUTPUT]),
    ],
)
def test_the_last_start_can_fail(changes, expected):
    seen = observation()
    for name, value in changes.items():
        setattr(seen.starts[-1], name, value)
    assert rules_of(seen) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"refusals": [15.0]},
        {"outages": [(5.0, 11.0)]},
        {"exchanges": [patch(11, 0, 0, 423), patch(31, 0, SIZE)]},
        {"exchanges": [patch(11, 0, 0, 500), patch(31, 0, SIZE)]},
    ],
)
def test_a_locked_upload_or_a_server_that_is_down_is_a_reason(changes):
    assert rules_of(observation(interrupted_at=(), **changes)) == []


@pytest.mark.parametrize("number, start", [(0, Start(10, 20, -9, was_killed=True)), (1, Start(30, 40, -9, was_killed=True)),
                                           (1, Start(30, 40, 0, resumes=True))])  # fmt: skip
def test_our_own_kill_is_no_failure_and_may_come_before_the_event(number, start):
    seen = observation()
    seen.starts[number] = start
    assert rules_of(seen) == []
    seen.uploads = [{"state": "pending"}]
    assert rules_of(seen) == ([Rule.STATE] if number == 0 else [Rule.DELIVERY])


# Bytes.


LOST = (patch(11, 0, CHUNK_BYTES, None), patch(31, 0, CHUNK_BYTES, None), patch(33, 0, SIZE))


@pytest.mark.parametrize(
    "exchanges, interrupted_at, expected",
    [
        pytest.param(LOST, (15.0, 32.0), [], id="a chunk may be lost with each interruption"),
        pytest.param((LOST[0], patch(31, 0, CHUNK_BYTES, 423), LOST[2]), (15.0,), [Rule.AGAIN], id="their number bounds the sum"),
        pytest.param((LOST[0], patch(31, 0, SIZE)), (12.0, 13.0), [], id="a chunk at once"),
        pytest.param((patch(11, 0, CHUNK_BYTES + 1, None), patch(31, 0, SIZE)), (12.0, 13.0), [Rule.AGAIN], id="more at once"),
        pytest.param((patch(11, 0, 1000, 423), patch(31, 0, SIZE)), (10.5,), [], id="a refused request may be repeated"),
        pytest.param((patch(11, 0, 1000, 504), patch(31, 0, SIZE)), (), [], id="a server's failure is an interruption"),
        pytest.param((patch(11, 0, 1000, 409), patch(31, 0, SIZE)), (), [Rule.AGAIN], id="a conflict is none"),
        pytest.param((patch(31, 8 * MIB, SIZE - 8 * MIB),), (15.0,), [Rule.WIRE], id="bytes that went around the line"),
        pytest.param((LOST[0], patch(31, 0, SIZE, upload="/files/2")), (15.0,), [], id="a new upload costs a chunk, too"),
        pytest.param((patch(11, 0, 2 * CHUNK_BYTES, None), patch(31, 0, SIZE, upload="/files/2")), (12.0, 15.0), [Rule.AGAIN],
                     id="or is more than that at once"),
    ],
)  # fmt: skip
def test_what_is_sent_again(exchanges, interrupted_at, expected):
    assert rules_of(observation(*exchanges, interrupted_at=interrupted_at)) == expected


def test_an_interruption_without_a_request_allows_nothing():
    seen = observation(patch(11, 0, 1000, None), patch(31, 0, SIZE), interruptions=cuts(15.0, is_open=False))
    assert sent_again(seen) == 1000 and rules_of(seen) == [Rule.AGAIN]


# With a watcher.


def watched(path: Path, removal: str = KEEP, **changes) -> list[Rule]:
    seen = observation(**changes)
    seen.starts, seen.written[SHA256].path, seen.written[SHA256].removal = [], path, removal
    return [finding.rule for finding in judge_watch(seen)]


def test_each_upload_goes_back_by_itself(tmp_path):
    other = Written(OTHER, SIZE, tmp_path, {"a"}, "band")
    changes = {"recordings": [LISTED, LISTED | {"sha256": OTHER}], "stored": [STORED, (OTHER, OTHER, SIZE)],
               "written": {SHA256: Written(SHA256, SIZE, tmp_path, {"a"}, "band"), OTHER: other}}  # fmt: skip
    halves = [patch(11 + 2 * n, n * SIZE // 2, SIZE // 2, upload=f"/files/{upload}") for n in (0, 1) for upload in (1, 2)]
    assert watched(tmp_path, exchanges=halves, interruptions=[], **changes) == []
    halves[3].offset, halves[3].body_bytes = SIZE // 2 - 5, SIZE // 2 + 5
    assert watched(tmp_path, exchanges=halves, interruptions=[], **changes) == [Rule.AGAIN, Rule.AGAIN]


def test_what_its_recorder_has_written_again_is_sent_again(tmp_path):
    halves = [patch(11, 0, CHUNK_BYTES, upload="/files/1"), patch(13, 0, SIZE, upload="/files/2")]
    written = {SHA256: Written(SHA256, SIZE, tmp_path, {"a"}, "band", rewritten=1)}
    assert watched(tmp_path, exchanges=halves, interruptions=[], written=written) == []
    assert watched(tmp_path, exchanges=halves, interruptions=[]) == [Rule.AGAIN]


def test_what_nothing_was_sent_of_may_stay_under_its_former_name(tmp_path):
    written = Written(SHA256, SIZE, tmp_path, {"a"}, "band")
    written.named({tmp_path, Path("/former")}, [])
    left = {"state": "pending", "file": "/former", "total": 7, "bytes": 0, "file_state": "gone"}
    joined = Exchange(1, "POST", "/files/", JOIN, 0, None, 13, status=201)
    changes = {"exchanges": [patch(11, 0, SIZE), joined], "is_live": True, "written": {SHA256: written}}
    assert watched(tmp_path, uploads=[left], **changes) == []
    for change in ({"bytes": 1}, {"file": "/other"}, {"file_state": "present"}):
        assert watched(tmp_path, uploads=[left | change], **changes) == [Rule.STATE]


def test_something_must_be_sent_while_it_is_made():
    joined = Exchange(1, "POST", "/files/", JOIN, 0, None, 13, status=201)
    finished, waits, sends = Observation(), Observation(is_live=True), Observation(is_live=True, traffic=Traffic([joined]))
    assert [finding.rule for finding in judge_live([finished, waits])] == [Rule.LIVE]
    assert judge_live([waits, sends]) == judge_live([finished]) == []


def test_a_form_is_sent_again_after_an_interruption_only(tmp_path):
    changes = {"exchanges": [form(11), form(31)], "recordings": [LISTED | {"via": "multipart"}]}
    assert watched(tmp_path, interrupted_at=(15.0,), **changes) == []
    assert watched(tmp_path, interruptions=cuts(15.0, what=RELOAD), **changes) == [Rule.AGAIN]
    assert watched(tmp_path, interrupted_at=(), **changes) == [Rule.AGAIN]


def test_a_file_that_its_writer_has_continued_need_not_be_delivered(tmp_path):
    half = Written(OTHER, 7, tmp_path / "gone", {"a"}, "band", is_required=False)
    written = {SHA256: Written(SHA256, SIZE, tmp_path, {"a"}, "band"), OTHER: half}
    failed = {"state": "failed", "file": str(half.path), "total": 7}
    assert watched(tmp_path, written=written, uploads=[failed]) == []
    assert watched(tmp_path, written=written, uploads=[failed | {"total": SIZE}]) == [Rule.STATE]


@pytest.mark.parametrize("changes", [{"waiting_count": 1}, {"set_aside_count": 1}, {"uploads": [{}]}, {"state": "unreachable"}])
def test_a_status_that_has_something_left_is_wrong_at_the_end(changes):
    group = {"waiting_count": 0, "set_aside_count": 0, "set_aside": [], "uploads": [], "state": "ready"}
    assert not wrong_status({"watching": True, "groups": [group]}, is_done=True)
    status = {"watching": True, "groups": [group | changes]}
    assert wrong_status(status, is_done=True) and not wrong_status(status, is_done=False)
    assert wrong_status(status | {"watching": False}, is_done=False)
