"""GigHive may store a recording and process it later. The file is not sent again to learn the outcome."""

import pytest
from records import only_record
from uploads import is_delivered, kinds, of_kind, sent, sha256

SIZE = 3_000_000
SOON = ["--retry-max-delay", "10ms"]
FORM_BYTES = 100_000
"""What a form and the small requests add, at most."""


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_recording_that_is_pending_is_asked_for_until_it_is_there(any_hive, send, recording, count):
    hive, file = any_hive(f"multipart-pending={count}"), recording(SIZE)
    result = send(hive, file, "--json", *SOON, retries=5).check()
    assert is_delivered(hive, file)
    assert sum(request.body_bytes for request in hive.requests) <= SIZE + FORM_BYTES
    assert kinds(hive) == ["multipart"] + ["asset"] * (count + 1)
    assert result.outcome["asset_id"] == 1 and result.outcome["checksum_verified"] is True
    assert result.outcome["checksum_sha256"] == sha256(file)
    assert all(request.header("Authorization") for request in of_kind(hive, "asset"))


@pytest.mark.parametrize("fault", ["asset/status=503@2", "asset/lose-answer@2", "asset/somebody-else=404@1", "asset/somebody-else=200@1"])
def test_a_question_that_fails_is_asked_again_without_the_file(hive, send, recording, fault):
    stub, file = hive("multipart-pending=1", fault), recording(SIZE)
    send(stub, file, *SOON, retries=5).check()
    assert is_delivered(stub, file)
    assert len(of_kind(stub, "multipart")) == 1


@pytest.mark.parametrize(("fault", "code"), [("asset/wrong-checksum", 10), ("asset/wrong-size", 10)])
def test_what_turns_out_to_be_something_else_is_an_integrity_failure(hive, send, recording, fault, code):
    stub = hive("multipart-pending=1", fault)
    result = send(stub, recording(SIZE), *SOON, retries=5)
    assert result.code == code and result.out == "", result


def test_a_recording_that_stays_pending_is_a_failure_and_is_not_sent_again(hive, program, send, recording):
    stub, file = hive("multipart-pending=1000"), recording(SIZE)
    result = send(stub, file, *SOON, retries=3)
    assert result.code == 9 and "still processing" in result.err, result
    assert len(of_kind(stub, "multipart")) == 1
    assert sum(request.body_bytes for request in stub.requests) <= SIZE + FORM_BYTES
    assert only_record(program).phase != "delivered"


@pytest.mark.parametrize("document", [
    '{"status":"pending"}', '{"status":"pending","upload_id":"x"}', '{"status":"pending","asset_id":"x"}'])
def test_a_pending_answer_that_does_not_say_which_recording_costs_no_second_file(hive, send, recording, tmp_path, document):
    (tmp_path / "answer").write_text(f"HTTP/1.1 201 Created\r\nContent-Length: {len(document)}\r\n\r\n{document}")
    stub = hive(f"multipart/raw-answer={tmp_path}/answer")
    result = send(stub, recording(SIZE), *SOON, retries=3)
    assert result.code in (4, 9, 10), result
    assert sent(stub) <= SIZE + FORM_BYTES
