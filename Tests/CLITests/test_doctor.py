"""`doctor` names what is broken, says what to do, and ends with the exit code that an upload would end with."""

import os

import pytest
from certificates_forge import HOST, leaf
from namespaces import alone, command
from pages import AUTHORED, answer
from program import private, trust
from test_connecting import unused_port
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


# Nothing is broken.


def test_a_working_server_passes_every_check(any_hive, examine):
    hive = any_hive()
    result = examine(hive.url, *USER, *trust(hive)).check()
    assert "FAIL" not in result.out and "warn" not in result.out
    assert "GigHive accepts the credentials" in result.out
    assert result.out.endswith("no problem found.\n")


def test_nothing_is_created_and_no_content_is_sent(hive, program, examine, recording):
    stub = hive()
    examine(stub.url, *USER, recording(2_000_000)).check()
    assert stub.recordings == [] and stub.uploads == []
    assert not program.state.exists()
    announced = [request for request in stub.requests if request.header("Expect")]
    lengths = {request.content_length for request in announced}
    assert lengths == {1_000_000, 2_000_000, 100_000_000, 1 << 30, 64 << 10, 90 << 20}
    assert all(request.body_bytes == 0 for request in announced)


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


@pytest.mark.parametrize("path, kind", [("/tus/", "--tus-url"), ("/upload", "--multipart-url")])
def test_other_destinations_are_examined_too(hive, examine, path, kind):
    stub = hive()
    examine(f"{kind}={stub.url}{path}", env={}).check()
    assert stub.recordings == [] and stub.uploads == []


def test_quiet_shows_only_what_is_wrong(hive, examine):
    assert examine(hive().url, *USER, "--quiet").check().out == ""
    assert examine(hive(user="other").url, *USER, "--quiet").out.startswith("FAIL ")


def test_a_destination_of_the_configuration_is_examined(hive, examine, tmp_path):
    config = tmp_path / "c.conf"
    config.write_text(f"[gig]\nserver = {hive().url}\nuser = uploader\nlabel = x\n")
    result = examine("--config", config, "--to", "gig")
    assert result.code == 0 and "GigHive accepts" in result.out


# This machine and the file.


def test_a_file_that_cannot_be_sent(hive, examine, tmp_path):
    result = examine(hive().url, *USER, "--json", tmp_path / "missing.mp4")
    assert result.code == 3 and failures(result) == ["file"]


def test_a_file_that_gighive_does_not_take(hive, examine, recording):
    stub = hive()
    result = examine(stub.url, *USER, "--json", recording(name="notes.pdf"))
    event = found(result, "file")
    assert result.code == 7 and failures(result) == ["file"] and "notes.pdf" in event["message"]
    assert "GigHive takes only audio and video" in event["remedy"] and "mp4" in event["remedy"]
    examine(f"--tus-url={stub.url}/tus/", recording(name="notes.pdf"), env={}).check()


# Name and network.


@pytest.mark.parametrize("url, options, message, remedy", [
    ("http://nobody.invalid", [], "no such host: nobody.invalid", ""),
    ("http://nobody-has-this.local", ["--connect-timeout", "2s"], "multicast DNS", "switched on"),
    ("http://127.0.0.1:{unused}", [], "Connection refused", "Nothing listens at that port"),
    ("http://127.0.0.1:{deaf}", ["--connect-timeout", "300ms"], "timed out while connecting", "firewall"),
])  # fmt: skip
def test_a_server_without_a_connection(examine, deaf_port, url, options, message, remedy):
    result = examine(url.format(unused=unused_port(), deaf=deaf_port), "--json", *options)
    event = found(result, "connection")
    assert result.code == 4 and failures(result) == ["connection"], result
    assert message in event["message"] and remedy in (event.get("remedy") or ""), event


@pytest.mark.parametrize("url, route, message, remedy", [
    ("http://192.0.2.1", None, "Network is unreachable", "routes"),
    ("http://[2001:db8::1]", None, "", "which many networks cannot reach"),
    ("http://[2001:db8::1]", "2001:db8::/32", "", "Nobody has that address"),
])  # fmt: skip
def test_no_way_to_the_server(examine, url, route, message, remedy):
    def test():
        if route:
            command("ip", "-6", "route", "add", "unreachable", route)
        return examine(url, "--json")

    result = alone(test)
    event = found(result, "connection")
    assert result.code == 4 and message in event["message"] and remedy in event["remedy"], event


def test_a_server_that_never_answers(examine, deaf_server):
    result = examine(deaf_server(b""), *USER, "--json", "--set", "response-timeout=300ms")
    event = found(result, "credentials")
    assert result.code == 4 and "timed out while waiting for the response" in event["message"]
    assert "its program does not answer: restart it" in event["remedy"]


def test_a_proxy_that_is_not_there(examine):
    result = examine("https://gighive.invalid", "--proxy", "http://127.0.0.1:9", "--json")
    assert result.code == 4 and failures(result) == ["proxy"]
    (event,) = [event for event in result.events if event.get("result") == "failure"]
    assert "127.0.0.1:9" in event["message"] and "--proxy" in event["remedy"]


def test_a_proxy_in_the_environment_that_cannot_be_used(examine):
    result = examine("http://gighive.example", "--json", env={"all_proxy": "socks5://127.0.0.1:1"})
    assert result.code == 2 and "$all_proxy" in found(result, "proxy")["message"]


# TLS.


def test_an_unknown_authority(hive, examine, certificates):
    result = examine(hive(tls=certificates).url, *USER, "--json")
    assert result.code == 5 and failures(result) == ["certificate"]
    assert "--cacert" in found(result, "certificate")["remedy"]
    assert "issued by HiveStub" in found(result, "certificate")["remedy"]


@pytest.mark.parametrize("said, words", [
    (answer("400 Bad Request"), "does not speak TLS"), (b"", "Check the port, and the server's log"),
], ids=["plain HTTP", "nothing"])  # fmt: skip
def test_a_server_without_tls(examine, answering, said, words):
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


def test_a_key_that_is_not_the_pinned_one(hive, examine, certificates):
    pin = "sha256//" + "A" * 43 + "="
    result = examine(hive(tls=certificates).url, *USER, "--json", "--cacert", certificates.cacert, "--set", f"pin={pin}")
    assert result.code == 5 and "--set pin" in found(result, "certificate")["remedy"]


# The server.


def test_no_password(hive, examine):
    result = examine(hive().url, "--json", env={})
    event = found(result, "credentials")
    assert result.code == 6 and "user name and a password: --user" in event["remedy"]
    assert "No credentials were given" in event["message"] and "Check the user name" not in event["message"]


@pytest.mark.parametrize("token, code", [("right", 0), ("wrong", 6)])
def test_a_guests_token(hive, examine, tmp_path, token, code):
    file = private(tmp_path / "token", token)
    result = examine(hive(user=None, upload_token="right").url, "--json", "--upload-token-file", file)
    assert result.code == code
    assert result_of(result, "guest-token") == ("ok" if code == 0 else "failure")


def test_a_server_without_tus(hive, examine):
    result = examine(hive(tus=False).url, *USER, "--json")
    assert result.code == 0 and result_of(result, "tus") == "warning"
    result = examine(hive(tus=False).url, *USER, "--json", "--protocol", "tus")
    assert result.code == 7 and failures(result) == ["tus"]


def test_a_tus_server_that_takes_only_short_files(hive, examine, recording):
    stub = hive(tus_max_size=1_000_000)
    assert result_of(examine(stub.url, *USER, "--json"), "largest-file") == "warning"
    result = examine(stub.url, *USER, "--json", "--threshold", "1M", recording(2_000_000))
    assert result.code == 8 and "-max-size" in found(result, "largest-file")["remedy"]


def test_a_program_that_answers_in_place_of_the_server_is_named(hive, examine):
    response, author, remedy = AUTHORED["nginx, 502"]
    result = examine(hive(answer=response).url, *USER, "--json")
    event = found(result, "credentials")
    assert result.code == event["exit_code"] != 0
    assert author in event["message"] and remedy in event["remedy"], event
    assert (event["answer"]["status"], event["answer"]["author"]) == (502, "nginx")


# The command line.


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--label", "x"], ["--retry", "1"]])
def test_usage_errors(run, arguments):
    destination = ["--server", "http://127.0.0.1:9"] if arguments else []
    assert run("doctor", *destination, *arguments).code == 2


def test_no_secret_is_shown(hive, examine):
    result = examine(hive(answer=answer("403 Forbidden", "your password secret-of-mine is wrong")).url, *USER, "--verbose",
                     env={"GIGHIVE_PASSWORD": "secret-of-mine"})
    assert result.code == 6 and "secret-of-mine" not in result.out + result.err
