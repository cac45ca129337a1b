"""`watch` and everything that goes wrong: each recording arrives once nevertheless, and none holds up the others."""

import hashlib
import os
import signal
from pathlib import Path

import pytest
from program import private, wait_until
from records import only_record
from uploads import PASSWORD, of_kind
from watching import configure, got, has, has_bytes, section, times_sent, wait_for_status, write

SIZE = 6_000_000
TUS = ["--protocol", "tus", "--settle", "300ms"]


# Files that change.


@pytest.fixture
def halfway(hive, watch, rec):
    """A watcher in the middle of an upload: the stub, the file and the watcher."""
    stub = hive("PATCH/stall-after=2000000@1", user="uploader")
    file = write(rec / "a.wav", SIZE)
    watching = watch(stub, *TUS, "--set", "stall-timeout=60s")
    has_bytes(stub, 2_000_000)
    return stub, file, watching


def test_nothing_outside_is_sent_or_removed_when_a_directory_is_replaced_by_a_link(hive, watch, rec, tmp_path):
    stub = hive("PATCH/slow-read=2000000@1")
    first = write(rec / "sw" / "a.wav", SIZE)
    for name in ("b.wav", "c.wav"):
        write(rec / "sw" / name)
    outside = [write(tmp_path / "outside" / name) for name in ("a.wav", "b.wav", "c.wav")]
    content = first.read_bytes()
    watching = watch(stub, *TUS, "--set", "order=name", "--after", "remove")
    # Meanwhile the worker has the name of the second one.
    has_bytes(stub, 1_500_000)
    (rec / "sw").rename(tmp_path / "away")
    (rec / "sw").symlink_to(tmp_path / "outside")
    watching.says("is behind a symbolic link, not a regular file.")
    watching.says("a.wav was kept: it was renamed, moved or removed in the meantime.")
    late = write(rec / "late.wav")
    wait_until(lambda: not late.exists(), what="the end of everything before")
    watching.idle()
    watching.stop()
    assert got(stub) == ["a", "late"] and stub.recordings[0].sha256 == hashlib.sha256(content).hexdigest()
    assert all(file.exists() for file in outside) and (tmp_path / "away" / "a.wav").exists()


def test_a_watched_directory_can_be_a_link(hive, watch, rec, tmp_path):
    stub = hive()
    (tmp_path / "link").symlink_to(rec)
    write(rec / "a.wav")
    watching = watch(stub, "--after", "remove", directory="link")
    wait_until(lambda: not (rec / "a.wav").exists(), what="a removal")
    later = write(rec / "sub" / "b.wav")
    wait_until(lambda: not later.exists(), what="a removal")
    watching.stop()
    assert got(stub) == ["a", "b"]


def test_recordings_are_delivered_without_the_directory_that_they_move_to(hive, program, watch, rec):
    """Its drive may come back. It can be in the watched directory: nothing is sent from there, by `send -r` neither."""
    stub, moved = hive(), rec / "moved"
    write(rec / "a.wav")
    watching = watch(stub, "--after", f"move={moved}")
    watching.says(f"--after: {moved} is not a directory. Recordings stay where they are")
    watching.says("a.wav was kept")
    moved.mkdir()
    second = write(rec / "b.wav")
    wait_until((moved / "b.wav").exists, what="a move")
    write(moved / "x.wav")
    last = write(rec / "c.wav")
    wait_until((moved / "c.wav").exists, what="a move")
    watching.stop()
    assert got(stub) == ["a", "b", "c"] and not second.exists() and not last.exists()
    assert program.send(stub, rec, "-r", "--after", f"move={moved}").code == 0 and got(stub) == ["a", "b", "c"]
    assert program.send(stub, moved, "-r", "--after", f"move={moved}").code == 0 and got(stub) [:3] == ["a", "b", "c"]


# Processes that end.


def is_gone(process: int) -> bool:
    try:
        return open(f"/proc/{process}/stat").read().split()[2] == "Z"
    except FileNotFoundError:
        return True


def test_a_killed_worker_costs_one_retry(halfway):
    stub, file, watching = halfway
    os.kill(watching.wait_for_worker(), signal.SIGKILL)
    has(stub, file, seconds=30)
    watching.says("was killed (signal 9). It will be retried.")
    watching.says("the destination works again.")
    watching.stop()
    # It went on where it was.
    assert len(of_kind(stub, "create")) == 1


@pytest.mark.long
def test_a_stopped_worker_is_reported_and_continued_by_sighup(hive, watch, rec, program):
    stub = hive("PATCH/slow-read=2000000@1")
    file = write(rec / "a.wav", SIZE)
    watching = watch(stub, *TUS)
    has_bytes(stub, 500_000)
    worker = watching.worker
    os.kill(worker, signal.SIGSTOP)
    watching.says(f"a signal has stopped process {worker}")
    found = wait_for_status(program, lambda found: found["groups"][0]["state"] == "stopped")
    assert found["groups"][0]["process"] == worker
    os.kill(watching.pid, signal.SIGHUP)
    watching.says("recordings are sent again.")
    has(stub, file, seconds=60)
    assert watching.stop() == 0


def test_a_recording_that_is_renamed_while_it_is_sent_is_removed_under_its_new_name(hive, watch, rec, program):
    """It was read again after that, so its status time shows that it is what was delivered."""
    stub = hive("slow-read=1500000", user="uploader")
    file = write(rec / "a.wav", SIZE)
    watching = watch(stub, *TUS, "--after", "remove")
    has_bytes(stub, 100_000)
    file.rename(rec / "b.wav")
    watching.says("a.wav: delivered.")
    assert "changed_seconds" in only_record(program).document
    wait_until(lambda: not file.with_name("b.wav").exists(), 30, what="the removal")
    watching.stop()
    assert len(stub.recordings) == 1
    assert only_record(program).document["file"] == str(rec / "b.wav")


def test_a_killed_watcher_takes_its_worker_along(halfway, watch):
    stub, file, watching = halfway
    worker = watching.wait_for_worker()
    watching.kill()

    wait_until(lambda: is_gone(worker), what="the worker's end")
    again = watch(stub, *TUS)
    has(stub, file, seconds=30)
    again.stop()
    assert len(of_kind(stub, "create")) == 1


# The network, the server and the destination.


@pytest.mark.long
def test_wrong_credentials_pause_until_their_file_changes(hive, watch, tmp_path):
    stub = hive()
    contents = {tmp_path / "password": "{}", tmp_path / ".netrc": "machine 127.0.0.1 login uploader password {}"}
    for file, content in contents.items():
        private(file, content.format("wrong"))
    files = [write(tmp_path / directory / f"{name}.wav", 2_000_000) for directory in ("one", "two") for name in "abc"]
    text = f"server = {stub.url}\nlabel = {{stem}}\n"
    text += section(tmp_path / "one", user="uploader", password_file=tmp_path / "password") + section(tmp_path / "two", netrc="yes")
    config = private(tmp_path / "watch.conf", text)
    watching = watch(None, "--config", config, named=False, env={"HOME": str(tmp_path), "GIGHIVE_PASSWORD": None})
    watching.says("Nothing is sent until this is fixed", count=2)
    watching.idle()
    # The first one of each, and what the workers had been given already.
    assert len(stub.requests) <= 6 and stub.recordings == []
    for file, content in contents.items():
        private(file, content.format("secret"))
    has(stub, *files, seconds=60)
    watching.says("the destination works again.", count=2)
    watching.stop()
    assert watching.log.count("Nothing is sent until this is fixed") == 2
    assert "secret" not in watching.log


def has_sent(stub, count: int) -> None:
    wait_until(lambda: len(of_kind(stub, "multipart")) == count, 20, f"{count} attempts")


def test_a_restart_leaves_set_aside_what_has_not_changed_and_a_person_can_resume_it(hive, watch, program, rec):
    stub = hive("multipart/status=400")
    file = write(rec / "a.wav")

    for count in range(2):
        watching = watch(stub)
        shown = wait_for_status(program, lambda found: found["groups"][0]["set_aside_count"] == 1)
        (entry,) = shown["groups"][0]["set_aside"]
        assert "400" in entry["message"] and entry["file"] == str(file) and "next_retry" in entry
        watching.stop() if count else watching.kill()
    assert len(of_kind(stub, "multipart")) == 1 and watching.log.count("set aside") == 1
    # Other options may be what it needs.
    watching = watch(stub, "--field", "notes=n")
    has_sent(stub, 2)
    watching.says("set aside until it changes", count=2)
    watching.stop()
    with open(file, "ab") as more:
        more.write(b"fixed")
    watching = watch(stub, "--field", "notes=n")
    has_sent(stub, 3)
    watching.says("set aside until it changes", count=3)
    watching.idle()
    stub.set_faults()
    advised = watching.log.rpartition("you run gighive-upload resume ")[2][:8]
    program.run("resume", advised, env=PASSWORD).check()
    has(stub, file)
    watching.stop()


# Signals and the configuration.


def test_a_changed_event_sends_nothing_again(hive, watch, tmp_path, program):
    stub = hive()
    files = [write(tmp_path / "rec" / f"{name}.wav") for name in ("a", "b")]
    for band in ("One", "Two"):
        config = configure(tmp_path, stub, f"label = x\norg-name = {band}\n[watch {tmp_path}/rec]\n")
        watching = watch(None, "--config", config, named=False)
        if band == "Two":
            files.append(write(tmp_path / "rec" / "c.wav"))
        has(stub, *files)
        watching.idle()
        watching.stop()
    assert watching.log.count('.wav: was delivered to the event "One" and is not sent to a new one.') == 1
    form = ["--org-name", "Two"]
    assert program.send(stub, files[0], *form, "--json").check().outcome["event"] == "delivered"
    assert times_sent(stub) == 4


def test_at_the_end_no_group_waits_for_another(hive, watch, tmp_path):
    stub = hive("multipart/stall-after=1000")
    for name in ("one", "two"):
        write(tmp_path / name / "a.wav", 100_000)
    config = configure(tmp_path, stub, "".join(f"[watch {tmp_path}/{name}]\nlabel = {name}\n" for name in ("one", "two")))

    def second_ends_before_the_first():
        watching = watch(None, "--config", config, named=False)

        def worker(name):
            commands = {Path(f"/proc/{worker}/cmdline").read_bytes(): worker for worker in watching.workers}
            return next((commands[command] for command in commands if f"--label={name}".encode() in command), None)

        one, two = (wait_until(lambda name=name: worker(name), 20, "a worker") for name in ("one", "two"))
        os.kill(one, signal.SIGSTOP)
        watching.running.signal(signal.SIGINT)
        wait_until(lambda: not Path(f"/proc/{two}").exists(), what="the end of the second one")
        is_first_there = Path(f"/proc/{one}").exists()
        if is_first_there:
            os.kill(one, signal.SIGCONT)
        assert watching.running.wait(10).code == 0 and is_gone(one)
        return is_first_there

    # After four seconds the first one is killed. A busy machine may need as long for the second one.
    assert any(second_ends_before_the_first() for _ in range(3))
