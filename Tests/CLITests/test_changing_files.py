"""A file that changes while it is sent ends the upload: exit code 3, and no whole body at the server. More: test_broken_disks.py."""

import os
import signal

import pytest
from program import wait_until
from records import only_record, records
from uploads import PASSWORD, rewrite, sha256

SIZE = 16_000_000
"""More than the ring and the kernel's buffers hold, so that a good part is read after the change."""


def change(running, hive, file, action):
    wait_until(lambda: hive.requests and hive.requests[0].body_bytes, what="the body's first byte")
    action(file)
    return running.wait()


def test_a_file_that_is_replaced_by_another_of_its_name_is_sent_as_it_was_opened(program, hive, recording, tmp_path):
    stub, file = hive("slow-read=24e6"), recording(SIZE)
    os.link(file, tmp_path / "kept.mp4")
    other = recording(1000, "other.mp4")
    change(program.start_sending(stub, file), stub, file, lambda file: os.replace(other, file)).check()
    assert stub.wait_for(1)[0].file.size == SIZE


def retag(file):
    """What has been sent and what has not."""
    rewrite(file, 100, SIZE - 100)


PLAIN = [[option, path, *more] for option, path in [("--multipart-url", "/upload"), ("--tus-url", "/tus/")] for more in ([], ["--digest"])]


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
@pytest.mark.parametrize("action", [retag, lambda file: os.chmod(file, 0o440)], ids=["content", "mode"])
def test_another_endpoint_gets_no_mixture_with_the_modification_time_restored(program, hive, recording, arguments, action):
    """A change of only the mode does not count if a digest shows that. Without one, nothing shows it."""
    stub, file = hive("slow-read=24e6"), recording(SIZE)
    option, path, *more = arguments
    running = program.start("send", option, stub.url + path, "--chunk-size", "1G", file, *more)
    wait_until(lambda: any(request.body_bytes > 2_000_000 for request in stub.requests))
    action(file)
    result = running.wait()
    if action is not retag and more:
        assert result.code == 0, result
    else:
        assert result.code == 3 and "changed" in result.err, result
        # A change of the content can be noticed before its time is put back.
        if action is not retag:
            assert "permissions or links changed" in result.err and "With --digest" in result.err, result
        assert not [request for request in stub.requests if request.complete and request.body_bytes > SIZE // 2]


def test_a_part_that_is_rewritten_before_it_is_sent_makes_no_mixture(program, hive, recording):
    """What is sent is then what the file has: nothing of the old content went out."""
    stub, file = hive("slow-read=24e6"), recording(SIZE)
    change(program.start_sending(stub, file), stub, file, lambda file: rewrite(file, SIZE - 100)).check()
    assert stub.recordings[0].sha256 == sha256(file)


def test_a_changed_file_is_sent_again_and_not_resumed(program, hive, recording):
    """Nothing of the record tells of the other content: what the server has of the old one must not be used."""
    stub, file = hive("PATCH/slow-read=8e6"), recording(SIZE)
    running = program.start("send", "--tus-url", stub.url + "/tus/", "--chunk-size", "4M", file)
    wait_until(lambda: any(upload.offset > 6_000_000 for upload in stub.uploads))
    retag(file)
    running.signal(signal.SIGTERM)
    code = running.wait().code
    assert code in (3, 143)
    stub.set_faults()
    # After an upload that ended because of the change, the file is what had to be changed. Otherwise it is another one.
    assert program.run("resume", "--all").code == (0 if code == 3 else 3)
    program.run("send", "--tus-url", stub.url + "/tus/", file).check()
    assert [upload.sha256 for upload in stub.uploads if upload.is_complete] == [sha256(file)]


def test_cancel_removes_the_part_of_a_recording_that_grew(program, hive, recording):
    """What `send` does with it: test_a_changed_file_supersedes_its_unfinished_upload."""
    stub, file = hive("PATCH/slow-read=8e6"), recording(SIZE)
    running = program.start_sending(stub, file, "--protocol", "tus", "--chunk-size", "1M")
    wait_until(lambda: any(upload.offset > 2_000_000 for upload in stub.uploads))
    with open(file, "ab") as stream:
        stream.write(b"more")
    result = running.wait()
    assert result.code == 3 and "grew" in result.err and len(stub.uploads) == 1, result
    stub.set_faults()
    program.run("cancel", only_record(program).id, env=PASSWORD).check()
    assert stub.uploads == [] and records(program) == []


def test_a_file_that_is_only_read_by_others_is_delivered(program, hive, recording):
    stub, file = hive("slow-read=24e6"), recording(SIZE)
    change(program.start_sending(stub, file), stub, file, lambda file: (file.read_bytes(), os.chmod(file, 0o444))).check()
