"""Files that are missing: gone, or waiting for their drive. `prune` drops records of those that are gone."""

import os

import pytest
from broken_disk import BrokenDisk
from program import wait_until
from records import only_record, records
from uploads import PASSWORD, TUS, is_delivered, of_kind, sent, stop

SIZE, AT = 6_000_000, 3_000_000
DAY = 86_400


def file_states(program) -> list[str]:
    return [upload["file_state"] for upload in program.run("list", "--json").check().events]


def is_passed_over(program, words) -> bool:
    """`resume --all` touches neither the record nor a server, and says so in one line."""
    before = [record.file.read_bytes() for record in records(program)]
    result = program.run("resume", "--all", env=PASSWORD).check()
    assert (result.out, result.err) == (f"skipped: 1 whose file is {words}.\n", ""), result
    quiet = program.run("resume", "--all", "--quiet", env=PASSWORD).check()
    assert (quiet.out, quiet.err) == ("", ""), quiet
    json = program.run("resume", "--all", "--json", env=PASSWORD).check()
    assert (json.out, json.err) == ("", ""), json
    assert [record.file.read_bytes() for record in records(program)] == before
    return True


# Gone.


def test_a_file_that_was_removed_is_gone(program, interrupted, tmp_path):
    stub, record = interrupted()
    (tmp_path / "gig.mp4").unlink()
    assert is_passed_over(program, "gone")
    assert program.run("list").out.splitlines()[0].endswith("  (gone)") and file_states(program) == ["gone"]
    result = program.run("resume", record.id, env=PASSWORD)
    assert result.code == 3, result
    assert "gig.mp4 is gone" in result.err and f"gighive-upload cancel {record.id}" in result.err
    assert stub.requests == []


def test_a_delivered_recording_needs_its_file_no_more(program, delivered, tmp_path):
    stub, record = delivered()
    (tmp_path / "gig.mp4").unlink()
    assert program.run("list").out.rstrip().endswith("(asset 1)  (removed or renamed since)")
    result = program.run("resume", record.id, env=PASSWORD).check()
    assert "already delivered" in result.out and "as asset 1" in result.out and stub.requests == []
    assert program.run("resume", "--all", env=PASSWORD).check().out == f"nothing to resume in {program.state}.\n"
    assert program.run("delete", record.id, env=PASSWORD).code == 0


# Waiting.


def test_a_file_whose_directory_is_missing_waits_for_its_medium(hive, program, recording, tmp_path):
    stub, place = hive(), tmp_path / "share"
    place.mkdir()
    file = recording(SIZE, directory=place)
    stop(program, stub, file, at=AT)
    place.rename(tmp_path / "away")
    assert is_passed_over(program, "waiting for its drive")
    record = only_record(program)
    result = program.run("resume", record.id, env=PASSWORD)
    assert result.code == 3 and "gig.mp4 is not available" in result.err and record.id in result.err, result
    (tmp_path / "away").rename(place)
    program.run("resume", "--all", env=PASSWORD).check()
    assert is_delivered(stub, file) and sent(stub) == SIZE - AT


@pytest.mark.skipif(BrokenDisk.missing() is not None, reason="no FUSE file system can be mounted here")
def test_a_file_on_a_share_whose_server_is_away_waits_for_it(hive, program, tmp_path):
    stub = hive("create/status=401")
    with BrokenDisk(tmp_path / "share", size=SIZE) as share:
        assert program.send(stub, *TUS, share.file).code == 6
        assert file_states(program) == ["present"]
        share.disconnect()
        assert is_passed_over(program, "waiting for its drive")
        assert file_states(program) == ["waiting"]
        result = program.run("resume", only_record(program).id, env=PASSWORD)
        assert result.code == 3 and "is not available" in result.err, result


def test_gone_and_waiting_files_are_reported_in_one_line(hive, program, recording, tmp_path):
    stub, place = hive(), tmp_path / "share"
    place.mkdir()
    files = [recording(SIZE, "a.mp4"), recording(SIZE, "b.mp4", directory=place)]
    for file in files:
        stop(program, stub, file, at=AT)
        file.unlink()
    place.rmdir()
    result = program.run("resume", "--all", env=PASSWORD).check()
    assert result.out == "skipped: 1 whose file is gone, 1 whose file is waiting for its drive.\n"


# Neither.


def test_a_file_in_a_directory_without_permission_is_neither(hive, program, recording, nobody):
    home, options = nobody
    options["env"] |= PASSWORD
    place = home / "private"
    place.mkdir()
    os.chown(place, options["user"], -1)
    stub, file = hive(), recording(SIZE, directory=place)
    stop(program, stub, file, at=AT, **options)
    place.chmod(0)
    (upload,) = program.run("list", "--json", **options).check().events
    assert upload["file_state"] == "unknown"
    assert "(cannot be accessed: Permission denied)" in program.run("list", **options).out
    result = program.run("resume", "--all", **options)
    assert result.code == 3 and "Permission denied" in result.err, result
    assert "gone" not in result.err and "waiting" not in result.err
    place.chmod(0o700)
    program.run("resume", "--all", **options).check()
    assert is_delivered(stub, file)


# Pruning.


def age(program, seconds):
    """Makes all records older."""
    for record in records(program):
        record.write(updated_at=record.document["updated_at"] - seconds)


def prune(program, limit, count) -> bool:
    before = len(records(program))
    result = program.run("prune", limit).check()
    *lines, summary = result.out.splitlines()
    assert summary == f"{count} record{'' if count == 1 else 's'} dropped." and len(lines) == count, result
    assert before - len(records(program)) == count
    return True


def test_the_record_of_a_delivered_file_that_is_gone_can_be_pruned(program, delivered, tmp_path):
    stub, record = delivered()
    assert prune(program, "1s", 0)
    (tmp_path / "gig.mp4").unlink()
    age(program, 30 * DAY - 60)
    assert prune(program, "30d", 0)
    age(program, 61)
    assert prune(program, "31d", 0) and prune(program, "5w", 0)
    assert prune(program, "30d", 1)
    assert len(stub.recordings) == 1 and stub.requests == []
    assert sorted(path.name for path in program.state.iterdir() if record.id in path.name) == []


def test_an_upload_that_another_process_works_on_is_not_pruned(program, delivered, tmp_path):
    stub, record = delivered()
    (tmp_path / "gig.mp4").unlink()
    age(program, DAY)
    stub.set_faults("delete/silent")
    running = program.start("delete", record.id, env=PASSWORD)
    wait_until(lambda: of_kind(stub, "delete"))
    assert prune(program, "1h", 0)
    running.end()
    assert prune(program, "1h", 1)


NO_AGES = ["", "0d", "-1d", "1.5d", "1y", "9223372036854775807w"]


@pytest.mark.parametrize("age", NO_AGES)
def test_a_malformed_age_is_a_usage_error(run, age):
    result = run("prune", "--", age)
    assert result.code == 2 and "30d" in result.err, result


@pytest.mark.parametrize("age", ["1ms", "30d", "9223372036854775807ms"])
def test_ages_take_their_units(run, age):
    assert run("prune", age).check().out == "0 records dropped.\n"
