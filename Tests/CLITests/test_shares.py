"""`--limit-rate` with `-j`: the uploads that can use the rate share it, and none waits for the others to end.

What the server has of each is compared, never a time.
"""

import pytest
from program import wait_until
from uploads import sha256

JOBS = 4
SIZE = 4_000_000


@pytest.fixture
def files(recording):
    return lambda sizes: [recording(size, f"{number}.mp4") for number, size in enumerate(sizes)]


def arrived(hive, way) -> list[int]:
    """Bytes of each upload that the server has, the smallest first."""
    if way == "tus":
        return sorted([upload.offset for upload in hive.uploads] + [item.size for item in hive.recordings])
    return sorted(request.body_bytes for request in hive.requests if request.kind == "multipart")


def when(hive, way, total: int, running) -> list[int]:
    """What each has at the moment in which all together have so much."""
    counts = []

    def reached():
        counts[:] = arrived(hive, way)
        return sum(counts) >= total or running.process.poll() is not None

    wait_until(reached, seconds=50, what=f"{total} bytes in all")
    return counts


@pytest.mark.long
@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_uploads_that_share_a_rate_get_about_as_much(hive, program, files, way):
    stub = hive()
    running = program.start_sending(
        stub, *files([SIZE] * JOBS), "--protocol", way, "--progress=none", "-j", JOBS, "--limit-rate", "3M")
    for share in (0.5, 0.75):
        counts = when(stub, way, int(share * JOBS * SIZE), running)
        assert len(counts) == JOBS, counts
        assert counts[-1] <= 2 * counts[0], counts
    assert running.wait().code == 0
    assert len(stub.recordings) == JOBS


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_no_upload_pauses_until_the_server_gives_it_up(hive, program, files, way):
    """A server that ends a request in which nothing comes for a second, at 250 kB a second for each."""
    stub, files = hive("idle-limit=1"), files([1_200_000] * JOBS)
    program.send(stub, *files, "--protocol", way, "-j", JOBS, "--limit-rate", "1M", "--json", retries=0).check()
    assert {item.sha256 for item in stub.recordings} == set(map(sha256, files))
    assert [request.ending for request in stub.requests if request.ending == "idle-limit"] == []
