"""A damaged record is never fatal."""

import pytest
from records import only_record
from uploads import PASSWORD, TUS, is_delivered, sent, stop

SIZE, AT = 6_000_000, 3_000_000


def test_a_damaged_record_is_set_aside_and_its_upload_starts_over(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    record = only_record(program).file
    content = record.read_bytes()[:-100]
    record.write_bytes(content)
    result = program.send(stub, *TUS, file).check()
    assert is_delivered(stub, file)
    assert "warning" in result.err and record.name in result.err and "damaged" in result.err
    aside = record.with_name(record.name + ".damaged")
    assert aside.read_bytes() == content and not record.exists()
    aside.unlink()
    assert only_record(program).phase == "delivered"
    assert program.run("list").err == ""


def test_doctor_says_that_a_record_is_damaged(hive, program, recording):
    stub = hive()
    stop(program, stub, recording(SIZE), at=AT)
    record = only_record(program).file
    record.write_bytes(b"torn")
    result = program.run("doctor", "--server", stub.url, "--user", "uploader", env=PASSWORD).check()
    assert f"{record.name} is damaged and was renamed to {record.name}.damaged" in result.out, result


def test_a_record_of_another_version_is_skipped(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    only_record(program).write(phase="lost")
    for command in (["list"], ["resume", "--all"]):
        result = program.run(*command, env=PASSWORD).check()
        assert "was written by another version of this software; it is skipped" in result.err, result
    program.send(stub, *TUS, file).check()
    assert is_delivered(stub, file)


def test_a_malformed_address_in_a_record_lets_the_upload_start_over(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    only_record(program).write(upload_url="http://127.0.0.1:99999/x")
    program.send(stub, *TUS, file).check()
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE


@pytest.mark.parametrize("note", ["", "server=%zz", "nonsense=1 --all", "label=%00", "server=http://127.0.0.1:1"])
def test_malformed_options_in_a_record_do_not_crash(hive, program, recording, note):
    """Without a label nothing is sent, and without a user the server refuses to end the upload. The destination is not among the options."""
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    record = only_record(program)
    record.write(note=note)
    for command, code in ((["list"], 0), (["resume", record.id], 2), (["cancel", record.id], 6)):
        assert program.run(*command, env=PASSWORD).code == code, command
