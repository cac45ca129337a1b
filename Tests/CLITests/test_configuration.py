"""Configuration files: what they give, what overrides them, and how their errors read."""

import os

import pytest
from program import private


@pytest.fixture
def stub(hive):
    return hive()


@pytest.fixture
def configure(tmp_path):
    """Writes the user's configuration file."""

    def configure(text, path=tmp_path / ".config" / "gighive-upload" / "gighive-upload.conf"):
        path.parent.mkdir(parents=True, exist_ok=True)
        return private(path, text)

    return configure


@pytest.fixture
def refused(run, stub, recording, configure):
    """The error of `send` with this configuration. Nothing may be sent."""

    def refused(text, *options):
        path = configure(text)
        result = run("send", recording(), "--config", path, *options, retries=None)
        assert result.code == 2 and result.out == "" and stub.requests == [], result
        assert len(result.err.splitlines()) == 2, result
        return result.err.replace(str(path), "FILE")

    return refused


def authorizations(stub):
    return {request.header("Authorization") for request in stub.requests}


def test_a_recording_is_sent_with_the_users_file_alone(run, stub, recording, configure):
    text = f"server = {stub.url}\nlabel = L\nuser = uploader\npassword-file = secret\n"
    private(configure(text).parent / "secret", "secret")
    run("send", recording()).check()


def test_the_command_line_wins(run, stub, recording, configure, tmp_path):
    path = configure(f"server = {stub.url}\nlabel = file\nlimit-rate = nonsense\nuser = uploader\npassword-file = secret\n", tmp_path / "own.conf")
    private(tmp_path / "secret", "secret")
    run("send", recording(), "--config", path, "--limit-rate", "off", "--label", "own").check()


def test_a_destination_on_the_command_line_discards_the_files_credentials(run, stub, recording, configure, tmp_path):
    private(tmp_path / "secret", "secret")
    top = "user = uploader\npassword-file = secret\n"
    path = configure(f"server = http://127.0.0.1:9\n{top}[here]\nserver = {stub.url}\n", tmp_path / "own.conf")
    for options in (["--server", stub.url], ["--to", "here"]):
        run("send", recording(), "--config", path, "--label", "L", *options)
        assert stub.requests and authorizations(stub) == {""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nservr = x", 'FILE:2: unknown option "servr". Did you mean server?'),
        ("--server = x", 'FILE:1: unknown option "--server". Did you mean server?'),
        ("server = ftp://x", "FILE:1: server: the URL must begin with https:// or http://."),
        ("retry = many", 'FILE:1: retry: "many" is not a number'),
        ("password hunter2", 'FILE:1: the line has no "="'),
        ("insecure = 1", "FILE:1: insecure: use yes or no."),
        ("label = a\nlabel = b", "FILE:2: label is given twice."),
        ("help = yes", "FILE:1: help works only on the command line"),
        ("password-file = ~/x", 'FILE:1: password-file: "~" is not expanded. Did you mean /'),
        ("label = \x1b[31m", "FILE:1: the line contains a control character."),
    ],
)
def test_an_error_names_file_and_line(refused, text, message):
    assert message in refused(text)


def test_an_unknown_section_is_refused_with_a_suggestion(refused):
    assert "no section [venu]. Did you mean venue?" in refused("[venue]\nlabel = x", "--to", "venu")
    assert "no section [x]" in refused("", "--to", "x")


def test_a_file_that_others_can_write_is_refused(run, configure):
    path = configure("json = yes")
    for mode in (0o620, 0o602):
        path.chmod(mode)
        result = run("list")
        assert result.code == 2 and "chmod go-w" in result.err, result
    path.chmod(0o644)
    run("list").check()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file to another user")
@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_a_file_of_another_user_is_refused(run, configure, mode):
    path = configure("json = yes")
    path.chmod(mode)
    os.chown(path, 1000, 1000)
    result = run("list")
    assert result.code == 2 and str(path) in result.err and "chown" in result.err, result
    os.chown(path, 0, 0)
    run("list").check()


def test_a_configuration_that_is_not_a_file_is_refused(run, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", ".", "missing"):
        result = run("list", "--config", tmp_path / name)
        assert result.code == 2 and str(tmp_path) in result.err, result
    run("list", "--config", "").check()


def test_options_of_other_commands_are_ignored(run, configure):
    configure("server = nonsense\nlabel = x\njobs = 100\n")
    run("list").check()


def test_the_state_directory_of_systemd_is_used(run, stub, recording, tmp_path):
    state = tmp_path / "state"
    result = run(
        "send", recording(), "--multipart-url", stub.url + "/upload", "--limit-rate", "off", "--config", "",
        env={"STATE_DIRECTORY": f"{state}:/elsewhere"},
    )  # fmt: skip
    run("list", env={"STATE_DIRECTORY": f"{state}:/elsewhere"}).check()
    assert result.code == 0 and state.is_dir(), result


def test_a_credential_of_systemd_comes_first(run, stub, recording, configure, tmp_path):
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    private(credentials / "secret", "secret").chmod(0o440)
    path = configure(f"server = {stub.url}\nuser = uploader\npassword-file = secret\n", tmp_path / "own.conf")
    private(tmp_path / "secret", "another")
    run("send", recording(), "--config", path, "--label", "L", env={"CREDENTIALS_DIRECTORY": str(credentials)}).check()


def test_resume_takes_no_credentials_and_no_destination_from_a_file(run, hive, recording, configure, tmp_path):
    """The record has none: a file written later must not send its password to the record's server."""
    stub = hive()
    options = ["--tus-url", stub.url + "/files/", "--config", ""]
    run("send", recording(), *options)
    assert authorizations(stub) == {""}
    private(tmp_path / "secret", "secret")
    path = configure(f"server = http://127.0.0.1:9\nuser = uploader\npassword-file = secret\n", tmp_path / "own.conf")
    before = len(stub.requests)
    run("resume", *[line.split()[0] for line in run("list").out.splitlines()[:1]], "--config", path)
    assert len(stub.requests) > before
    assert authorizations(stub) == {""}
