"""Unusable state directories, and disks that fill up: no delivery fails, and no delete token is lost."""

import contextlib
import os
import subprocess

import pytest
from program import NOBODY, root, wait_until
from records import read_record
from uploads import PASSWORD, TUS, is_delivered, of_kind, stop

SIZE, AT = 6_000_000, 3_000_000


def mount(path, *options):
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", path], capture_output=True)
    if done.returncode != 0:
        pytest.skip("nothing can be mounted here")


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a file system of so many KiB."""
    place = tmp_path / "place"
    place.mkdir()

    def small_disk(kib, *options):
        mount(place, f"size={kib}k", *options)
        return place

    yield small_disk
    subprocess.run(["umount", place], capture_output=True)


def fill(path, *sizes):
    """With blocks of these sizes, until there is no room for another one."""
    with open(path, "wb", buffering=0) as stream:
        for size in sizes:
            with contextlib.suppress(OSError):
                while stream.write(b"x" * size):
                    pass


def freeze(place):
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)


@pytest.fixture(params=["file", "parent", "read-only"])
def useless(request, small_disk, tmp_path):
    """A state directory that cannot be used."""
    place = tmp_path / "place" / "state"
    if request.param == "file":
        place.write_text("here")
    elif request.param == "parent":
        place.parent.rmdir()
        place.parent.write_text("here")
    else:
        if os.getuid() != 0:
            pytest.skip("only root can mount")
        small_disk(64)
        place.mkdir()
        freeze(place.parent)
    return place


def test_without_a_place_for_records_there_is_no_tus(hive, program, recording, useless):
    stub = hive()
    for options in (["--protocol", "tus"], ["--threshold", "1"]):
        result = program.send(stub, recording(), *options, "--state-dir", useless, "--json")
        assert result.code == 13 and result.outcome["exit_code"] == 13, result
        assert "--state-dir" in result.err and str(useless.parent) in result.err
    assert stub.requests == []


def test_multipart_goes_without_a_place_for_records(hive, program, recording, useless):
    """A delivery that is not recorded removes nothing."""
    stub, file = hive(), recording()
    result = program.send(stub, file, "--after", "remove", "--state-dir", useless)
    assert result.code == 0 and "warning" in result.err, result
    assert is_delivered(stub, file)


@root
def test_records_can_be_listed_where_nothing_can_be_written(hive, program, recording, small_disk):
    place = small_disk(256)
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, "--state-dir", place / "state", at=AT)
    freeze(place)
    assert "gig.mp4" in program.run("list", "--state-dir", place / "state").out
    result = program.run("resume", "--all", "--state-dir", place / "state", env=PASSWORD)
    assert result.code == 13, result
    assert "Read-only" in result.err and stub.recordings == []


@root
@pytest.mark.parametrize("option", [["--protocol", "tus"], []])
def test_without_a_home_there_is_a_sentence(hive, program, recording, shared, option):
    options = {"env": {"XDG_STATE_HOME": None, "HOME": None}, "cwd": "/", **NOBODY}
    result = program.send(hive(), recording(directory=shared), *option, **options)
    assert result.code == (13 if option else 0), result
    assert "no home directory" in result.err and "--state-dir" in result.err
    assert program.run("list", **options).code == 13


@root
def test_a_disk_that_is_full_at_the_end_spoils_no_delivery(hive, program, recording, small_disk):
    place = small_disk(64)
    stub, file = hive("delay-answer=1"), recording()
    running = program.start_sending(stub, file, "--state-dir", place / "state")
    wait_until(lambda: stub.requests and stub.requests[0].complete)
    fill(place / "filler", 65536, 4096, 1)
    result = running.wait().check()
    assert "warning" not in result.err and is_delivered(stub, file)
    assert len(list((place / "state").glob("*.delivered"))) == 1


@root
def test_a_disk_that_is_full_by_the_last_write_loses_no_delete_token(hive, program, recording, small_disk):
    """GigHive gives the token once."""
    place = small_disk(256)
    stub, file, state = hive("finalize/delay-answer=1"), recording(SIZE), ["--state-dir", place / "state"]
    running = program.start_sending(stub, *TUS, file, *state)
    wait_until(lambda: of_kind(stub, "finalize"))
    fill(place / "filler", 4096)
    assert running.wait().code == 0
    (record,) = (place / "state").glob("*.delivered")
    assert read_record(record).document["delete_token"] == stub.catalogue.delete_token(1)
    assert program.run("delete", record.stem, *state, env=PASSWORD).code == 0
    assert stub.recordings == []


@root
def test_nothing_is_sent_without_room_for_the_last_write(hive, program, recording, small_disk):
    place = small_disk(256)
    stub, file, state = hive(), recording(SIZE), ["--state-dir", place / "state"]
    assert program.run("resume", "--all", *state).code == 0
    fill(place / "filler", 4096)
    os.truncate(place / "filler", os.stat(place / "filler").st_size - 8192)
    result = program.send(stub, *TUS, file, *state)
    assert result.code == 13 and "No space left" in result.err, result
    assert stub.requests == [] and list((place / "state").glob("*.record")) == []
