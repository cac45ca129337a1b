"""A file that changes while it is sent ends the upload: exit code 3, and no whole body at the server. More: test_broken_disks.py."""

import os
import signal

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


def test_it_is_said_that_the_file_that_replaced_it_was_not_sent(program, hive, recording):
    stub, file = hive("slow-read=24e6"), recording(SIZE)
    other = recording(1000, "other.mp4")
    result = change(program.start_sending(stub, file), stub, file, lambda file: os.replace(other, file)).check()
    assert stub.wait_for(1)[0].file.size == SIZE and "was replaced by another file while it was sent" in result.err, result


def retag(file):
    """What has been sent and what has not."""
    rewrite(file, 100, SIZE - 100)


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
    """What `send` does with it: test_a_changed_recording_is_not_mixed_with_its_former_content."""
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
