"""GigHive may store a recording and process it later. The file is not sent again to learn the outcome."""

from uploads import is_delivered, kinds, of_kind, sha256

SIZE = 3_000_000
SOON = ["--set", "retry-max-delay=10ms"]
FORM_BYTES = 100_000
"""What a form and the small requests add, at most."""


def test_a_recording_that_is_pending_is_asked_for_until_it_is_there(any_hive, send, recording):
    hive, file = any_hive("multipart-pending=3"), recording(SIZE)
    result = send(hive, file, "--json", *SOON, retries=5).check()
    assert is_delivered(hive, file)
    assert sum(request.body_bytes for request in hive.requests) <= SIZE + FORM_BYTES
    assert kinds(hive) == ["multipart"] + ["asset"] * 4
    assert result.outcome["asset_id"] == 1 and result.outcome["checksum_verified"] is True
    assert result.outcome["checksum_sha256"] == sha256(file)
    assert all(request.header("Authorization") for request in of_kind(hive, "asset"))
