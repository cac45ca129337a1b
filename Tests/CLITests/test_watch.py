"""`watch`: what it takes and when, and that each recording arrives once."""

import os
import shutil
import signal
import subprocess
import time

import page_cache
import pytest
from broken_disk import BrokenDisk
from program import private, strace, wait_until
from test_full_disks import mount
from uploads import rewrite
from watching import got, has, times_sent, write


# What is taken, and when.


def test_existing_and_new_recordings_are_delivered_once(hive, watch, rec):
    stub = hive()
    files = [write(rec / "a.wav"), write(rec / "sub" / "b.wav")]
    watching = watch(stub)
    has(stub, *files)
    files += [write(rec / "c.wav"), write(rec / "sub" / "deeper" / "d.wav"), write(rec / "sub" / "e.wav")]
    has(stub, *files)
    watching.idle()
    assert times_sent(stub) == 5
    assert watching.stop() == 0
    assert "a.wav: delivered." in watching.log and "stopped." in watching.log and "locked" not in watching.log
    again = watch(stub)
    files.append(write(rec / "f.wav"))
    has(stub, *files)
    again.stop()
    assert times_sent(stub) == 6


def test_a_delivered_recording_that_may_have_changed_is_compared_after_others_are_sent(hive, watch, rec):
    stub = hive()
    changed = write(rec / "a.wav", 300_000)
    watching = watch(stub)
    has(stub, changed)
    watching.stop()
    rewrite(changed, 150_000)
    write(rec / "b.wav")
    watch(stub)
    wait_until(lambda: len(stub.recordings) == 3, what="three recordings")
    assert got(stub) == ["a", "b", "a"]


def test_a_recording_that_is_moved_or_linked_into_place_is_delivered(hive, watch, rec, tmp_path):
    stub = hive()
    watching = watch(stub)
    watching.says("watching")
    write(tmp_path / "elsewhere.wav").rename(rec / "moved.wav")
    write(tmp_path / "night" / "one" / "n.wav")
    (tmp_path / "night").rename(rec / "night")
    os.link(write(tmp_path / "elsewhere.wav"), rec / "linked.wav")
    unnamed, place = os.open(rec, os.O_TMPFILE | os.O_WRONLY), os.open(rec, os.O_RDONLY)
    os.write(unnamed, b"complete before it has a name")
    # With a directory, Python follows the link in /proc.
    os.link(f"/proc/self/fd/{unnamed}", "unnamed.wav", src_dir_fd=place, dst_dir_fd=place)
    os.close(unnamed)
    os.close(place)
    has(stub, *(rec / name for name in ("moved.wav", "night/one/n.wav", "linked.wav", "unnamed.wav")), seconds=60)
    assert watching.stop() == 0


def test_unfinished_empty_and_other_files_are_not_taken(hive, watch, rec):
    stub = hive()
    others = [rec / name for name in ("other.wav.part", "a.txt", "empty.wav")]
    for file in others:
        file.write_bytes(b"" if file.stem == "empty" else b"label=x\n")
    downloading, mark = write(rec / "a.wav"), rec / "a.wav.aria2"
    mark.touch()
    watching = watch(stub)
    for file in others:
        file.touch()
    good = write(rec / "good.wav")
    has(stub, good)
    watching.idle()
    assert times_sent(stub) == 1
    mark.unlink()
    has(stub, good, downloading)
    watching.idle()
    watching.stop()
    assert times_sent(stub) == 2 and "set aside" not in watching.log


def test_patterns_sizes_and_the_order(hive, watch, rec):
    stub = hive()
    for name, size, age in [
        ("a.wav", 200, 10), ("b.wav", 300, 30), ("c.wav", 100, 20),
        ("small.wav", 99, 20), ("skip-me.wav", 200, 20), ("d.mp3", 150, 20),
    ]:  # fmt: skip
        os.utime(write(rec / name, size), (time.time() - age,) * 2)
    options = ["--match", "*.wav", "--exclude", "skip-*", "--min-size", "100", "--set", "order=smallest", "--settle", "1s"]
    watching = watch(stub, *options)
    wait_until(lambda: len(stub.recordings) == 3, what="three recordings")
    watching.idle()
    watching.stop()
    assert "".join(got(stub)) == "cab"


def test_existing_skip(hive, watch, rec, run):
    """Whatever the clock says: cards and boards without one date files 1970 or 1980; others may be ahead.

    What was begun is resumed."""
    stub, skip = hive(), ["--existing", "skip", "--event-date", "2026-11-20"]

    def dated(name: str) -> list:
        dates = (0, 315532800, 4102444800)
        files = [write(rec / f"{name}{date}.wav") for date in dates]
        for file, date in zip(files, dates):
            os.utime(file, (date, date))
        return files

    old, begun = dated("old"), write(rec / "begun.wav")
    stub.set_faults("create/status=503")
    options = ["--label", "x", "--user", "uploader", "--protocol", "tus", "--retry", "0", *skip[2:]]
    assert run("send", begun, "--server", stub.url, *options, env={"GIGHIVE_PASSWORD": "secret"}).code == 9
    stub.set_faults()
    watching = watch(stub, *skip)
    watching.says("watching")
    new = [begun, *dated("new")]
    has(stub, *new)
    watching.idle()
    watching.stop()
    assert times_sent(stub) == 4
    between = write(rec / "between.wav")
    again = watch(stub, *skip)
    has(stub, *new, between)
    with open(old[0], "ab") as more:
        more.write(b"more")
    has(stub, *new, between, old[0])
    again.stop()


def test_existing_skip_applies_to_each_directory_from_its_own_first_start(hive, watch, tmp_path):
    """Also if the name of one begins like that of another."""
    stub, outer = hive(), tmp_path / "card"
    (outer / "one").mkdir(parents=True)
    watching = watch(stub, "--existing", "skip", directory=outer)
    watching.says("watching")
    watching.stop()
    file, old = write(outer / "one-more" / "a.wav"), write(outer / "one" / "old.wav")
    again = watch(stub, outer / "one", "--existing", "skip", directory=outer)
    has(stub, file)
    again.idle()
    again.stop()
    assert times_sent(stub) == 1


def test_existing_skip_keeps_what_was_there_when_a_directory_becomes_readable(hive, watch, nobody):
    home, settings = nobody
    rec = home / "rec"
    for name in ("a.wav", "b.wav", "barred/c.wav"):
        write(rec / name)
    for place in (rec, *rec.rglob("*")):
        os.chown(place, settings["user"], settings["group"])
    (rec / "barred").chmod(0)
    stub = hive()
    for count, name in enumerate(("first", "second"), 1):
        watching = watch(stub, "--existing", "skip", directory=rec, **settings)
        watching.says("; uploading to", count=count)
        watching.says("cannot be read: Permission denied.")
        (rec / "barred").chmod(0o755)
        # It scans everything.
        os.kill(watching.pid, signal.SIGHUP)
        os.chown(write(rec / f"{name}.wav"), settings["user"], settings["group"])
        wait_until(lambda: name in got(stub), 30, what="the new recording")
        watching.idle()
        watching.stop()
    assert got(stub) == ["first", "second"]


def test_dry_run(run, hive, watch, rec, program):
    """It is no start, after which --existing skip leaves out what is there."""
    stub = hive()
    write(rec / "a.wav")
    write(rec / "notes.txt")
    dry = ["watch", "rec", "--dry-run", "--server", stub.url, "--label", "{stem}"]
    out = run(*dry).check().out
    assert "a.wav: would be sent to" in out and "notes" not in out
    assert [event["event"] for event in run(*dry, "--json").check().events] == ["would_send"]
    dry += ["--existing", "skip"]
    assert "would be sent to" not in run(*dry).check().out
    assert stub.requests == [] and not list(program.state.glob("watch-*"))
    watching = watch(stub, "--existing", "skip")
    watching.says("watching")
    watching.stop()
    write(rec / "new.wav")
    out = run(*dry).check().out
    assert "new.wav: would be sent to" in out and "a.wav" not in out


def test_wrong_options(run, rec, tmp_path):
    base = ["rec", "--label", "x", "--server", "http://h"]
    os.mkfifo(tmp_path / "pass", 0o600)
    for arguments, message in (
        ([], "give at least one directory"),
        (["rec"], "give one destination"),
        ([*base, "--settle", "soon"], "--settle"),
        ([*base, "--existing", "some"], "is not upload or skip"),
        ([*base, "--set", "order=random"], "oldest, newest, smallest or name"),
        ([*base, "--set", "interface=a-name-that-is-too-long"], "network interface"),
        ([*base, "--json"], "only with --once or --dry-run"),
        ([*base, "-r"], "has no option"),
        ([*base, "--retry", "3"], "watch has no option --retry"),
        (["", *base[1:]], "is not a directory name"),
        # It can be read only once.
        ([*base, "--user", "u", "--password-file", tmp_path / "pass"], f"{tmp_path}/pass is not a regular file"),
        ([*base, "--state-dir", rec], "state directory"),
        ([*base, "--state-dir", rec / "state"], "state directory"),
    ):
        result = run("watch", *arguments)
        assert result.code == 2 and message in result.err, (arguments, result)
    run("watch", "--once", *base, "--state-dir", f"{rec}/../state").check()


@pytest.mark.long
def test_a_directory_that_comes_and_goes(hive, watch, tmp_path):
    stub = hive()
    watching = watch(stub, tmp_path / "other")
    watching.says("rec does not exist")
    watching.says("other does not exist")
    (tmp_path / "rec").mkdir()
    first = write(tmp_path / "rec" / "a.wav")
    has(stub, first, seconds=45)
    watching.says("rec is being watched now.")
    (tmp_path / "rec").rename(tmp_path / "pulled")
    watching.says("rec is gone")
    (tmp_path / "other").mkdir()
    watching.says("other is being watched now.")
    assert watching.log.count("rec does not exist") == 1
    (tmp_path / "pulled").rename(tmp_path / "rec")
    second = write(tmp_path / "rec" / "b.wav")
    has(stub, first, second, seconds=45)
    watching.stop()


@pytest.mark.long
def test_a_card_that_is_mounted_over_a_watched_directory_is_noticed(hive, watch, rec):
    """Nothing reports it to whoever watches the directory below."""
    stub = hive()
    watching = watch(stub)
    watching.says("watching")
    mount(rec, "size=1m")
    try:
        has(stub, write(rec / "a.wav"), seconds=45)
    finally:
        watching.stop()
        subprocess.run(["umount", rec], check=True)


@pytest.mark.skipif(BrokenDisk.missing() is not None, reason="no FUSE file system can be mounted here")
def test_the_next_card_may_have_the_same_device_number(hive, watch, rec):
    """The kernel gives the number of a file system that is gone to the next one."""
    card = rec / "card"
    card.mkdir()
    # Other tests mount file systems, too, of which one may get the number.
    for _ in range(20):
        stub = hive()
        mount(card, "size=1m")
        device = card.stat().st_dev
        try:
            first = write(card / "a.wav")
            watching = watch(stub)
            has(stub, first)
            watching.idle()
        finally:
            subprocess.run(["umount", card], check=True)
        with BrokenDisk(card):
            has_number = card.stat().st_dev == device
            if has_number:
                os.kill(watching.pid, signal.SIGHUP)
                watching.says("cannot detect whether a file is still being written")
        watching.stop()
        if has_number:
            return
    pytest.fail("another file system has got the number each time")


@pytest.mark.native
def test_a_signal_during_the_start_ends_it_in_order(program, rec, tmp_path):
    config = private(tmp_path / "watch.conf", "server = http://127.0.0.1:9\nuser = uploader\nlabel = x\n")
    trace = strace("-P", config, "-e", "inject=openat:signal=TERM:when=1")
    ended = program.run("watch", "rec", "--config", config, env={"GIGHIVE_PASSWORD": "secret"}, under=trace)
    assert ended.code == 0 and "stopped." in ended.err, ended


def test_the_watcher_holds_little(hive, watch, rec, program, tmp_path):
    if not program.keeps_the_promise:
        pytest.skip("what is linked dynamically promises nothing")
    program.path = page_cache.copy(program.path, tmp_path / "program")
    stub = hive()
    write(rec / "a.wav")
    watching = watch(stub)
    wait_until(lambda: stub.recordings, what="a recording")
    watching.idle()
    status = open(f"/proc/{watching.pid}/status").read()
    peak = int(status.partition("VmHWM:")[2].split()[0])
    watching.stop()
    assert peak <= 2560, f"{peak} KiB"


# Changes that are noticed at once, not with the next scan after five minutes.


def test_a_recording_that_becomes_readable_is_delivered_and_an_unreadable_one_is_logged_once(hive, watch, nobody):
    home, settings = nobody
    rec = home / "rec"
    files = [write(rec / "file.wav"), write(rec / "hidden" / "a.wav"), write(rec / "barred" / "b.wav"), write(rec / "never" / "c.wav")]
    for place in (rec, *rec.rglob("*")):
        os.chown(place, settings["user"], settings["group"])
    closed = {files[0]: 0, rec / "hidden": 0, rec / "barred": 0o600, rec / "never": 0}
    for place, mode in closed.items():
        place.chmod(mode)
    stub = hive()
    watching = watch(stub, directory=rec, **settings)
    watching.says("set aside")
    for place in (rec / "hidden", rec / "barred", rec / "never"):
        watching.says(f"{place} cannot be read: Permission denied.")
    for number in range(3):
        os.kill(watching.pid, signal.SIGHUP)
        files.append(write(rec / f"later{number}.wav"))
        os.chown(files[-1], settings["user"], settings["group"])
        wait_until(lambda: f"later{number}" in got(stub), 30, what="a delivery after the scan")
    for place in list(closed)[:3]:
        place.chmod(0o755)
    has(stub, *(file for file in files if file.parent.name != "never"), seconds=60)
    assert watching.stop() == 0
    assert watching.log.count("was not scanned completely") == 3, watching.log


def test_a_directory_that_is_made_again_is_watched(hive, watch, rec):
    stub = hive()
    watching = watch(stub)
    write(rec / "first.wav")
    wait_until(lambda: stub.recordings, 30, what="a recording")
    watching.idle()
    shutil.rmtree(rec)
    write(rec / "sub" / "second.wav")
    wait_until(lambda: len(stub.recordings) == 2, 30, what="the second recording")
    rec.rename(rec.with_name("away"))
    watching.says("rec is gone")
    rec.mkdir()
    write(rec / "third.wav")
    wait_until(lambda: len(stub.recordings) == 3, 30, what="the third recording")
    assert watching.stop() == 0 and times_sent(stub) == 3
