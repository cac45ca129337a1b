"""Servers that close a connection after a response without notice, like uWSGI, and the requests in flight then."""

import pytest
from test_retries import retries
from uploads import TUS, is_delivered, sha256

SIZE = 2_000_000
CLOSINGS = ["hang-up=0.2:rst", "hang-up=3:fin"]
"""After so many milliseconds."""


@pytest.mark.parametrize("closing", CLOSINGS)
def test_short_patches_arrive_at_a_server_that_closes_after_each_response(hive, plain, recording, closing):
    for number in range(3):
        stub, file = hive(closing), recording(SIZE, f"{number}.mp4")
        result = plain(stub, file, "--chunk-size", "200k", "--json", retries=0)
        assert result.code == 0 and retries(result) == [], result
        assert [upload.sha256 for upload in stub.uploads if upload.is_complete] == [sha256(file)]


@pytest.mark.parametrize("closing", CLOSINGS)
def test_a_tus_upload_to_gighive_ends_well_at_a_server_that_closes_after_each_response(hive, send, recording, closing):
    stub, file = hive(closing), recording(SIZE)
    result = send(stub, file, *TUS, "--chunk-size", "200k", "--json", retries=0)
    assert result.code == 0 and retries(result) == [], result
    assert is_delivered(stub, file)


def test_connections_that_go_stale_one_after_the_other_are_no_failure(any_hive, send, recording):
    """Each is reset just when the next request comes; without another try a failure would end it."""
    hive = any_hive("stale")
    files = [recording(20_000, f"{number}.mp4") for number in range(6)]
    result = send(hive, *files, "--json", retries=0)
    assert result.code == 0 and retries(result) == [], result
    assert {item.sha256 for item in hive.recordings} == set(map(sha256, files))


# Redirections of requests that overlap.
