"""The records of uploads: private, without secrets, and never fatal, whatever has become of them."""

import os
import signal
import stat
import subprocess

import pytest
from program import wait_until
from records import only_record, read_record, records, write_record
from uploads import PASSWORD, TUS, begin, is_delivered, of_kind, sent, stop

SIZE = 6_000_000
AT = 3_000_000

root = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount, and be another user")


def mode(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# Where they are.


def test_the_directory_is_that_of_the_desktops_rules(hive, program, recording):
    assert program.send(hive(), *TUS, recording()).code == 0
    assert only_record(program).file.parent == program.state_home / "gighive-upload"


@root
@pytest.mark.parametrize("env", [{"XDG_STATE_HOME": None}, {"XDG_STATE_HOME": "relative"}, {"XDG_STATE_HOME": ""}])
def test_without_them_it_is_in_the_home_directory(hive, program, recording, shared, env):
    home = shared / f"home-{len(list(shared.iterdir()))}"
    home.mkdir()
    os.chown(home, 65534, 65534)
    file = recording(directory=home)
    options = {"env": {**env, "HOME": str(home)}, "preexec_fn": be_nobody, "cwd": home}
    assert program.send(hive(), *TUS, file, **options).code == 0
    assert len(list((home / ".local/state/gighive-upload").glob("*.delivered"))) == 1


def be_nobody():
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)


@pytest.mark.parametrize("name", ["here", "a/b/c", "with blank", "ü", "end/", "./dot/../dot2"])
def test_it_can_be_chosen(hive, program, recording, tmp_path, name):
    assert program.send(hive(), *TUS, recording(), "--state-dir", name, cwd=tmp_path).code == 0
    (file,) = (tmp_path / name).glob("*.delivered")
    assert read_record(file).phase == "delivered"
    assert records(program) == []
    assert "delivered" in program.run("list", "--state-dir", tmp_path / name).out


def test_an_empty_name_is_a_usage_error(run):
    assert run("list", "--state-dir", "").code == 2


def test_a_plain_endpoint_leaves_no_record(hive, program, post, recording):
    assert post(hive(), recording()).code == 0
    assert not program.state.exists()


# What is in them.


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nobody_else_can_read_them(hive, program, recording, umask):
    result = program.send(hive(), *TUS, recording(), preexec_fn=lambda: os.umask(umask))
    assert result.code == 0, result
    assert mode(program.state) == 0o700
    assert {mode(path) for path in program.state.iterdir()} == {0o600}


def test_a_record_says_how_far_the_upload_is(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    running = begin(program, stub, file, at=AT)
    record = only_record(program)
    assert record.phase == "pending" and record.source == os.fsencode(file)
    assert record.upload_path == stub.uploads[0].path
    running.end()
    stub.set_faults("finalize/status=503")
    program.send(stub, *TUS, file)
    assert only_record(program).phase == "uploaded"
    stub.set_faults()
    program.send(stub, *TUS, file)
    assert only_record(program).phase == "delivered"


@pytest.mark.parametrize(("fault", "phase"), [("create/status=503", "pending"), ("create/status=401", "failed"),
                                              ("PATCH/status=403", "failed"), ("finalize/status=400", "failed"),
                                              ("PATCH/reset-after=1000@3", "pending"), ("finalize/wrong-size", "failed")])
def test_a_failure_that_time_may_heal_is_pending_and_others_are_failed(hive, program, recording, fault, phase):
    assert program.send(hive(fault), *TUS, recording(SIZE)).code != 0
    record = only_record(program)
    assert (phase == "failed") == (record.phase == "failed"), record
    assert record.document["message"]


def test_a_file_that_changes_under_way_has_failed(hive, program, recording):
    stub, file = hive("PATCH/slow-read=3e6"), recording(SIZE)
    running = program.start_sending(stub, *TUS, file)
    wait_until(lambda: of_kind(stub, "patch"))
    with open(file, "ab") as stream:
        stream.write(b"more")
    assert running.wait().code == 3
    assert only_record(program).phase == "failed"
    stub.set_faults()
    assert program.send(stub, *TUS, file).code == 0
    assert is_delivered(stub, file)


# What may have become of them.


def torn(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    return data[:200] + bytes([data[200] ^ 1]) + data[201:]


DAMAGE = {
    "empty": lambda data: b"",
    "torn": torn,
    "without its end": lambda data: data[:-1],
    "zeroed end": lambda data: data[:300] + bytes(len(data) - 300),
    "all zero": lambda data: bytes(len(data)),
    "flipped bit": flipped,
    "flipped bit in the head": lambda data: b"G" + data[1:],
    "flipped bit in the length": lambda data: data[:24] + b"1" + data[25:],
    "flipped bit in the sum": lambda data: data[:35] + bytes([data[35] ^ 1]) + data[36:],
    "more behind it": lambda data: data + b"x",
    "twice": lambda data: data * 2,
    "something else": lambda data: b"#!/bin/sh\nexit 1\n",
    "10 MB": lambda data: data + b"x" * 10_000_000,
    "text that is no UTF-8": lambda data: b"\xff\xfe" * 1000,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_record_is_set_aside_and_its_upload_begins_anew(hive, program, recording, damage):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    record = only_record(program).file
    content = DAMAGE[damage](record.read_bytes())
    record.write_bytes(content)
    result = program.send(stub, *TUS, file)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert "warning" in result.err and record.name in result.err and "damaged" in result.err
    aside = record.with_name(record.name + ".damaged")
    assert aside.read_bytes() == content and not record.exists()
    aside.unlink()
    assert only_record(program).phase == "delivered"
    assert program.run("list").err == ""


def test_a_record_of_another_version_is_left_alone(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    record = only_record(program).file
    content = record.read_bytes().replace(b"record 2", b"record 3")
    record.write_bytes(content)
    result = program.send(stub, *TUS, file)
    assert result.code == 0, result
    assert "another version" in result.err and record.read_bytes() == content


WRONG_DOCUMENTS = {
    "no path": {"file": ""},
    "a NUL in the path": {"file": "/a%00b"},
    "a broken percent": {"file": "%zz"},
    "a negative size": {"size": -1},
    "an offset beyond the size": {"offset": SIZE + 1},
    "a negative offset": {"offset": -1},
    "a phase that nobody knows": {"phase": "lost"},
    "a text for a number": {"size": "many"},
    "a number for a text": {"endpoint": 5},
}


@pytest.mark.parametrize("changes", WRONG_DOCUMENTS.values(), ids=WRONG_DOCUMENTS.keys())
def test_a_record_that_makes_no_sense_is_not_fatal(hive, program, recording, changes):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    only_record(program).write(**changes)
    for command in (["list"], ["resume", "--all"]):
        result = program.run(*command, env=PASSWORD)
        assert result.code == 0 and "warning" in result.err, result
    assert program.send(stub, *TUS, file).code == 0
    assert is_delivered(stub, file)


WRONG_URLS = ["", "x", "ftp://127.0.0.1/", "http://", "http://a b/", "/files/x", "http://127.0.0.1:99999/x"]


@pytest.mark.parametrize("url", WRONG_URLS)
def test_an_address_in_a_record_that_is_none_lets_the_upload_begin_anew(hive, program, recording, url):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    only_record(program).write(upload_url=url)
    result = program.send(stub, *TUS, file)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE


NOTES = ["", "server", "server=", "server=%zz", "nonsense=1 --all", "label=%00", "server=http://127.0.0.1:1", "x" * 1000, "%"]


@pytest.mark.parametrize("note", NOTES)
def test_options_in_a_record_that_are_none_do_not_crash(hive, program, recording, note):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    record = only_record(program)
    record.write(note=note)
    for command in (["list"], ["resume", record.id], ["cancel", record.id]):
        assert program.run(*command, env=PASSWORD).code in (0, 2, 4, 6), command


def strange_directory(path):
    path.mkdir()


def strange_loop(path):
    path.symlink_to(path.name)


def strange_pipe(path):
    os.mkfifo(path)


def strange_device(path):
    path.symlink_to("/dev/zero")


def strange_link(path):
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [strange_directory, strange_loop, strange_pipe, strange_device, strange_link],
                         ids=["directory", "loop", "pipe", "endless", "dangling"])
def test_a_record_that_cannot_be_read_is_not_fatal(hive, program, recording, make):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    make(program.state / "00000000.record")
    listed = program.run("list", seconds=10)
    assert listed.code == 0 and "gig.mp4" in listed.out, listed
    result = program.run("resume", "--all", env=PASSWORD, seconds=10)
    assert result.code == 0, result
    assert is_delivered(stub, file)


@root
def test_a_record_of_another_user_is_not_fatal(hive, program, recording, shared):
    place = shared / "anothers"
    place.mkdir()
    os.chown(place, 65534, 65534)
    (place / "00000000.record").write_bytes(b"")
    (place / "00000000.record").chmod(0o600)
    file = recording(directory=place)
    result = program.send(hive(), *TUS, file, "--state-dir", place, preexec_fn=be_nobody, cwd="/")
    assert result.code == 0, result
    assert "00000000.record" in result.err


@pytest.mark.parametrize("name", [b"\xff.record", b"a\x1b[31m\n.record", b".record", b"-x.record", b"x" * 240 + b".record"])
def test_a_stranger_in_the_directory_is_not_fatal(hive, program, recording, name):
    program.state.mkdir(mode=0o700)
    with open(os.path.join(os.fsencode(program.state), name), "wb") as stream:
        stream.write(b"stranger")
    result = program.send(hive(), *TUS, recording())
    assert result.code == 0, result
    assert "\x1b" not in result.err


# A directory that is of no use.


def file_in_its_place(path):
    path.write_text("here")


def file_in_its_way(path):
    path.parent.rmdir()
    path.parent.write_text("here")


@pytest.fixture(params=["file", "parent", "read-only"])
def useless(request, program, tmp_path):
    """A state directory that cannot be used."""
    place = tmp_path / "place" / "state"
    place.parent.mkdir()
    if request.param == "file":
        file_in_its_place(place)
    elif request.param == "parent":
        file_in_its_way(place)
    else:
        if os.getuid() != 0:
            pytest.skip("only root can mount")
        mount(place.parent, "size=64k")
        place.mkdir()
        subprocess.run(["mount", "-o", "remount,ro", place.parent], check=True)
    yield place
    if request.param == "read-only":
        subprocess.run(["umount", place.parent], check=True)


def mount(path, options):
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], capture_output=True)
    if done.returncode != 0:
        pytest.skip("nothing can be mounted here")


def test_without_a_place_for_records_there_is_no_tus(hive, program, recording, useless):
    stub = hive()
    for options in (["--protocol", "tus"], ["--threshold", "1"]):
        result = program.send(stub, recording(), *options, "--state-dir", useless, "--json")
        assert result.code == 13 and result.outcome["exit_code"] == 13, result
        assert "--state-dir" in result.err and str(useless.parent) in result.err
    assert stub.requests == []


def test_multipart_goes_without_a_place_for_records(hive, program, recording, useless):
    stub, file = hive(), recording()
    result = program.send(stub, file, "--state-dir", useless)
    assert result.code == 0 and "warning" in result.err, result
    assert is_delivered(stub, file)


def test_the_other_commands_need_a_place_for_records(run, useless):
    for command in (["resume", "--all"], ["cancel", "00000000"], ["delete", "00000000"], ["list", "--forget", "00000000"]):
        result = run(*command, "--state-dir", useless)
        # What cannot be written can still be read, and has nothing in it.
        assert result.code in (0, 2, 13), result
        assert result.code == 13 or os.path.isdir(useless)


@root
def test_what_is_recorded_can_be_seen_where_nothing_can_be_written(hive, program, recording, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    mount(place, "size=256k")
    try:
        stub, file = hive(), recording(SIZE)
        stop(program, stub, file, "--state-dir", place / "state", at=AT)
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        assert "gig.mp4" in program.run("list", "--state-dir", place / "state").out
        result = program.run("resume", "--all", "--state-dir", place / "state", env=PASSWORD)
        assert result.code == 13, result
        assert "Read-only" in result.err and stub.recordings == []
    finally:
        subprocess.run(["umount", place], check=True)


@root
@pytest.mark.parametrize("option", [["--protocol", "tus"], []])
def test_without_a_home_there_is_a_sentence(hive, program, recording, shared, option):
    home = shared / f"homeless-{len(list(shared.iterdir()))}"
    home.mkdir()
    os.chown(home, 65534, 65534)
    options = {"env": {"XDG_STATE_HOME": None, "HOME": None}, "preexec_fn": be_nobody, "cwd": "/"}
    stub, file = hive(), recording(directory=home)
    file.chmod(0o644)
    result = program.send(stub, file, *option, **options)
    assert result.code == (13 if option else 0), result
    assert "no home directory" in result.err and "--state-dir" in result.err
    assert program.run("list", **options).code == 13


@root
def test_a_full_disk_ends_the_upload_in_order_and_it_goes_on_when_there_is_room(hive, program, recording, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    mount(place, "size=64k")
    try:
        stub, file = hive(), recording(SIZE)
        running = begin(program, stub, file, "--state-dir", place / "state", at=AT)
        fill(place / "filler")
        running.signal(signal.SIGTERM)
        interrupted = running.wait()
        assert interrupted.code in (13, 143), interrupted
        (record,) = (place / "state").glob("*.record")
        assert read_record(record).upload_path == stub.uploads[0].path
        failed = program.run("resume", "--all", "--state-dir", place / "state", env=PASSWORD)
        assert failed.code == 13 and "No space left" in failed.err, failed
        (place / "filler").unlink()
        assert list((place / "state").glob("*.new")) == []
        assert program.run("resume", "--all", "--state-dir", place / "state", env=PASSWORD).code == 0
        assert is_delivered(stub, file)
    finally:
        subprocess.run(["umount", place], check=True)


@root
def test_a_disk_that_is_full_at_the_end_spoils_no_delivery(hive, program, recording, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    mount(place, "size=64k")
    try:
        stub, file = hive("delay-answer=1"), recording()
        running = program.start_sending(stub, file, "--state-dir", place / "state")
        wait_until(lambda: stub.requests and stub.requests[0].complete)
        fill(place / "filler")
        result = running.wait()
        assert result.code == 0, result
        assert "warning" not in result.err and is_delivered(stub, file)
        assert len(list((place / "state").glob("*.delivered"))) == 1
    finally:
        subprocess.run(["umount", place], check=True)


def fill(path):
    with open(path, "wb", buffering=0) as stream:
        for size in (65536, 4096, 1):
            try:
                while stream.write(b"x" * size):
                    pass
            except OSError:
                pass


# Many.


def crowd(program, count, **changes):
    """So many records of other uploads, like the one that is there, as they are where a version with locks for all was."""
    one = only_record(program).document
    for number in range(count):
        id = f"{number:08x}"
        path = f"/recordings/{number:05}.mp4"
        write_record(program.state, {**one, "file": path, "inode": str(10**9 + number), **changes, "id": id})
        (program.state / f"{id}.lock").touch()


@pytest.mark.parametrize("count", [2000, 6000, 12_000])
def test_with_thousands_of_records_an_upload_goes_on(hive, program, recording, count):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    upload = only_record(program).id
    crowd(program, count, phase="delivered", delete_token="0" * 64, asset_id=1)
    assert len(program.run("list", "--json").events) == count + 1
    result = program.run("resume", upload, env=PASSWORD)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE - AT


@pytest.mark.parametrize("way", ["send", "resume", "resume --all"])
def test_thousands_of_records_take_no_memory(hive, program, recording, way):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    upload = only_record(program).id
    crowd(program, 6000, phase="delivered", delete_token="0" * 64, asset_id=1)
    if way == "send":
        result = program.send(stub, *TUS, file, measure=True)
    else:
        which = "--all" if way == "resume --all" else upload
        result = program.run("resume", which, env=PASSWORD, measure=True)
    assert result.code == 0, result
    if program.keeps_the_promise:
        assert result.peak_kib <= 6_000_000 // 1024, f"{result.peak_kib} KiB"

@root
def test_a_disk_that_is_full_by_the_last_write_loses_no_delete_token(hive, program, recording, tmp_path):
    """GigHive gives the token once."""
    place = tmp_path / "place"
    place.mkdir()
    mount(place, "size=256k")
    try:
        stub, file, state = hive("finalize/delay-answer=1"), recording(SIZE), ["--state-dir", place / "state"]
        running = program.start_sending(stub, *TUS, file, *state)
        wait_until(lambda: of_kind(stub, "finalize"))
        with open(place / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="No space left"):
            while True:
                filler.write(bytes(4096))
        assert running.wait().code == 0
        (record,) = (place / "state").glob("*.delivered")
        assert read_record(record).document["delete_token"] == stub.catalogue.delete_token(1)
        assert program.run("delete", record.stem, *state, env=PASSWORD).code == 0
        assert stub.recordings == []
    finally:
        subprocess.run(["umount", place], check=True)


@root
def test_where_there_is_no_room_for_the_last_write_nothing_is_sent(hive, program, recording, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    mount(place, "size=256k")
    try:
        stub, file, state = hive(), recording(SIZE), ["--state-dir", place / "state"]
        assert program.run("resume", "--all", *state).code == 0
        with open(place / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="No space left"):
            while True:
                filler.write(bytes(4096))
        os.truncate(place / "filler", os.stat(place / "filler").st_size - 8192)
        result = program.send(stub, *TUS, file, *state)
        assert result.code == 13 and "No space left" in result.err, result
        assert stub.requests == [] and list((place / "state").glob("*.record")) == []
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("command", ["send", "resume"])
def test_a_fifo_in_the_place_of_a_lock_hangs_nothing(hive, program, recording, command):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    (program.state / "directory.lock").unlink()
    os.mkfifo(program.state / "directory.lock")
    result = program.send(stub, *TUS, file) if command == "send" else program.run("resume", "--all", env=PASSWORD)
    assert result.code == 13 and "directory.lock is not a regular file" in result.err, result
    os.unlink(program.state / "directory.lock")
    assert program.send(stub, *TUS, file).code == 0
    assert is_delivered(stub, file)
