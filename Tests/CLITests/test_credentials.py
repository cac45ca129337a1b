"""Credentials come from a password, a token or a netrc file, and only from files and the environment."""

import base64
import subprocess

import pytest
from program import private

PASSWORD = "pass: wörd/+ =\\"


@pytest.fixture
def secret(tmp_path):
    def secret(text, name="secret"):
        return private(tmp_path / name, text)

    return secret


@pytest.fixture
def upload(run, recording):
    """`send` without credentials."""

    def upload(stub, *options, **more):
        return run("send", recording(), "--server", stub.url, "--label", "L", *options, **more)

    return upload


def authorization(stub):
    return stub.wait_for(1)[-1].header("Authorization")


def basic(user, password):
    data = password if isinstance(password, bytes) else password.encode()
    return "Basic " + base64.b64encode(user.encode() + b":" + data).decode()


def test_the_password_is_the_first_line_of_a_file(hive, upload, secret):
    for text in (PASSWORD, PASSWORD + "\n", PASSWORD + "\r\n", PASSWORD + "\nsecond line\n"):
        stub = hive(password=PASSWORD)
        assert upload(stub, "--user", "uploader", "--password-file", secret(text)).code == 0
        assert authorization(stub) == basic("uploader", PASSWORD)


def test_the_file_counts_more_than_the_environment(hive, upload, secret):
    stub = hive()
    options = ["--user", "uploader", "--password-file", secret("secret")]
    assert upload(stub, *options, env={"GIGHIVE_PASSWORD": "other"}).code == 0


def test_a_password_from_the_environment_is_not_sent_without_a_user(hive, upload):
    stub = hive()
    result = upload(stub, env={"GIGHIVE_PASSWORD": "secret"})
    assert result.code == 6 and "warning: ignoring $GIGHIVE_PASSWORD, because --user is missing." in result.err
    assert authorization(stub) == ""


def test_a_process_substitution_serves_as_the_password_file(hive, program, recording):
    stub = hive()
    password = "<(printf sec; sleep 0.05; echo ret)"
    script = '"$@" --label L --user uploader --password-file ' + password
    command = ["bash", "-c", script, "bash", *program.command, "send", str(recording()), "--server", stub.url]
    done = subprocess.run(command, capture_output=True, timeout=20, env=program.environment())
    assert done.returncode == 0, done


NETRC = "machine a.example login x password y\nmachine 127.0.0.1\n\tlogin uploader\n\tpassword secret\n"


def test_netrc_is_the_one_at_home(hive, upload, secret):
    secret(NETRC, ".netrc")
    assert upload(hive(), "--netrc").code == 0


def test_a_netrc_file_without_the_host_is_a_usage_error(hive, upload, secret):
    stub = hive()
    assert upload(stub, f"--netrc={secret('machine a.example login x password y')}").code == 2
    assert upload(stub, "--netrc").code == 2
    assert stub.requests == []


CONFLICTS = [
    ["--user", "a", "--bearer-file", "secret"],
    ["--user", "a", "--upload-token-file", "secret"],
    ["--bearer-file", "secret", "--upload-token-file", "secret"],
    ["--netrc=secret", "--bearer-file", "secret"],
    ["--password-file", "secret"],
    ["--user", "a"],
    ["--user", "a:b", "--password-file", "secret"],
    ["--user", "a", "--password-file", "missing"],
    ["--user", "a", "--password-file", "/"],
    ["--user", "a", "--password-file", "/dev/null"],
    ["--user", "a", "--password-file", "/dev/zero"],
    ["--bearer-file", "/dev/null"],
    ["--bearer-file", "missing"],
    ["--upload-token-file", "missing"],
    ["--netrc=missing"],
    ["--bearer-file", "secret", "--password-file", "secret"],
]


@pytest.mark.parametrize("options", CONFLICTS, ids=" ".join)
def test_credentials_that_contradict_or_lack_something_are_a_usage_error(hive, upload, secret, options):
    stub = hive()
    secret("secret")
    assert upload(stub, *options, seconds=10).code == 2
    assert stub.requests == []


SHARED = {
    "--password-file": (["--user", "uploader"], "hunter2"),
    "--netrc": ([], "machine 127.0.0.1 login uploader password hunter2"),
    "--bearer-file": ([], "hunter2"),
    "--upload-token-file": (["--field", "tos_accepted=true"], "hunter2"),
    "--header-file": ([], "X-Key: hunter2"),
}


@pytest.mark.parametrize("option", SHARED)
@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_secret_that_others_can_read_is_refused_unless_the_user_accepts_that(hive, upload, secret, option, mode):
    more, text = SHARED[option]
    stub, file = hive(user=None), secret(text)
    file.chmod(mode)
    result = upload(stub, *more, f"{option}={file}")
    assert result.code == 2, result
    assert str(file) in result.err and "chmod 600" in result.err
    assert "hunter2" not in result.err
    assert stub.requests == []
    assert upload(stub, *more, f"{option}={file}", "--set", "shared-secrets=yes").code == 0


@pytest.mark.parametrize("proxy", ["http://pu:pxsecret99@proxy:3128", "socks5://pu:pxsecret99@proxy:1080", "https//pu:pxsecret99@proxy"])
def test_a_proxy_with_a_password_is_refused_and_not_quoted(program, proxy):
    result = program.run("send", "x", "--multipart-url", "http://192.0.2.1/upload", "--proxy", proxy)
    assert result.code == 2 and "proxy-password-file" in result.err and "pxsecret99" not in result.err, result


@pytest.mark.parametrize("entry, sent", [("machine 127.0.0.1 login me password pass", True), ("default login me password pass", False)])
def test_a_netrc_file_has_the_password_of_the_proxy_too(program, hive, recording, secret, entry, sent):
    stub = hive(user=None)
    file = secret(f"machine 192.0.2.1 login uploader password p\n{entry}\n")
    program.run(
        "send", recording(1000), "--multipart-url", "http://192.0.2.1/upload", "--proxy", stub.url, f"--netrc={file}").check()
    fields = [stub.requests[0].header(name) for name in ("Authorization", "Proxy-Authorization")]
    basic = ["Basic " + base64.b64encode(text).decode() for text in (b"uploader:p", b"me:pass")]
    assert fields == [basic[0], basic[1] if sent else ""]


@pytest.mark.parametrize("value", ["yes", "beside"])
def test_a_configuration_file_has_a_netrc_file_or_the_usual_one(program, hive, recording, secret, tmp_path, value):
    stub, place = hive(), tmp_path / "conf"
    place.mkdir()
    secret(NETRC, ".netrc" if value == "yes" else "conf/beside")
    file = private(place / "own.conf", f"server = {stub.url}\nlabel = L\nnetrc = {value}\n")
    command = ["send", recording(1000), "--config", file, "--again"]
    program.run(*command).check()
    assert program.run(*command, "--no-netrc").code == 6
    private(file, f"server = {stub.url}\nlabel = L\nnetrc = no\n")
    assert program.run(*command).code == 6


@pytest.mark.parametrize("option", ["--bearer-file", "--upload-token-file", "--header-file", "--password-file"])
def test_a_secret_that_is_given_instead_of_its_file_is_not_shown(program, recording, tmp_path, option):
    token = "eyJhbGciOiJIUzI1NiJ9"
    user = {"user": "ann"} if option == "--password-file" else {}
    named = {"server": "http://127.0.0.1:1/", **user}
    command, server = ["send", recording(1000), "--label", "x"], [f"--{name}={value}" for name, value in named.items()]
    configuration = tmp_path / "c.conf"
    configuration.write_text("".join(f"{name} = {value}\n" for name, value in {**named, option[2:]: token}.items()))
    for given in ([*server, option, token], ["--config", configuration]):
        result = program.run(*command, *given)
        assert result.code == 2 and token not in result.err and f"{option[2:]}: there is no such file" in result.err, result
    assert "/nowhere/token: No such file" in program.run(*command, *server, option, "/nowhere/token").err
