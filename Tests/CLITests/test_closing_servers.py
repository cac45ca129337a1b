"""Servers that close a connection after a response without notice, like uWSGI, and the requests in flight then."""

import pytest
from test_retries import retries
from uploads import sha256

SIZE = 2_000_000
CLOSINGS = ["hang-up=0.2:rst", "hang-up=3:fin"]
"""After so many milliseconds."""


@pytest.mark.parametrize("closing", CLOSINGS)
@pytest.mark.parametrize("destination", ["plain", "upload"])
def test_short_patches_arrive_at_a_server_that_closes_after_each_response(request, hive, recording, closing, destination):
    """At a plain one, and at GigHive."""
    stub, file = hive(closing), recording(SIZE)
    result = request.getfixturevalue(destination)(stub, file, "--chunk-size", "200k", "--json", retries=0)
    assert result.code == 0 and retries(result) == [], result
    stored = stub.recordings if destination == "upload" else stub.uploads
    assert [one.sha256 for one in stored] == [sha256(file)]


def test_connections_that_go_stale_one_after_the_other_are_no_failure(any_hive, send, recording):
    """Each is reset just when the next request comes; without another try a failure would end it."""
    hive = any_hive("stale")
    files = [recording(20_000, f"{number}.mp4") for number in range(6)]
    result = send(hive, *files, "--json", retries=0)
    assert result.code == 0 and retries(result) == [], result
    assert {item.sha256 for item in hive.recordings} == set(map(sha256, files))
