"""`doctor` calls what an upload would trip over a failure, and nothing else."""

from test_doctor import USER, examine, failures, found, result_of  # noqa: F401


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


def test_uploads_at_an_internal_address(hive, examine):
    """tusd behind a proxy, which has not been told so."""
    stub = hive("other-location=http://127.0.0.1:9/elsewhere/{id}")
    result = examine(stub.url, *USER, "--json")
    event = found(result, "upload-address")
    assert result.code == 4 and failures(result) == ["upload-address"], result
    assert "http://127.0.0.1:9" in event["remedy"] and "-behind-proxy" in event["remedy"]
    assert result_of(result, "removal") == "warning"
