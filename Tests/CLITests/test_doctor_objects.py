"""`doctor` for S3, WebDAV and PUT: a small test object, which is written, looked at and removed, and what is wrong in its own words."""

import pytest
from program import private
from s3 import ENVIRONMENT


@pytest.fixture
def examine(program):
    """The findings about the server, and the whole result."""

    def examine(*options, env=None):
        result = program.run("doctor", *options, "--json", env=env)
        return {event["check"]: event for event in result.events if event["event"] == "check"}, result

    return examine


@pytest.fixture
def examine_s3(examine):
    def examine_s3(stub, *options, to="s3://bucket/shows/", env=ENVIRONMENT):
        return examine("--s3", to, "--s3-endpoint", stub.url, *options, env=env)

    return examine_s3


def methods(stub) -> list[str]:
    return [request.command for request in stub.requests]


# MARK: S3


def test_a_bucket_that_works_has_nothing_left(s3, examine_s3):
    for to, path in (
        ("s3://bucket", "/bucket/"), ("s3://bucket/shows/{date}/", "/bucket/shows/"), ("s3://bucket/one.wav", "/bucket/"),
        ("s3://bucket/shows/one.wav", "/bucket/shows/"), ("s3://bucket/live-{name}", "/bucket/live-"),
    ):
        stub = s3()
        found, result = examine_s3(stub, to=to)
        result.check()
        checks = ("test-object", "overwriting", "parts", "removal", "server-clock")
        assert [found[check]["result"] for check in checks] == ["ok"] * 5
        assert stub.objects == {} and stub.uploads == {}
        assert methods(stub) == ["PUT", "HEAD", "PUT", "POST", "GET", "DELETE", "DELETE"]
        (name,) = {request.path.partition("?")[0] for request in stub.requests}
        assert name.startswith(path + "gighive-upload-doctor-") and name in found["test-object"]["message"]


def test_a_refusal_is_explained(s3, examine_s3):
    for status, error, code, words, remedy in (
        (404, "NoSuchBucket", 7, "NoSuchBucket", "Create the bucket"),
        (403, "AccessDenied", 6, "AccessDenied", "s3:PutObject"),
        (403, "SignatureDoesNotMatch", 6, "invalid or has expired", "secret key"),
        (403, "InvalidAccessKeyId", 6, "invalid or has expired", "key's ID"),
        (507, "InsufficientStorage", 8, "InsufficientStorage", ""),
    ):
        stub = s3()
        stub.answers = [(status, error)] * 2
        found, result = examine_s3(stub)
        event = found["test-object"]
        assert result.code == code and event["result"] == "failure" and event["answer"]["status"] == status, result
        assert words in event["message"] and remedy in event.get("remedy", "") and methods(stub) == ["PUT"], event


def test_another_region_is_named(s3, examine_s3):
    stub = s3(region="eu-central-1")
    found, result = examine_s3(stub)
    assert result.check() and found["region"]["result"] == "warning"
    assert found["region"]["remedy"] == "Use --set s3-region=eu-central-1." and stub.objects == {}
    assert "region" not in examine_s3(stub, "--set", "s3-region=eu-central-1")[0]
    stub = s3()
    stub.answers = [(400, "AuthorizationHeaderMalformed", "<Region>eu-west-2</Region>")] * 2
    found, result = examine_s3(stub)
    assert result.code != 0 and "--set s3-region=eu-west-2" in found["test-object"]["remedy"], result


def test_a_clock_that_is_off_is_named_and_worked_around(s3, examine_s3):
    stub = s3(clock=1200)
    found, result = examine_s3(stub)
    assert result.check() and found["server-clock"]["result"] == "warning" and "20 min" in found["server-clock"]["message"]
    assert found["test-object"]["result"] == "ok" and stub.objects == {}


def test_a_server_that_cannot_prevent_overwriting(s3, examine_s3):
    ignoring, refusing = s3(), s3()
    ignoring.prevents = False
    refusing.answers = [(501, "NotImplemented")]
    for stub in (ignoring, refusing):
        found, result = examine_s3(stub)
        assert result.check() and found["overwriting"]["result"] == "warning"
        assert "cannot prevent overwriting" in found["overwriting"]["message"] and stub.objects == {}


# MARK: WebDAV


@pytest.fixture
def examine_dav(examine, dav):
    return lambda *options, url="/dav/", **more: examine("--webdav", dav.url + url, *options, **more)


def test_a_share_that_works_has_nothing_left(examine_dav, dav):
    found, result = examine_dav()
    result.check()
    assert dav.files == {} and dav.methods() == ["PUT", "MOVE", "PROPFIND", "DELETE"]
    assert found["test-object"]["result"] == found["removal"]["result"] == "ok"
    (hidden, sent, _, removed) = [path for _, path in dav.requests]
    assert hidden == sent and hidden.startswith("/dav/.gighive-upload-doctor-") and hidden.endswith(".gighive-part")
    assert removed.startswith("/dav/gighive-upload-doctor-")


def test_a_directory_that_uploads_would_make_is_named(examine_dav, dav):
    found, result = examine_dav(url="/dav/2026/may/")
    assert result.check() and dav.files == {} and dav.directories == {"/", "/dav/"}
    warning = next(event for event in result.events if event.get("result") == "warning")
    assert warning["check"] == "test-object" and "/dav/2026/may/ yet" in warning["message"]


def test_a_share_that_refuses_a_method_is_a_failure_with_a_remedy(examine_dav, dav):
    for method, status, code, remedy in (
        ("PUT", 401, 6, ""), ("PUT", 403, 6, "may only read"), ("PUT", 405, 7, "may only read"), ("PUT", 507, 8, ""),
        ("PUT", 409, 7, ""), ("MOVE", 501, 9, "Uploads need MOVE"), ("MOVE", 502, 9, "Destination"), ("PUT", 503, 9, ""),
    ):
        dav.refuse = {method: status}
        found, result = examine_dav()
        event = found["test-object"]
        assert result.code == code and event["result"] == "failure" and remedy in event.get("remedy", ""), result
        assert dav.files == {}


# MARK: PUT


def test_a_directory_that_takes_put_has_nothing_left(examine, dav):
    found, result = examine("--put-url", dav.url + "/dav/")
    assert result.check() and found["test-object"]["result"] == "ok" and dav.files == {}
    assert dav.methods() == ["DELETE", "PUT", "HEAD", "DELETE"]
    dav.requests.clear()
    dav.refuse = {"DELETE": 405}
    found, result = examine("--put-url", dav.url + "/dav/")
    assert result.check() and found["test-object"]["result"] == "not_examined" and dav.methods() == ["DELETE"]


def test_a_url_for_one_object_is_not_tried(examine, dav, tmp_path):
    for path, is_secret in (("/one.wav", False), ("/{name}?sig=a", False), ("/one?sig=a", True), ("/{name}?sig=a", True)):
        url = dav.url + path
        options = ["--put-url-file", private(tmp_path / "url", url + "\n")] if is_secret else ["--put-url", url]
        found, result = examine(*options)
        assert result.check() and found["test-object"]["result"] == "not_examined" and dav.requests == []
