"""A file that changes while it is sent ends the upload: exit code 3, and no whole body at the server."""

import os
import signal

import pytest
from program import wait_until
from uploads import sha256

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


def retag(file):
    """Rewrites what has been sent and what has not, and restores the modification time, as editors of tags do."""
    before = os.stat(file)
    with open(file, "r+b") as stream:
        for offset in (100, before.st_size - 100):
            stream.seek(offset)
            stream.write(b"another tag")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_rewrite_that_restores_the_modification_time_is_noticed(program, slow_hive, recording):
    broken_off(change(program, slow_hive, recording(SIZE), retag), slow_hive, "changed", "Nothing was delivered")


PLAIN = [["--multipart-url", "/upload"], ["--tus-url", "/tus/"]]
PLAIN = [[option, path, *more] for option, path in PLAIN for more in ([], ["--digest"])]


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_nor_does_another_endpoint_get_a_mixture_with_the_modification_time_restored(program, hive, recording, arguments):
    stub = hive("slow-read=24e6")
    option, path, *more = arguments
    running = program.start("send", option, stub.url + path, "--chunk-size", "1G", recording(SIZE), *more)
    wait_until(lambda: any(request.body_bytes > 2_000_000 for request in stub.requests))
    retag(program.directory / "gig.mp4")
    result = running.wait()
    assert result.code == 3 and "changed" in result.err, result
    assert not [request for request in stub.requests if request.complete and request.body_bytes > SIZE // 2]


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_a_change_of_the_mode_is_no_change_where_a_digest_shows_that(program, hive, recording, arguments):
    """Without one nothing shows it."""
    stub = hive("slow-read=24e6")
    option, path, *more = arguments
    running = program.start("send", option, stub.url + path, "--chunk-size", "1G", recording(SIZE), *more)
    wait_until(lambda: any(request.body_bytes > 2_000_000 for request in stub.requests))
    os.chmod(program.directory / "gig.mp4", 0o440)
    result = running.wait()
    assert result.code == (0 if more else 3), result


def test_a_part_that_is_rewritten_before_it_is_sent_makes_no_mixture(program, hive, recording):
    """What is sent is then what the file has: nothing of the old content went out."""
    def rewrite_the_end(file):
        before = os.stat(file)
        with open(file, "r+b") as stream:
            stream.seek(SIZE - 100)
            stream.write(b"another tag")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    stub, file = hive("slow-read=24e6"), recording(SIZE)
    result = change(program, stub, file, rewrite_the_end)
    assert result.code == 0, result
    assert stub.recordings[0].sha256 == sha256(file)


def test_an_upload_by_tus_to_gighive_is_read_again_too(program, hive, recording):
    for action, code in ((lambda file: os.link(file, file.with_name("kept.mp4")), 0), (retag, 3)):
        stub, file = hive("slow-read=24e6"), recording(SIZE)
        running = program.start_sending(stub, file, "--protocol", "tus", "--chunk-size", "4M")
        wait_until(lambda: any(upload.offset > 6_000_000 for upload in stub.uploads))
        action(file)
        result = running.wait()
        assert result.code == code, result
        assert len(stub.recordings) == (1 if code == 0 else 0)


def test_what_was_changed_is_sent_anew_and_not_resumed(program, hive, recording):
    """Nothing of the record tells of the other content: what the server has of the old one must not be used."""
    stub, file = hive("PATCH/slow-read=8e6"), recording(SIZE)
    running = program.start("send", "--tus-url", stub.url + "/tus/", "--chunk-size", "4M", file)
    wait_until(lambda: any(upload.offset > 6_000_000 for upload in stub.uploads))
    retag(file)
    running.signal(signal.SIGTERM)
    assert running.wait().code in (3, 143)
    stub.set_faults()
    assert program.run("resume", "--all").code == 0
    assert [upload.sha256 for upload in stub.uploads if upload.is_complete] == [sha256(file)]


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
