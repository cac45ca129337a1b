"""`watch --once` delivers what is finished, and ends."""

import os
import time

import pytest
from program import private, strace, trust, wait_until
from removals import calls_on_names, follows
from watching import got, has, wait_for_status, write

SOON = ["--settle", "1ms"]


@pytest.fixture
def stub(hive):
    return hive()


@pytest.fixture
def once(program, stub):
    def once(*arguments, **options):
        destination = ["--server", stub.url, "--label", "{stem}", "--user", "uploader", *trust(stub)]
        return program.run("watch", "--once", "rec", *destination, *arguments, env={"GIGHIVE_PASSWORD": "secret"}, **options)

    return once


def until_delivered(once, stub, count, *arguments):
    """Runs it until the files are old enough: their times have whole seconds."""

    def delivers():
        result = once(*SOON, *arguments).check()
        return result if len(stub.recordings) == count else None

    return wait_until(delivers, what=f"{count} recordings")


def test_finished_recordings_are_delivered_once(once, stub, tmp_path):
    files = [write(tmp_path / "rec" / name) for name in ("a.mp4", "sub/b.mp4")]
    until_delivered(once, stub, 2)
    has(stub, *files)
    assert "0 of 2 delivered, 2 already delivered" in once(*SOON).check().out
    assert once("--quiet", *SOON).check().out == ""


def test_a_run_below_its_memory_ceiling_delivers(once, stub, tmp_path):
    file = write(tmp_path / "rec" / "a.mp4")
    until_delivered(once, stub, 1, "--max-memory", "1G")
    has(stub, file)


def test_a_file_that_has_just_changed_is_left_for_the_next_run(once, stub, tmp_path):
    write(tmp_path / "rec" / "a.mp4")
    result = once("--settle", "1h", "--verbose").check()
    assert stub.requests == [] and "a.mp4: left out, because it is empty, or not finished yet." in result.err, result
    assert "rec: 1 file is not finished yet, and left." in result.out


def test_a_file_that_is_being_written_is_left_for_the_next_run(once, stub, tmp_path):
    written = write(tmp_path / "rec" / "a.mp4")
    with open(written, "ab"):
        write(tmp_path / "rec" / "b.mp4")
        until_delivered(once, stub, 1)
        assert got(stub) == ["b"]
    until_delivered(once, stub, 2)
    assert got(stub) == ["b", "a"]


# strace makes the file system FAT.
FAT = strace("-e", "trace=fstatfs", "-e", "inject=fstatfs:poke_exit=@arg2=444d000000000000")


@pytest.mark.native
def test_a_time_in_the_future_on_a_card_is_a_wrong_clocks(once, stub, tmp_path):
    """Of a camera that writes local time, for example."""
    file = write(tmp_path / "rec" / "a.mp4")
    os.utime(file, (time.time() + 32_400,) * 2)
    once("--settle", "1m", under=FAT).check()
    has(stub, file)


def test_what_was_there_at_the_first_run_is_left_alone(once, stub, tmp_path):
    write(tmp_path / "rec" / "old.mp4")
    once(*SOON, "--existing", "skip").check()
    new = write(tmp_path / "rec" / "new.mp4")
    until_delivered(once, stub, 1, "--existing", "skip")
    has(stub, new)


@pytest.mark.native
def test_the_list_of_what_was_there_is_on_the_disk(program, stub, tmp_path):
    """A power cut would make old files new ones."""
    write(tmp_path / "rec" / "old.mp4")
    arguments = ["watch", "--once", "rec", "--server", stub.url, "--label", "x", "--existing", "skip"]
    code, calls = calls_on_names(program, arguments)
    [noted] = program.state.glob("watch-*.start")
    written = [("fsync", noted.with_name(noted.name + ".new")), ("rename", noted), ("fsync", program.state)]
    assert code == 0 and follows(calls, *written), calls


@pytest.mark.native
def test_what_was_there_on_a_card_is_left_alone_after_a_change_of_the_time_zone(once, stub, tmp_path):
    """Its time is ahead, so that the file is settled at once: strace does not hide that its status has just changed."""
    old, recorded = write(tmp_path / "rec" / "old.mp4"), int(time.time()) // 2 * 2 + 864_000
    os.utime(old, (recorded,) * 2)
    skip = ["--settle", "1m", "--existing", "skip", "--match", "*.mp4"]
    once(*skip, under=FAT).check()
    for hours in (-1, 1, -26, 26, 0.25):
        os.utime(old, (recorded + hours * 3600 + 1,) * 2)
        once(*skip, under=FAT).check()
    assert stub.requests == []
    os.utime(old, (recorded + 600,) * 2)
    once(*skip, under=FAT).check()
    has(stub, old)


def test_nothing_to_deliver_is_no_failure(once, stub, tmp_path):
    (tmp_path / "rec").mkdir()
    for name in (None, "a.txt", "empty.mp4"):
        if name:
            (tmp_path / "rec" / name).write_bytes(b"")
        result = once().check()
        assert (result.out, result.err, stub.requests) == ("", "", [])


def test_watch_once_has_the_exit_code_of_send(once, stub, tmp_path):
    missing = once()
    assert missing.code == 3 and "rec" in missing.err, missing
    write(tmp_path / "rec" / "a.mp4")
    stub.set_faults("create/status=401")

    def fails():
        result = once(*SOON, "--protocol", "tus")
        return result if result.code else None

    assert wait_until(fails, what="a failure").code == 6
    assert once("--json", *SOON, "--protocol", "tus").outcome["exit_code"] == 6


def test_a_directory_of_a_watcher_is_left_to_it(once, stub, watch, program, tmp_path):
    (tmp_path / "rec").mkdir()
    watching = watch(stub)
    wait_for_status(program)
    result = once().check()
    assert "another" in result.out and result.err == "", result
    assert once("--quiet").check().out == ""
    assert watching.stop() == 0


def test_too_little_space_is_reported(once, tmp_path):
    (tmp_path / "rec").mkdir()
    assert once("--keep-free", "1000T").code == 15


def test_a_dry_run_says_what_it_would_send(once, stub, tmp_path):
    write(tmp_path / "rec" / "a.mp4")
    assert once("--dry-run", "--settle", "1h").check().out.endswith("rec: 1 file is not finished yet, and left.\n")
    wait_until(lambda: "a.mp4: would be sent" in once("--dry-run", *SOON).check().out, what="a finished file")
    assert stub.requests == []


def test_a_recording_of_two_sections_is_not_removed_before_both_have_it(program, hive, tmp_path):
    stubs = [hive(user=None), hive(user=None)]
    write(tmp_path / "rec" / "in" / "a.mp4")
    (tmp_path / "link").symlink_to("rec/in")

    def run(removal=""):
        places = zip(("rec", "link"), stubs, (removal, ""), strict=True)
        sections = [f"[watch {tmp_path}/{name}]\nserver = {stub.url}\n{more}" for name, stub, more in places]
        file = private(tmp_path / "two.conf", "label = {stem}\nsettle = 1ms\n" + "".join(sections))
        return program.run("watch", "--once", "--config", file)

    def delivers():
        run().check()
        return all(stub.recordings for stub in stubs)

    for removal in ("after = remove\n", "keep-free = 1\n"):
        result = run(removal)
        assert result.code == 2 and "removes nothing from a directory of two sections" in result.err, result
        assert not any(stub.requests for stub in stubs)
    wait_until(delivers, what="both recordings")
    assert [len(stub.recordings) for stub in stubs] == [1, 1]
