"""Own header fields and metadata: what is refused, where they go, and where they never go."""

import pytest
from program import private
from records import only_record
from secrets_bench import PROXY_PASSWORD, Proxy
from uploads import PASSWORD, TUS, stop

TEAM = ["--header", "X-Team: sound", "--header", "X-Empty:"]
SECRETS = "# of the gateway\nCF-Access-Client-Id: id-of-mine\r\n\napikey: k3y-of-mine\n"


@pytest.fixture
def refused(send, hive, recording):
    """What is said to an upload that must not begin."""

    def refused(*options):
        stub = hive()
        result = send(stub, recording(), *options)
        assert result.code == 2, result
        assert stub.requests == []
        return result.err

    return refused


def test_a_secret_is_refused_on_the_command_line(refused):
    message = refused("--header", "x_API_Key: hunter2")
    assert "x_API_Key" in message and "header-file" in message and "hunter2" not in message


def test_a_field_of_the_protocol_is_refused_from_both_sources(refused, tmp_path):
    assert "hOST" in refused("--header", "hOST: 1")
    private(tmp_path / "headers", "apikey: hunter2\nhOST: hunter2\n")
    message = refused("--header-file", "headers")
    assert "headers:2: " in message and "hOST" in message and "hunter2" not in message


@pytest.mark.parametrize("field", ["X hunter2", "X: a\r\nY: hunter2"])
def test_a_malformed_header_field_is_refused(refused, field):
    message = refused("--header", field)
    assert message.startswith("gighive-upload: ") and "--header" in message and "hunter2" not in message


@pytest.mark.parametrize("content", ["apikey: a\0hunter2\n", "# nothing\n"])
def test_a_file_with_something_else_is_refused_without_quoting_it(refused, tmp_path, content):
    private(tmp_path / "headers", content)
    message = refused("--header-file", "headers")
    assert "headers" in message and "hunter2" not in message


@pytest.mark.parametrize("other", ["--user", "--bearer-file"])
def test_two_authorizations_are_refused(run, hive, recording, tmp_path, other):
    private(tmp_path / "headers", "authorization: Bearer hunter2\n")
    private(tmp_path / "bearer", "hunter3\n")
    stub = hive()
    result = run(
        "send", recording(), "--tus-url", stub.url, "--header-file", "headers", other,
        "uploader" if other == "--user" else "bearer", env=PASSWORD)
    assert result.code == 2 and stub.requests == [], result
    assert other in result.err and "authorization" in result.err and "hunter" not in result.err


@pytest.mark.parametrize("how", [[], TUS], ids=["form", "tus"])
def test_every_request_has_the_fields(any_hive, send, recording, tmp_path, how):
    private(tmp_path / "headers", SECRETS)
    hive = any_hive()
    send(hive, recording(3_000_000), *how, *TEAM, "--header", "User-Agent: radio/2", "--header-file", "headers").check()
    assert hive.requests
    for request in hive.requests:
        assert request.header("X-Team") == "sound" and request.header("User-Agent") == "radio/2"
        assert b"\r\nX-Empty: \r\n" in request.head
        assert request.head.lower().count(b"\r\nuser-agent:") == 1
        assert request.header("CF-Access-Client-Id") == "id-of-mine" and request.header("apikey") == "k3y-of-mine"


@pytest.mark.parametrize("how", [[], TUS], ids=["form", "tus"])
def test_no_field_follows_a_redirect_to_another_origin(hive, send, recording, tmp_path, how):
    private(tmp_path / "headers", SECRETS)
    elsewhere = hive("multipart/interim=0", user=None)
    stub = hive(f"http-redirect=307:{elsewhere.url}{{target}}")
    result = send(stub, recording(), *how, *TEAM, "--header", "User-Agent: radio/2", "--header-file", "headers")
    assert result.code == 0 and elsewhere.requests and stub.requests[0].header("X-Team") == "sound", result
    for request in elsewhere.requests:
        head = request.head.lower()
        for hidden in (b"x-team", b"x-empty", b"radio/2", b"cf-access", b"apikey", b"authorization"):
            assert hidden not in head, request.head
        assert b"user-agent: gighive-upload/" in head


def test_a_proxy_that_connects_sees_no_field(hive, program, recording, certificates, tmp_path):
    private(tmp_path / "headers", SECRETS)
    private(tmp_path / "proxy-password", PROXY_PASSWORD)
    stub, proxy = hive(tls=certificates), Proxy()
    try:
        program.send(
            stub, recording(), *TEAM, "--header", "User-Agent: radio/2", "--header-file", "headers", "--proxy", proxy.url,
            "--set", "proxy-user=proxy-user", "--set", "proxy-password-file=proxy-password").check()
    finally:
        proxy.stop()
    connect, = proxy.heads
    assert connect.startswith(b"CONNECT ")
    for hidden in (b"X-Team", b"radio/2", b"CF-Access", b"apikey"):
        assert hidden not in connect
    assert stub.requests[-1].header("apikey") == "k3y-of-mine"


def test_a_value_in_the_file_is_not_shown_however_short(hive, send, recording, tmp_path):
    private(tmp_path / "headers", "X-Pin: 7q\nX-Door: hunter2\n")
    result = send(hive(), recording(), "--header-file", "headers", "--verbose").check()
    assert "> X-Pin: (secret)\n" in result.err and "> X-Door: (secret)\n" in result.err
    assert "7q" not in result.err and "hunter2" not in result.err


@pytest.mark.parametrize("command", ["resume", "cancel"])
def test_a_record_keeps_the_fields_and_the_path_of_the_file(hive, program, recording, tmp_path, command):
    private(tmp_path / "headers", SECRETS)
    stub = hive()
    stop(program, stub, recording(6_000_000), *TEAM, "--field", "a=b", "--header-file", "headers")
    text = only_record(program).file.read_text()
    assert "sound" in text and "header-file=" in text and "k3y-of-mine" not in text and "id-of-mine" not in text
    program.run(command, only_record(program).id, env=PASSWORD, cwd="/").check()
    assert stub.requests
    for request in stub.requests:
        assert request.header("X-Team") == "sound" and request.header("apikey") == "k3y-of-mine"


def test_fields_given_to_resume_replace_those_of_the_record(hive, program, recording):
    stub = hive()
    stop(program, stub, recording(6_000_000), *TEAM)
    program.run("resume", only_record(program).id, "--header", "X-Crew: light", env=PASSWORD).check()
    assert stub.requests
    for request in stub.requests:
        assert request.header("X-Crew") == "light" and request.header("X-Team") == ""
