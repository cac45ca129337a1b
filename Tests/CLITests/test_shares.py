"""`--limit-rate` with `-j`: the uploads that can use the rate share it, and none waits for the others to end."""

import pytest
from uploads import sha256

JOBS = 4


@pytest.fixture
def files(recording):
    return lambda sizes: [recording(size, f"{number}.mp4") for number, size in enumerate(sizes)]


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_no_upload_pauses_until_the_server_gives_it_up(hive, program, files, way):
    """A server that ends a request in which nothing comes for a second, at 250 kB a second for each."""
    stub, files = hive("idle-limit=1"), files([1_200_000] * JOBS)
    program.send(stub, *files, "--protocol", way, "-j", JOBS, "--limit-rate", "1M", "--json", retries=0).check()
    assert {item.sha256 for item in stub.recordings} == set(map(sha256, files))
    assert [request.ending for request in stub.requests if request.ending == "idle-limit"] == []
