"""Reasons to refuse a guest are found before the first byte, and reported clearly."""

import json

import pytest
from program import private
from records import only_record, records
from uploads import TUS, is_delivered, kinds, of_kind, sent

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


@pytest.mark.parametrize("size", [1, SIZE])
def test_a_token_that_the_server_does_not_know_is_found_before_the_first_byte(party, guest, recording, size):
    stub = party()
    result = guest(stub, recording(size), *GUEST, token="another-token")
    assert result.code == 6, result
    assert "token" in result.err and "server's address" not in result.err, result
    assert sent(stub) == 0 and of_kind(stub, "create") == of_kind(stub, "patch") == []
    assert stub.uploads == []


def test_a_small_recording_goes_over_tus_too(party, program, recording, tmp_path):
    stub, secret = party(), private(tmp_path / "token", "guest-token\n")
    program.run("send", "--server", stub.url, "--label", "L", "--upload-token-file", secret, recording(1000), *GUEST).check()
    assert kinds(stub) == ["finalize", "options", "create", "patch", "finalize"]


def test_a_token_that_is_refused_is_reported_in_json(party, guest, recording):
    result = guest(party(), recording(), *GUEST, "--json", token="another-token")
    assert (result.code, result.outcome["event"], result.outcome["exit_code"]) == (6, "failed", 6), result
    assert "token" in result.outcome["message"] and "another-token" not in result.out + result.err


def test_a_refused_token_is_not_retried_and_another_one_continues(party, guest, program, recording, tmp_path):
    stub, file = party(), recording(SIZE)
    assert guest(stub, file, *GUEST, "--retry-max-delay", "10ms", token="another-token", retries=3).code == 6
    assert len(of_kind(stub, "finalize")) <= 1
    guest(stub, file, *GUEST).check()
    assert is_delivered(stub, file)
    assert [record.phase for record in records(program)] == ["delivered"]


@pytest.mark.parametrize("fields", [[], ["--field", "display_name=Ann"], ["--field", "tos_accepted=false"], ["--field", "tos_accepted="]])
def test_terms_that_are_not_accepted_are_found_before_the_first_byte(party, guest, recording, fields):
    stub = party()
    result = guest(stub, recording(SIZE), *fields)
    assert result.code == 6, result
    assert "tos_accepted" in result.err, result
    assert sent(stub) == 0 and of_kind(stub, "create") == of_kind(stub, "patch") == []


def test_a_guest_with_all_that_is_needed_is_asked_about_once(party, guest, recording):
    stub, file = party(), recording(SIZE)
    guest(stub, file, *GUEST).check()
    assert is_delivered(stub, file)
    calls = of_kind(stub, "finalize")
    assert [json.loads(request.body)["upload_id"] for request in calls] == ["", stub.recordings[0].upload_id]
    order = kinds(stub)
    assert order.index("finalize") < order.index("create")


@pytest.mark.parametrize("answer", ["status=500@1", "status=404@1", "somebody-else=404@1", "somebody-else=403@1", "somebody-else=200@1"])
def test_an_answer_that_says_nothing_of_the_token_does_not_refuse_the_guest(party, guest, program, recording, answer):
    """Only GigHive's own word that the token is invalid or expired does."""
    stub, file = party(f"finalize/{answer}"), recording(SIZE)
    result = guest(stub, file, *GUEST, "--retry-max-delay", "10ms", retries=3)
    if result.code != 0:
        assert only_record(program).phase != "delivered" and sent(stub) == 0
        result = guest(stub, file, *GUEST)
    assert result.code == 0, result
    assert is_delivered(stub, file)


def test_an_upload_token_that_expires_during_the_upload_is_named(party, guest, recording, tmp_path):
    """It was good before the first byte; finalize refuses it."""
    document = json.dumps({"error": "Not Found", "message": "Upload token is invalid or expired."})
    (tmp_path / "answer").write_text(f"HTTP/1.1 404 Not Found\r\nContent-Length: {len(document)}\r\n\r\n{document}")
    stub = party(f"finalize/raw-answer={tmp_path}/answer@2-")
    result = guest(stub, recording(SIZE), *GUEST)
    assert result.code == 6, result
    assert "token" in result.err and "server's address" not in result.err, result


def test_a_user_is_not_asked_about(hive, program, recording):
    stub = hive()
    assert program.send(stub, *TUS, recording(SIZE)).code == 0
    assert len(of_kind(stub, "finalize")) == 1
