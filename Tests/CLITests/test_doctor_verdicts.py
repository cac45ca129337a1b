"""`doctor` calls what an upload would trip over a failure, and nothing else."""

from test_doctor import USER, examine, failures, found, result_of  # noqa: F401
from test_full_disks import fill, small_disk  # noqa: F401


def test_redirects_are_followed_as_by_an_upload(hive, examine):
    stub = hive("multipart/http-redirect=308:/api/uploads.php?ui=json&moved=1")
    result = examine(stub.url, *USER, "--json").check()
    event = found(result, "credentials")
    assert event["result"] == "warning" and f"redirects to {stub.url}/api/uploads.php" in event["message"], event
    assert result_of(result, "form-limit") == "ok"


def test_a_patch_that_passes_only_as_a_post_is_a_warning_or_sent_as_one(hive, examine, tmp_path):
    """In the configuration, too."""
    stub = hive("deny-patch")
    event = found(examine(stub.url, *USER, "--json").check(), "request-limit")
    assert event["result"] == "warning" and "as a POST" in event["message"], event
    assert stub.uploads == [] and any(request.header("X-HTTP-Method-Override") == "DELETE" for request in stub.requests)
    stub = hive("deny-patch")
    config = tmp_path / "c.conf"
    config.write_text(f"[gig]\nserver = {stub.url}\nuser = uploader\nlabel = x\nmethod-override = yes\n")
    for arguments in (["--config", config, "--to", "gig"], [f"--server={stub.url}", *USER, "--set", "method-override=yes"]):
        result = examine("--send-test=3M", "--threshold=1M", "--json", *arguments).check()
        assert result_of(result, "request-limit") == result_of(result, "removal") == "ok", result
        assert result_of(result, "test-upload") == result_of(result, "spooling") == "ok"
        assert {request.method for request in stub.requests} == {"OPTIONS", "POST", "HEAD"} and stub.uploads == []


def test_a_full_state_directory_stops_no_form(hive, examine, small_disk, recording):  # noqa: F811
    place = small_disk(2048)
    fill(place / "everything", 4096, 1)
    file = recording(2_000_000)
    result = examine(hive().url, *USER, "--json", "--state-dir", place, file).check()
    event = found(result, "state-directory")
    assert event["result"] == "warning" and "without a record" in event["message"], event
    result = examine(hive().url, *USER, "--json", "--state-dir", place, file, "--protocol", "tus")
    assert result.code == 13 and failures(result) == ["state-directory"], result


def test_uploads_at_an_internal_address(hive, examine):
    """tusd behind a proxy, which has not been told so."""
    stub = hive("other-location=http://127.0.0.1:9/elsewhere/{id}")
    result = examine(stub.url, *USER, "--json")
    event = found(result, "upload-address")
    assert result.code == 4 and failures(result) == ["upload-address"], result
    assert "http://127.0.0.1:9" in event["remedy"] and "-behind-proxy" in event["remedy"]
    assert result_of(result, "removal") == "warning"


def test_the_address_of_uploads_is_checked_without_content(hive, examine):
    stub = hive()
    result = examine(stub.url, *USER, "--json").check()
    (creation,) = [request for request in stub.requests if request.header("Upload-Length")]
    assert creation.body_bytes == 0 and stub.uploads == [] and "upload-address" not in result.out
    # Nothing would remove it.
    stub = hive(tus_extensions=("creation",))
    examine(stub.url, *USER, "--json").check()
    assert not any(request.header("Upload-Length") for request in stub.requests)
