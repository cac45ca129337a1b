"""A 409 from a server that still holds a lock is a lock, like a 423: the client backs off, and sends little until it is gone.

Bunny Stream answers so, and Supabase documents it: after a PATCH that was cut, HEAD gives the offset and PATCH is refused.
"""

from program import trust
from records import only_record
from uploads import CREATION, PASSWORD, is_delivered, sent

SIZE = 12_000_000
CUT = 2_000_000
AT = CREATION + CUT


def seen(hive) -> int:
    """Bytes of content that reached the server, including those after a refusal."""
    return sent(hive) + sum(request.drained_bytes for request in hive.requests)


def test_a_lock_that_never_goes_is_a_conflict_and_the_upload_continues_when_it_is_gone(hive, program, upload, recording):
    stub, file = hive(f"PATCH/close-after={CUT}@1", "lock=3600:409:patch@1"), recording(SIZE)
    result = upload(stub, file, "--set", "retry-max-delay=10ms", retries=4, seconds=30)
    assert result.code == 11, result
    assert "a recording like this" not in result.err
    record = only_record(program)
    assert record.phase == "pending" and record.upload_path
    assert stub.uploads[0].offset == AT
    assert seen(stub) < 2 * SIZE
    stub.uploads[0].lock.linger(0, None)
    stub.set_faults()
    stub._requests.clear()
    program.run("resume", "--all", "--progress=none", *trust(stub), env=PASSWORD).check()
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE - AT
