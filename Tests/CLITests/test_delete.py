"""`delete` removes a delivered recording from GigHive, with the token that came with the delivery."""

import json
import signal

import pytest
from program import wait_until
from records import only_record, records, undeleted, write_record
from uploads import PASSWORD, of_kind

SIZE, AT = 6_000_000, 3_000_000


def test_a_delivered_recording_can_be_deleted_from_the_server(program, delivered, tmp_path):
    stub, record = delivered(keep_body=4096)
    result = program.run("delete", record.id, env=PASSWORD)
    assert result.code == 0 and f"{record.id}: deleted" in result.out, result
    assert stub.recordings == [] and undeleted(program) == []
    (request,) = stub.requests
    token = record.document["delete_token"]
    assert json.loads(request.body) == {"asset_id": 1, "delete_token": token}
    assert (request.method, request.target) == ("POST", "/db/delete_media_files.php")
    assert request.header("Content-Type") == "application/json"
    assert token not in result.out + result.err
    assert (tmp_path / "gig.mp4").exists()


def test_a_deleted_recording_is_not_sent_again_when_it_is_found(program, delivered, tmp_path):
    stub, record = delivered()
    program.run("delete", record.id, env=PASSWORD).check()
    listed = json.loads(program.run("list", "--json").check().out)
    assert (listed["state"], listed["can_delete"]) == ("deleted", False)
    assert "deleted from the server" in program.run("delete", record.id, env=PASSWORD).check().out
    assert len(of_kind(stub, "delete")) == 1
    found = ["-r", tmp_path, "--match", "*.mp4"]
    assert program.send(stub, *found, "--json").check().outcome["deleted"] is True
    assert "as asset 1, and deleted from the server since (upload" in program.send(stub, *found, "-v").check().out
    # Whoever names it wants it to be sent.
    assert program.send(stub, tmp_path / "gig.mp4", "--json").check().outcome["event"] == "delivered"
    assert "deleted" not in program.send(stub, *found, "--json").check().outcome
    forgotten = program.run("forget", "--all").check().out
    assert forgotten.count("Its file is still there: send and watch upload it again if they find it.") == 2


def test_a_deletion_that_fails_keeps_the_record(program, delivered):
    stub, record = delivered()
    stub.set_faults("delete/status=503")
    assert program.run("delete", record.id, env=PASSWORD).code == 9
    assert only_record(program).document["delete_token"]
    stub.set_faults()
    assert program.run("delete", record.id, env=PASSWORD).code == 0


def test_without_a_delete_token_the_message_leads_to_the_server(program, delivered):
    """As when another client delivered it first."""
    stub, record = delivered()
    document = {name: value for name, value in record.document.items() if name != "delete_token"}
    write_record(program.state, document)
    assert program.run("list", "--json").events[0]["can_delete"] is False
    result = program.run("delete", record.id, env=PASSWORD)
    assert result.code == 7 and "token" in result.err, result
    assert len(stub.recordings) == 1 and stub.requests == []


def test_an_undelivered_recording_cannot_be_deleted(program, interrupted):
    stub, record = interrupted()
    result = program.run("delete", record.id, env=PASSWORD)
    assert result.code == 2 and "gighive-upload cancel" in result.err, result
    assert stub.requests == []


@pytest.mark.parametrize(("number", "code", "words"), [
    (signal.SIGINT, 130, "interrupted; the server may already have deleted the recording."), (signal.SIGKILL, -9, ""),
])
def test_an_interrupted_deletion_says_that_it_may_be_done_and_leaves_the_token(program, delivered, number, code, words):
    stub, record = delivered()
    stub.set_faults("delete/silent")
    running = program.start("delete", record.id, env=PASSWORD)
    wait_until(lambda: of_kind(stub, "delete"))
    running.signal(number)
    result = running.wait()
    assert result.code == code and words in result.err, result
    assert only_record(program).document["delete_token"] == record.document["delete_token"]
    stub.set_faults()
    assert program.run("delete", record.id, env=PASSWORD).code == 0
    assert undeleted(program) == []
