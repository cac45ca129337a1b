"""`doctor` calls what an upload would trip over a failure, and nothing else."""

import pytest
from namespaces import alone, hosts
from pages import answer
from program import private
from test_doctor import USER, examine, failures, found, result_of  # noqa: F401
from test_full_disks import fill, small_disk  # noqa: F401


def test_redirects_are_followed_as_by_an_upload(hive, examine):
    stub = hive("multipart/http-redirect=308:/api/uploads.php?ui=json&moved=1")
    result = examine(stub.url, *USER, "--json").check()
    event = found(result, "credentials")
    assert event["result"] == "warning" and f"redirects to {stub.url}/api/uploads.php" in event["message"], event
    assert result_of(result, "form-limit") == "ok"


def test_a_patch_that_passes_only_as_a_post_is_a_warning(hive, examine):
    event = found(examine(hive("deny-patch").url, *USER, "--json").check(), "request-limit")
    assert event["result"] == "warning" and "as a POST" in event["message"], event


def test_a_method_override_is_used(hive, examine, tmp_path):
    """From the configuration, too."""
    stub = hive("deny-patch")
    config = tmp_path / "c.conf"
    config.write_text(f"server = {stub.url}\nuser = uploader\nmethod-override = yes\n")
    for arguments in (["--config", config], [f"--server={stub.url}", *USER, "--set", "method-override=yes"]):
        result = examine("--send-test=3M", "--threshold=1M", "--json", *arguments).check()
        assert result_of(result, "request-limit") == result_of(result, "removal") == "ok", result
        assert result_of(result, "test-upload") == result_of(result, "spooling") == "ok"
        assert {request.method for request in stub.requests} == {"OPTIONS", "POST", "HEAD"} and stub.uploads == []


# Whether tus can be used.


def test_a_guest_needs_no_form(hive, examine, tmp_path):
    guest = ["--upload-token-file", private(tmp_path / "token", "right")]
    stub = hive("multipart/early-status=413", user=None, upload_token="right")
    result = examine(stub.url, *guest, "--json", env={}).check()
    assert "form-limit" not in [event.get("check") for event in result.events]


def test_a_file_that_falls_back_to_a_form_is_examined_as_one(hive, examine, recording):
    result = examine(hive(tus=False).url, *USER, "--threshold=1M", "--json", recording(2_000_000))
    assert result_of(result, "form-limit") == "ok", result


def test_other_tus_servers_are_not_told_about_forms(hive, examine):
    result = examine(f"--tus-url={hive().url}/nowhere/", "--json", env={})
    event = found(result, "tus")
    assert result.code == 7 and "multipart" not in event["remedy"] and "creates uploads" in event["remedy"], event


# This machine.


def test_the_date_of_an_event_can_be_given(hive, examine):
    """Then a clock that is not set does not matter to it (MachineChecks)."""
    examine(hive().url, *USER, "--event-date", "2026-11-20").check()


def test_a_full_state_directory_stops_no_form(hive, examine, small_disk, recording):  # noqa: F811
    place = small_disk(2048)
    fill(place / "everything", 4096, 1)
    file = recording(2_000_000)
    result = examine(hive().url, *USER, "--json", "--state-dir", place, file).check()
    event = found(result, "state-directory")
    assert event["result"] == "warning" and "without a record" in event["message"], event
    result = examine(hive().url, *USER, "--json", "--state-dir", place, file, "--protocol", "tus")
    assert result.code == 13 and failures(result) == ["state-directory"], result


# The network.


@pytest.mark.parametrize("status, scheme, check, options, problem, remedy", [
    ("403 Forbidden", "https", "proxy", [], "", "rules forbid"),
    ("407 No", "http", "credentials", [], "requires a user name and a password", "Give them in the variable that sets the proxy"),
    ("407 No", "https", "proxy", ["--set", "proxy-user=me"], "refuses this user's password", "those in the variable"),
])  # fmt: skip
def test_a_proxy_that_refuses_is_named(hive, examine, status, scheme, check, options, problem, remedy):
    proxy = hive(answer=answer(status))
    env = {"GIGHIVE_PASSWORD": "x", "GIGHIVE_PROXY_PASSWORD": "wrong-one"}
    result = examine(f"{scheme}://gighive.example", "--user", "u", "--json", "--proxy", proxy.url, *options, env=env)
    event = found_last_failure(result)
    assert failures(result) == [check] and event["exit_code"] == result.code == 6
    assert problem in event["message"] and remedy in event["remedy"], event
    assert proxy.url.removeprefix("http://") in event["message"], event


def found_last_failure(result) -> dict:
    return [event for event in result.events if event.get("result") == "failure"][-1]


def test_a_name_with_addresses_of_the_other_kind_only(examine, tmp_path):
    def test():
        hosts(tmp_path / "hosts", "2001:db8::1 hive.example")
        return examine("http://hive.example", "--json", "--ipv4")

    event = found_last_failure(alone(test))
    assert event["check"] == "connection", event
    assert "only IPv6 addresses, which --ipv4 excludes" in event.get("remedy", ""), event


def test_each_address_of_a_name_is_tried(hive, examine, tmp_path):
    def test():
        hosts(tmp_path / "hosts", *(f"127.0.0.{number} hive.example" for number in (1, 2, 3)), "::1 hive.example")
        stub = hive()
        return stub.port, examine(f"http://hive.example:{stub.port}", *USER, "--json").check()

    port, result = alone(test)
    event = found(result, "addresses")
    assert event["result"] == "warning" and event["message"].startswith("3 of its 4 addresses"), event
    assert all(f"{address}:{port} (" in event["message"] for address in ("127.0.0.2", "127.0.0.3", "[::1]")), event


@pytest.mark.parametrize("options, check", [([], "connection"), (["--proxy", "http://127.0.0.1:9"], "proxy")])
def test_an_address_of_the_excluded_version(examine, options, check):
    result = examine("http://127.0.0.1:9", *options, "--json", "--ipv6")
    event = found_last_failure(result)
    assert result.code == 2 and event["check"] == check, event
    assert "127.0.0.1 is an IPv4 address" in event["message"] and "Leave out --ipv6" in event["remedy"]


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


def test_advice_is_given_once(hive, examine):
    event = found(examine(hive(answer=answer("404 Not Found", "gone")).url, *USER, "--json"), "credentials")
    assert (event["message"] + event["remedy"]).count("Check the server's address") == 1, event
