"""A 409 from a server that still holds a lock is a lock, like a 423: the client backs off, and sends little until it is gone.

Bunny Stream answers so, and Supabase documents it: after a PATCH that was cut, HEAD gives the offset and PATCH is refused.
"""

import pytest
from program import trust
from records import only_record
from uploads import CHUNK, CREATION, PASSWORD, is_delivered, of_kind, sent

SIZE = 12_000_000
CUT = 2_000_000
AT = CREATION + CUT


def seen(hive) -> int:
    """Bytes of content that reached the server, including those after a refusal."""
    return sent(hive) + sum(request.drained_bytes for request in hive.requests)


def refused(hive) -> list:
    return [request for request in of_kind(hive, "patch") if request.status == 409]


def test_a_lock_is_waited_for_with_small_requests(any_hive, upload, recording):
    """At a server that keeps what it gets, where everything that is left would go in one request."""
    hive, file = any_hive(f"PATCH/close-after={CUT}@1", "lock=1:409:patch@1"), recording(SIZE)
    result = upload(hive, file, "--json", "--retry-max-delay", "200ms", retries=30).check()
    assert is_delivered(hive, file)
    waited = [event for event in result.events if event["event"] == "retry"]
    assert len(waited) >= 2
    assert len(refused(hive)) <= len(waited)
    assert seen(hive) < 2 * SIZE
    assert all(request.content_length <= CHUNK for request in refused(hive)[1:])


@pytest.mark.parametrize("lock", ["lock=3600:409:patch@1", "lock=3600@1"])
def test_a_lock_that_never_goes_is_a_conflict_and_the_upload_stays(hive, program, upload, recording, lock):
    stub, file = hive(f"PATCH/close-after={CUT}@1", lock), recording(SIZE)
    result = upload(stub, file, "--retry-max-delay", "10ms", retries=4, seconds=30)
    assert result.code == 11, result
    assert "a recording like this" not in result.err
    record = only_record(program)
    assert record.phase == "pending" and record.upload_path
    assert stub.uploads[0].offset == AT
    assert seen(stub) < 2 * SIZE


def test_an_upload_that_was_locked_continues_when_the_lock_is_gone(hive, program, upload, recording):
    stub, file = hive(f"PATCH/close-after={CUT}@1", "lock=3600:409:patch@1"), recording(SIZE)
    assert upload(stub, file, "--retry-max-delay", "10ms", retries=2, seconds=30).code == 11
    stub.uploads[0].lock.linger(0, None)
    stub.set_faults()
    stub._requests.clear()
    program.run("resume", "--all", "--progress=none", *trust(stub), env=PASSWORD).check()
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE - AT
