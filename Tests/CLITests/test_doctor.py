"""`doctor` names what is broken, says what to do, and ends with the exit code that an upload would end with."""

import os
import socket

import pytest
from certificates_forge import HOST, leaf
from namespaces import alone, command, hosts
from pages import AUTHORED, answer
from program import private, trust
from uploads import PASSWORD

USER = ["--user", "uploader"]


@pytest.fixture
def examine(program):
    def examine(destination, *options, env=PASSWORD, **more):
        kind = [] if str(destination).startswith("--") else ["--server"]
        return program.run("doctor", *kind, destination, *options, env=env, **more)

    return examine


def found(result, check: str) -> dict:
    (event,) = [event for event in result.events if event.get("check") == check]
    return event


def result_of(result, check: str) -> str:
    return found(result, check)["result"]


def failures(result) -> list[str]:
    return [event["check"] for event in result.events if event.get("result") == "failure"]


def last_failure(result) -> dict:
    return [event for event in result.events if event.get("result") == "failure"][-1]


# Nothing is broken.


def test_people_read_each_check_and_with_quiet_only_what_is_wrong(hive, examine):
    stub = hive()
    result = examine(stub.url, *USER).check()
    assert "FAIL" not in result.out and "warn" not in result.out
    assert "GigHive accepts the credentials" in result.out
    assert result.out.endswith("no problem found.\n")
    assert examine(stub.url, *USER, "--quiet").check().out == ""
    assert examine(hive(user="other").url, *USER, "--quiet").out.startswith("FAIL ")


def test_nothing_is_created_and_no_content_is_sent(hive, program, examine, recording):
    stub = hive()
    # With a date, a clock that is not set does not matter (MachineChecks).
    examine(stub.url, *USER, "--event-date", "2026-11-20", recording(2_000_000)).check()
    announced = [request for request in stub.requests if request.header("Expect")]
    lengths = {request.content_length for request in announced}
    assert lengths == {1_000_000, 2_000_000, 100_000_000, 1 << 30, 64 << 10, 90 << 20}
    for destination in (f"--tus-url={stub.url}/tus/", f"--multipart-url={stub.url}/upload"):
        examine(destination, env={}).check()
    assert all(request.body_bytes == 0 for request in stub.requests if request.header("Expect"))
    assert stub.recordings == [] and stub.uploads == []
    assert not program.state.exists()


def test_a_program_gets_an_object_for_each_check_and_a_summary(hive, examine, certificates):
    stub = hive(tls=certificates)
    result = examine(stub.url, *USER, *trust(stub), "--json").check()
    *checks, summary = result.events
    assert [check["check"] for check in checks] == [
        "clock", "entropy", "memory", "open-files", *(["user"] if os.getuid() == 0 else []), "state-directory", "connection",
        "tls", "certificate", "server-clock", "credentials", "tus", "form-limit", "content-limit", "request-limit",
    ]
    assert {check["exit_code"] for check in checks} == {0}
    assert summary["event"] == "diagnosis" and summary["exit_code"] == summary["failure_count"] == 0
    assert summary["ok_count"] == len(checks) - 1 and summary["not_examined_count"] == 1


# This machine and the file.


def test_a_file_that_cannot_be_sent_is_named(hive, examine, recording, tmp_path):
    stub = hive()
    result = examine(stub.url, *USER, "--json", tmp_path / "missing.mp4")
    assert result.code == 3 and failures(result) == ["file"]
    result = examine(stub.url, *USER, "--json", recording(name="notes.pdf"))
    event = found(result, "file")
    assert result.code == 7 and failures(result) == ["file"] and "notes.pdf" in event["message"]
    assert "GigHive takes only audio and video" in event["remedy"] and "mp4" in event["remedy"]
    examine(f"--tus-url={stub.url}/tus/", recording(name="notes.pdf"), env={}).check()


# Name and network.


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("url, options, message, remedy", [
    ("http://nobody.invalid", [], "no such host: nobody.invalid", ""),
    ("http://127.0.0.1:{unused}", [], "Connection refused", "Nothing listens at that port"),
    ("http://127.0.0.1:{deaf}", ["--connect-timeout", "300ms"], "timed out while connecting", "firewall"),
])  # fmt: skip
def test_a_server_without_a_connection(examine, deaf_port, url, options, message, remedy):
    result = examine(url.format(unused=unused_port(), deaf=deaf_port), "--json", *options)
    event = found(result, "connection")
    assert result.code == 4 and failures(result) == ["connection"], result
    assert message in event["message"] and remedy in (event.get("remedy") or ""), event


def test_no_way_to_the_server(examine):
    def test():
        results = [examine(url, "--json") for url in ("http://192.0.2.1", "http://[2001:db8::1]")]
        command("ip", "-6", "route", "add", "unreachable", "2001:db8::/32")
        return [*results, examine("http://[2001:db8::1]", "--json")]

    results = alone(test)
    assert {result.code for result in results} == {4}
    unreachable, unreachable_6, nobodys = [found(result, "connection") for result in results]
    assert "Network is unreachable" in unreachable["message"] and "routes (ip route)" in unreachable["remedy"], unreachable
    assert "which many networks cannot reach" in unreachable_6["remedy"], unreachable_6
    assert "Nobody has that address" in nobodys["remedy"], nobodys


def test_an_address_of_the_excluded_version(examine):
    for options, check in (([], "connection"), (["--proxy", "http://127.0.0.1:9"], "proxy")):
        result = examine("http://127.0.0.1:9", *options, "--json", "--ipv6")
        event = last_failure(result)
        assert result.code == 2 and event["check"] == check, event
        assert "127.0.0.1 is an IPv4 address" in event["message"] and "Leave out --ipv6" in event["remedy"]


def test_a_name_with_addresses_of_the_other_kind_only(examine, tmp_path):
    def test():
        hosts(tmp_path / "hosts", "2001:db8::1 hive.example")
        return examine("http://hive.example", "--json", "--ipv4")

    event = last_failure(alone(test))
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


def test_a_server_that_never_answers(examine, deaf_server):
    result = examine(deaf_server(b""), *USER, "--json", "--set", "response-timeout=300ms")
    event = found(result, "credentials")
    assert result.code == 4 and "timed out while waiting for the response" in event["message"]
    assert "its program does not answer: restart it" in event["remedy"]


# A proxy.


def test_a_proxy_that_cannot_be_used(examine):
    result = examine("https://gighive.invalid", "--proxy", "http://127.0.0.1:9", "--json")
    assert result.code == 4 and failures(result) == ["proxy"]
    event = last_failure(result)
    assert "127.0.0.1:9" in event["message"] and "--proxy" in event["remedy"]
    result = examine("http://gighive.example", "--json", env={"all_proxy": "socks5://127.0.0.1:1"})
    assert result.code == 2 and "$all_proxy" in found(result, "proxy")["message"]


@pytest.mark.parametrize("status, scheme, check, options, problem, remedy", [
    ("403 Forbidden", "https", "proxy", [], "", "rules forbid"),
    ("407 No", "http", "credentials", [], "requires a user name and a password", "Give them in the variable that sets the proxy"),
    ("407 No", "https", "proxy", ["--set", "proxy-user=me"], "refuses this user's password", "those in the variable"),
])  # fmt: skip
def test_a_proxy_that_refuses_is_named(hive, examine, status, scheme, check, options, problem, remedy):
    proxy = hive(answer=answer(status))
    env = {"GIGHIVE_PASSWORD": "x", "GIGHIVE_PROXY_PASSWORD": "wrong-one"}
    result = examine(f"{scheme}://gighive.example", "--user", "u", "--json", "--proxy", proxy.url, *options, env=env)
    event = last_failure(result)
    assert failures(result) == [check] and event["exit_code"] == result.code == 6
    assert problem in event["message"] and remedy in event["remedy"], event
    assert proxy.url.removeprefix("http://") in event["message"], event


# TLS.


def test_a_certificate_that_is_not_trusted(hive, examine, certificates):
    stub = hive(tls=certificates)
    result = examine(stub.url, *USER, "--json")
    assert result.code == 5 and failures(result) == ["certificate"]
    assert "--cacert" in found(result, "certificate")["remedy"]
    assert "issued by HiveStub" in found(result, "certificate")["remedy"]
    pin = "sha256//" + "A" * 43 + "="
    result = examine(stub.url, *USER, "--json", "--cacert", certificates.cacert, "--set", f"pin={pin}")
    assert result.code == 5 and "--set pin" in found(result, "certificate")["remedy"]


def test_a_server_without_tls(examine, answering):
    for said, words in ((answer("400 Bad Request"), "does not speak TLS"), (b"", "Check the port, and the server's log")):
        result = examine(f"https://127.0.0.1:{answering(lambda hello: said)}", "--json")
        assert result.code == 5 and words in found(result, "tls")["remedy"], result


OTHERS = ("DNS:other.example", "DNS:www.other.example", "IP:192.0.2.9", "IP:2001:db8::9")


def test_a_certificate_for_another_host_is_described(forge, serve_tls, examine):
    server = serve_tls(leaf(forge, names=OTHERS))
    result = examine(f"https://{HOST}", *USER, "--json", "--cacert", server.shown.cacert, "--proxy", server.proxy)
    event = found(result, "certificate")
    assert result.code == 5 and failures(result) == ["certificate"] and b"HTTP" not in server.received
    assert "hostname mismatch" in event["message"], event
    assert "It is for other.example, www.other.example, 192.0.2.9, 2001:db8::9, issued by" in event["remedy"], event


# The server.


def test_credentials_that_are_missing_or_wrong(hive, examine, tmp_path):
    result = examine(hive().url, "--json", env={})
    event = found(result, "credentials")
    assert result.code == 6 and "user name and a password: --user" in event["remedy"]
    assert "No credentials were given" in event["message"] and "Check the user name" not in event["message"]
    stub = hive(password="other")
    result = examine(stub.url, *USER, "--send-test", "3M", "--json")
    assert result.code == 6 and failures(result) == ["credentials"] and "401" in found(result, "credentials")["message"]
    assert not any(request.body_bytes > 1000 for request in stub.requests) and stub.uploads == []
    guest = ["--upload-token-file", private(tmp_path / "token", "wrong")]
    result = examine(hive(user=None, upload_token="right").url, "--json", *guest)
    assert result.code == 6 and failures(result) == ["guest-token"]


def test_a_guest_needs_no_form(hive, examine, tmp_path):
    guest = ["--upload-token-file", private(tmp_path / "token", "right")]
    stub = hive("multipart/early-status=413", user=None, upload_token="right")
    result = examine(stub.url, *guest, "--json", env={}).check()
    assert result_of(result, "guest-token") == "ok"
    assert "form-limit" not in [event.get("check") for event in result.events]


def test_large_recordings_go_as_forms_without_tus(hive, examine, recording):
    stub = hive(tus=False)
    assert result_of(examine(stub.url, *USER, "--json").check(), "tus") == "warning"
    result = examine(stub.url, *USER, "--json", "--protocol", "tus")
    assert result.code == 7 and failures(result) == ["tus"]
    large = [stub.url, *USER, "--json", "--threshold", "1M"]
    result = examine(*large, recording(2_000_000))
    assert result_of(result, "form-limit") == "ok", result
    result = examine(*large, "--send-test", "3M").check()
    assert result_of(result, "test-upload") == "not_examined"
    assert not any(request.body_bytes > 1000 for request in stub.requests)


def test_other_tus_servers_are_not_told_about_forms(hive, examine):
    result = examine(f"--tus-url={hive().url}/nowhere/", "--json", env={})
    event = found(result, "tus")
    assert result.code == 7 and "multipart" not in event["remedy"] and "creates uploads" in event["remedy"], event


def test_what_answers_in_place_of_the_server_is_named(hive, examine):
    response, author, remedy = AUTHORED["nginx, 502"]
    result = examine(hive(answer=response).url, *USER, "--json")
    event = found(result, "credentials")
    assert result.code == event["exit_code"] != 0
    assert author in event["message"] and remedy in event["remedy"], event
    assert (event["answer"]["status"], event["answer"]["author"]) == (502, "nginx")


def test_advice_is_given_once(hive, examine):
    event = found(examine(hive(answer=answer("404 Not Found", "gone")).url, *USER, "--json"), "credentials")
    assert (event["message"] + event["remedy"]).count("Check the server's address") == 1, event


# The command line.


def test_usage_errors(run):
    url = "http://127.0.0.1:9"
    for arguments, message in (
        ([], "one destination"),
        (["--server", url, "a", "b"], "at most one file"),
        (["--server", url, "--label", "x"], "--label"),
        (["--server", url, "--send-test", "0"], "--send-test"),
        (["--server", url, "--send-test", "1073741825"], "--send-test"),
        (["--multipart-url", url, "--send-test", "1M"], "--send-test needs --server or --tus-url"),
        (["--put-url", url + "/", "--link"], "--link needs --server or --tus-url"),
    ):
        result = run("doctor", *arguments)
        assert result.code == 2 and message in result.err, result


def test_no_secret_is_shown(hive, examine):
    result = examine(hive(answer=answer("403 Forbidden", "your password secret-of-mine is wrong")).url, *USER, "--verbose",
                     env={"GIGHIVE_PASSWORD": "secret-of-mine"})
    assert result.code == 6 and "secret-of-mine" not in result.out + result.err


# What an upload would trip over is a failure, and nothing else.


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
