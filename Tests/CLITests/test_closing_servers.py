"""Servers that close a connection after a response without notice, like uWSGI, and the requests in flight then."""

import pytest
from test_retries import retries
from uploads import CHUNK, TUS, is_delivered, of_kind, sent, sha256

SIZE = 2_000_000
LARGE = 30_000_000

CLOSINGS = [f"hang-up={milliseconds}:{ending}" for milliseconds in (0.2, 3) for ending in ("fin", "rst")]


@pytest.mark.parametrize("closing", CLOSINGS)
def test_short_patches_arrive_at_a_server_that_closes_after_each_response(hive, plain, recording, closing):
    for number in range(3):
        stub, file = hive(closing), recording(SIZE, f"{number}.mp4")
        result = plain(stub, file, "--chunk-size", "200k", "--json", retries=0)
        assert result.code == 0 and retries(result) == [], result
        assert [upload.sha256 for upload in stub.uploads if upload.is_complete] == [sha256(file)]


@pytest.mark.parametrize("closing", CLOSINGS)
def test_several_files_arrive_at_a_server_that_closes_after_each_response(hive, send, recording, closing):
    for number in range(3):
        stub = hive(closing)
        files = [recording(300_000, f"{number}-{file}.mp4") for file in range(6)]
        result = send(stub, *files, "--json", retries=0)
        assert result.code == 0 and retries(result) == [], result
        assert {item.sha256 for item in stub.recordings} == set(map(sha256, files))


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


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_after_a_stale_connection_each_request_has_its_own_connection(any_hive, send, recording, way):
    """The server would keep the later ones; it is not trusted to."""
    hive = any_hive("stale@1")
    if way == "tus":
        arguments = [recording(SIZE), *TUS, "--chunk-size", "200k"]
    else:
        arguments = [recording(20_000, f"{number}.mp4") for number in range(6)]
    result = send(hive, *arguments, "--json", retries=0)
    assert result.code == 0 and retries(result) == [], result
    assert hive.requests[0].ending == "stale"
    connections = [request.connection for request in hive.requests]
    assert len(connections) > 5 and len(set(connections)) == len(connections), connections


# Redirections of requests that overlap.


@pytest.mark.parametrize("which", ["@2-2", ""])
def test_a_patch_that_is_redirected_with_another_behind_it_is_followed(any_hive, send, recording, which):
    """The answer comes when the next request is on its way, and the connection stays."""
    hive, file = any_hive("tus/delay-answer=0.1", f"patch/somebody-else=307:{{target}}?moved{which}"), recording(LARGE)
    send(hive, file, *TUS, "--json", "--retry-max-delay", "10ms", retries=3).check()
    assert is_delivered(hive, file)
    assert 307 in [request.status for request in of_kind(hive, "patch")]
    assert any(request.target.endswith("?moved") for request in of_kind(hive, "patch"))
    assert len(of_kind(hive, "create")) == 1
    assert sent(hive) <= LARGE + 3 * CHUNK
