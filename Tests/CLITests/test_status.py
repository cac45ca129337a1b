"""`status` without a watcher, and with a stand-in that leaves what a watcher leaves: a locked file and the file that it names."""

import fcntl
import json
import os

import pytest
from uploads import TUS, stop

SIZE = 6_000_000
GROUP = {
    "destination": "https://gighive/", "state": "ready",
    "directories": [{"directory": "/srv/recordings", "state": "watched", "free_bytes": 12_300_000_000, "space_short": False}],
    "uploads": [{"id": "5e1f0a77", "file": "/srv/recordings/gig.mp4", "bytes": 19, "total": 47, "bytes_per_second": 7,
                 "remaining_seconds": 4}],
    "waiting_count": 12, "waiting_bytes": 40_100_000_000, "unready_count": 1,
    "unready": [{"id": None, "file": "/srv/recordings/new.wav", "message": "It is still being written."}],
    "postponed_count": 0, "postponed": [], "set_aside_count": 1,
    "set_aside": [{"id": None, "file": "/srv/recordings/bad.mp4", "since": "2026-11-23T08:00:00.000Z", "message": "refused."}],
    "last_delivery": {"id": "0badcafe", "file": "/srv/recordings/a.mp4", "delivered": "2026-11-23T08:01:00.000Z", "asset_id": 17},
    "delivered_count": 45, "delivered_bytes": 120_000_000_000, "failed_count": 7, "removed_count": 40, "not_compared_count": 0,
}


@pytest.fixture
def watcher(program):
    """Holds the lock and writes the status, as a watcher does."""
    files = []

    def watcher(text=None, path=None):
        directory = program.state / "watch"
        directory.mkdir(parents=True)
        path = path or directory / "status.json"
        lock = open(directory / "lock", "wb", buffering=0)
        files.append(lock)
        lock.write(os.fsencode(path))
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if text is not None:
            path.write_bytes(text.encode("latin-1"))
        return path

    yield watcher
    for file in files:
        file.close()


def shown(**changes) -> str:
    document = {"pid": os.getpid(), "started": "2026-11-23T07:00:00.000Z", "updated": "2026-11-23T08:02:00.000Z", "groups": [GROUP]}
    return json.dumps({**document, **changes})


def test_without_anything_nothing_is_created(program):
    result = program.run("status")
    assert (result.code, result.out, result.err) == (3, f"Not watching. State directory: {program.state}\n", "")
    result = program.run("status", "--json")
    assert result.code == 3 and result.outcome == {"watching": False, "pending_count": 0, "failed_count": 0, "removal_due_count": 0}
    assert not program.state.exists()


def test_without_a_watcher_the_records_are_counted(hive, program, recording):
    stub = hive()
    assert program.send(stub, *TUS, recording(SIZE, "one.mp4")).code == 0
    stub.set_faults("create/status=401")
    assert program.send(stub, *TUS, recording(SIZE, "two.mp4")).code == 6
    stop(program, stub, recording(SIZE, "three.mp4"), at=SIZE // 2)
    result = program.run("status", "--json")
    assert result.code == 3 and result.outcome == {"watching": False, "pending_count": 1, "failed_count": 1, "removal_due_count": 0}
    assert "1 pending and 1 failed uploads: gighive-upload list\n" in program.run("status").out
    directory = program.directory / "state directory"
    directory.symlink_to(program.state)
    assert f"uploads: gighive-upload list --state-dir '{directory}'\n" in program.run("status", "--state-dir", directory).out


def test_a_watchers_status_is_shown(program, watcher):
    watcher(shown())
    result = program.run("status", "--json")
    assert result.code == 0 and result.err == "", result
    assert result.outcome == {"watching": True, **json.loads(shown()), "pending_count": 0, "failed_count": 0, "removal_due_count": 0}
    text = program.run("status").check().out
    for words in (f"Watching since 2026-11-23 07:00 UTC (process {os.getpid()}).", "gig.mp4  40 %  19 B of 47 B  7 B/s  ETA 0:04",
                  "12 recordings, 40.1 GB", "/srv/recordings/bad.mp4: refused.", "a.mp4 (asset 17), 2026-11-23 08:01 UTC"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have process IDs of its own")
def test_a_watcher_without_a_process_id_here_is_seen(program, watcher):
    """As from another container."""
    watcher(shown())
    assert program.run("status", "--json", under=["unshare", "--pid", "--fork"]).check().outcome["watching"]


def test_a_watcher_that_has_just_started_has_no_status(program, watcher):
    watcher()
    assert program.run("status", "--json").check().outcome == {"watching": True, "pending_count": 0, "failed_count": 0, "removal_due_count": 0}
    assert program.run("status").check().out.startswith("Watching; no status yet.")


DAMAGED = {"empty": "", "cut off": shown()[:-1], "with more behind it": shown() + "}", "not UTF-8": "\xff",
           "too deep": "[" * 5000, "too long": shown() + " " * (4 << 20)}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_status_is_none(program, watcher, text):
    watcher(text)
    result = program.run("status", "--json")
    assert result.code == 0 and result.outcome == {"watching": True, "pending_count": 0, "failed_count": 0, "removal_due_count": 0}


def test_a_status_that_is_no_file_is_none(program, watcher):
    os.mkfifo(watcher())
    assert program.run("status", "--json").check().outcome["watching"] is True


def test_a_state_directory_that_cannot_be_used_is_an_error(program, tmp_path):
    (tmp_path / "file").touch()
    result = program.run("status", "--state-dir", tmp_path / "file")
    assert result.code == 13 and "Not a directory" in result.err


def test_status_takes_no_operand(run):
    result = run("status", "/srv/recordings")
    assert result.code == 2 and "--state-dir" in result.err
