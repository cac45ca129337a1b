"""Reasons to refuse a guest are found before the first byte, and reported clearly."""

import pytest
from program import private
from records import records
from uploads import PASSWORD, TUS, is_delivered, kinds

SIZE = 3_000_000
GUEST = ["--field", "tos_accepted=true", "--field", "display_name=Ann"]


@pytest.fixture
def guest(program, tmp_path):
    """`send` over tus as a guest with a token."""

    def guest(hive, file, *options, token="guest-token", **more):
        secret = private(tmp_path / "token", token + "\n")
        return program.run(
            "send", "--server", hive.url, "--label", "Our dance", "--upload-token-file", secret, *TUS, file, *options, **more)

    return guest


@pytest.fixture
def party(hive):
    """A stub that knows the token of its guests."""
    return lambda *faults, **options: hive(*faults, **{"upload_token": "guest-token", "keep_body": 1 << 14, **options})


def test_a_token_that_the_server_does_not_know_is_found_before_the_first_byte_and_another_one_continues(
    party, guest, program, recording
):
    stub, file = party(), recording(SIZE)
    result = guest(stub, file, *GUEST, "--set", "retry-max-delay=10ms", token="another-token", retries=3)
    assert result.code == 6, result
    assert "token" in result.err and "server's address" not in result.err and "another-token" not in result.err, result
    assert kinds(stub) == ["finalize"] and stub.uploads == []
    guest(stub, file, *GUEST).check()
    assert is_delivered(stub, file)
    assert [record.phase for record in records(program)] == ["delivered"]


@pytest.mark.parametrize("command", [["send", "a.mp4", "--label", "x"], ["watch", ".", "--label", "x"], ["doctor"]])
@pytest.mark.parametrize("option, text", [
    ("--upload-token-file", "guest-token\n"), ("--header-file", "CF-Access-Client-Id: 1\nx-upload-token: guest-token\n")])
def test_a_guest_cannot_ask_for_a_form(run, tmp_path, command, option, text):
    secret = private(tmp_path / "secret", text)
    result = run(*command, "--server", "http://127.0.0.1:9", option, secret, "--protocol", "multipart")
    assert result.code == 2 and "only over tus" in result.err, result


def test_a_guest_cannot_ask_for_a_form_when_resuming_either(party, program, recording, tmp_path):
    assert program.send(party("multipart/reset-after=1000000"), recording(SIZE), "--protocol", "multipart", retries=0).code == 4
    secret = private(tmp_path / "headers", "X-Upload-Token: guest-token\n")
    result = program.run("resume", "--all", "--header-file", secret, env=PASSWORD)
    assert result.code == 2 and "only over tus" in result.err, result
