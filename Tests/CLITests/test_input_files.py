"""A file that cannot be sent is refused before anything is sent, with exit code 3."""

import os

import pytest


def refused(result, stub, *words):
    assert result.code == 3, result
    assert stub.requests == []
    assert "delivered" not in result.out
    for word in words:
        assert word in result.err, result


def test_a_file_that_cannot_be_sent_is_refused_with_exit_code_3(hive, send, post, recording, tmp_path):
    """A FIFO is not waited for, either."""
    stub, empty = hive(), recording(0)
    os.mkfifo(tmp_path / "pipe.mp4")
    for file, words in (
        ("missing.mp4", "missing.mp4 does not exist"), ("/etc/passwd/missing.mp4", "does not exist"),
        (tmp_path, "a directory"), ("/", "a directory"), (tmp_path / "pipe.mp4", "a FIFO"), (empty, "empty"),
    ):
        refused(send(stub, file, seconds=5), stub, words)
    refused(post(stub, empty), stub, "empty")


def test_what_was_never_written_at_the_end_is_told_and_sent(hive, send, recording):
    """A recorder reserved it, or a power cut took it. That its edges were read for the record does not matter."""
    stub, file = hive(), recording(65_536)
    with file.open("r+b") as opened:
        os.posix_fallocate(opened.fileno(), 0, 1_065_536)
    warning = (f"gighive-upload: warning: {file}: its last 1.0 MB were never written (a power cut, or a program that reserves space)."
               " They are sent as zeros.")
    result = send(stub, file, "--json")
    assert result.code == 0 and stub.recordings[0].size == 1_065_536
    assert result.err.splitlines() == [warning] and "zeros" not in result.out, result
    os.truncate(file, 65_536)
    assert "zeros" not in send(stub, file).err


def test_a_broken_link_is_a_missing_file_and_a_good_one_is_followed(hive, send, recording, tmp_path):
    stub, link = hive(), tmp_path / "link.mp4"
    link.symlink_to(tmp_path / "gig.mp4")
    refused(send(stub, link), stub, "does not exist")
    recording()
    assert send(stub, link).code == 0
    assert stub.wait_for(1)[0].file.filename == "link.mp4"


@pytest.mark.parametrize(("size", "limit", "accepted"), [(1000, "1k", True), (1001, "1k", False), (1024, "1Ki", True)])
def test_a_file_over_max_size_is_refused_with_exit_code_3(hive, send, post, recording, size, limit, accepted):
    stub, file = hive(), recording(size)
    for deliver in (send, post):
        result = deliver(stub, file, "--set", f"max-size={limit}")
        assert result.code == (0 if accepted else 3), result
    if not accepted:
        refused(result, stub, "1000 bytes", "1001 bytes", "--set max-size")


def test_gighives_own_limit_of_6_gib_holds_for_gighive_only(hive, send, post, tmp_path):
    stub, file = hive("early-status=413"), tmp_path / "huge.mp4"
    with open(file, "wb") as stream:
        stream.truncate((6 << 30) + 1)
    refused(send(stub, file), stub, "huge.mp4", "--set max-size")
    assert send(stub, file, "--set", "max-size=7Gi").code == 8
    assert post(stub, file).code == 8
    os.truncate(file, 6 << 30)
    assert send(stub, file).code == 8
