"""An upload is resumed only with the file that it started with, under any name."""

import os
import signal

import pytest
from records import only_record
from uploads import TUS, go_on, is_delivered, rewrite, sent, stop

SIZE, AT = 6_000_000, 3_000_000


@pytest.mark.parametrize(("way", "change", "words"), [
    ("resume", lambda file: os.truncate(file, SIZE + 1), [str(SIZE), str(SIZE + 1)]),
    ("resume --all", lambda file: rewrite(file, SIZE - 7), ["last bytes differ"]),
], ids=["longer", "its end"])
def test_a_changed_recording_is_not_mixed_with_its_former_content(hive, program, recording, way, change, words):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    before = only_record(program)
    change(file)
    result = go_on(program, stub, file, way)
    assert result.code == 3, result
    for word in [*words, "gig.mp4", "To send the file as it is now, use gighive-upload send"]:
        assert word in result.err, result
    assert stub.requests == []
    result = program.send(stub, *TUS, file).check()
    for word in [*words, "gig.mp4", "has changed since its upload started"]:
        assert word in result.err, result
    assert result.err.count("warning:") == 1 and is_delivered(stub, file)
    assert only_record(program).id == before.id and only_record(program).phase == "delivered"


def test_a_change_without_other_traces_is_found_by_the_digest(hive, program, recording):
    """In the middle, with the times put back. After a SIGKILL, nothing is known of what was sent, and the server tells at the end."""
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT, number=signal.SIGKILL)
    rewrite(file, 500_000)
    result = go_on(program, stub, file, "resume")
    assert result.code == 10, result
    assert result.out == ""
    assert only_record(program).phase == "failed"


def test_a_file_of_any_name_can_be_resumed_from_another_directory(hive, program, recording, tmp_path):
    stub, file = hive(), recording(SIZE, b"-a b=c%2F%00 line\nend\r\xff.mp4")
    stop(program, stub, "--", os.path.basename(os.fsencode(file)), at=AT, cwd=tmp_path)
    assert go_on(program, stub, file, "resume", cwd="/").code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE - AT
    assert only_record(program).source == os.fsencode(file)
