"""A file that changes while it is sent ends the upload: exit code 3, and no whole body at the server."""

import os

import pytest
from program import wait_until

SIZE = 16_000_000
"""More than the ring and the kernel's buffers hold, so that a good part is read after the change."""


@pytest.fixture
def slow_hive(any_hive):
    return any_hive("slow-read=24e6")


def change(program, hive, file, action, *options):
    running = program.start_sending(hive, file, *options)
    wait_until(lambda: hive.requests and hive.requests[0].body_bytes, what="the body's first byte")
    action(file)
    return running.wait()


def broken_off(result, hive, *words):
    assert result.code == 3, result
    assert result.out == ""
    for word in words:
        assert word in result.err, result
    request = hive.wait_for(1)[0]
    assert not request.complete
    assert request.status is None
    assert len(hive.catalogue) == 0
    assert len(hive.requests) == 1


def append(file):
    with open(file, "ab") as stream:
        stream.write(b"more")


def rewrite(file):
    with open(file, "r+b") as stream:
        stream.seek(100)
        stream.write(b"other")


def test_a_file_that_grows_while_it_is_sent_is_not_delivered(program, slow_hive, recording):
    broken_off(change(program, slow_hive, recording(SIZE), append), slow_hive, "grew", str(SIZE), str(SIZE + 4))


def test_a_file_that_shrinks_while_it_is_sent_is_not_delivered(program, slow_hive, recording):
    result = change(program, slow_hive, recording(SIZE), lambda file: os.truncate(file, SIZE - 1000))
    broken_off(result, slow_hive, "shorter", str(SIZE - 1000))


def test_a_file_that_is_emptied_while_it_is_sent_is_not_delivered(program, slow_hive, recording):
    result = change(program, slow_hive, recording(SIZE), lambda file: os.truncate(file, 0))
    broken_off(result, slow_hive, "shorter")


def test_a_file_that_is_rewritten_while_it_is_sent_is_not_delivered(program, slow_hive, recording):
    broken_off(change(program, slow_hive, recording(SIZE), rewrite), slow_hive, "changed")


CHANGES = [
    (append, "grew"),
    (rewrite, "changed"),
    (lambda file: os.truncate(file, SIZE - 1000), "shorter"),
    (lambda file: os.truncate(file, 0), "shorter"),
]


@pytest.mark.parametrize(("action", "word"), CHANGES, ids=["grown", "rewritten", "shortened", "emptied"])
def test_another_endpoint_gets_no_mixture_either(program, hive, recording, action, word):
    """There the file goes from the page cache to the connection without being read."""
    stub = hive("slow-read=24e6")
    running = program.start("send", "--multipart-url", stub.url + "/upload", recording(SIZE))
    wait_until(lambda: stub.requests and stub.requests[0].body_bytes)
    action(program.directory / "gig.mp4")
    broken_off(running.wait(), stub, word)


def test_a_file_that_is_replaced_by_another_of_its_name_is_sent_as_it_was_opened(program, hive, recording, tmp_path):
    stub, file = hive("slow-read=24e6"), recording(SIZE)
    os.link(file, tmp_path / "kept.mp4")
    other = recording(1000, "other.mp4")
    result = change(program, stub, file, lambda file: os.replace(other, file))
    assert result.code == 0, result
    assert stub.wait_for(1)[0].file.size == SIZE


def test_a_file_that_is_only_read_by_others_is_delivered(program, hive, recording):
    stub = hive("slow-read=24e6")
    result = change(program, stub, recording(SIZE), lambda file: (file.read_bytes(), os.chmod(file, 0o444)))
    assert result.code == 0, result


def test_the_next_file_is_sent_all_the_same(program, hive, recording):
    stub, following = hive("slow-read=24e6@1"), recording(1000, "next.mp4")
    result = change(program, stub, recording(SIZE), append, following)
    assert result.code == 3, result
    assert "next.mp4: delivered" in result.out
    assert stub.wait_for(2)[1].file.filename == "next.mp4"


def test_the_outcome_in_json_names_the_code(program, hive, recording):
    stub = hive("slow-read=24e6")
    event = change(program, stub, recording(SIZE), append, "--json").outcome
    assert (event["event"], event["exit_code"]) == ("failed", 3)
    assert "grew" in event["message"]
