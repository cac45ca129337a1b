"""GigHive turns a finished upload into exactly one recording, whatever happens around the finalize call."""

import json
import signal

import pytest
from program import private, wait_until
from records import only_record
from uploads import PASSWORD, TUS, is_delivered, kinds, of_kind, sent, stop

SIZE = 5_000_000
AGAIN = ["--retry-max-delay", "10ms"]


@pytest.fixture
def hive(hive):
    """Stubs that do not wait for what will not come."""
    return lambda *faults, **options: hive(*faults, **{"finalize_delay_seconds": 0.05, "keep_body": 1 << 16, **options})


def answer(tmp_path, status, document):
    """A fault: this answer to finalize."""
    content = json.dumps(document)
    file = tmp_path / "answer"
    file.write_text(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n{content}")
    return f"finalize/raw-answer={file}"


def resume(program, *options, **more):
    return program.run("resume", "--all", "--progress=none", *options, env=PASSWORD, **more)


def test_the_call_names_the_upload_and_has_the_form(hive, upload, recording):
    stub = hive()
    form = {"event_date": "2026-02-28", "org_name": "Die \"Löwen\"\n", "event_type": "wedding", "label": "First \\ set"}
    options = [option for name, value in form.items() for option in ("--" + name.replace("_", "-"), value)]
    assert upload(stub, recording(), *options, "--field", "display_name=Ann").code == 0
    (request,) = of_kind(stub, "finalize")
    (item,) = stub.recordings
    assert (request.method, request.header("Content-Type")) == ("POST", "application/json")
    assert request.header("Accept") == "application/json"
    assert json.loads(request.body) == {"upload_id": item.upload_id, **form, "display_name": "Ann"}


def test_a_guest_agrees_to_the_terms_with_a_truth_value(hive, program, recording, tmp_path):
    stub, token = hive(upload_token="guest-token"), private(tmp_path / "token", "guest-token\n")
    arguments = ["--server", stub.url, "--label", "L", "--upload-token-file", token]
    fields = ["--field", "tos_accepted=true", "--field", "display_name=Ann"]
    program.run("send", recording(SIZE), *arguments, *TUS, *fields).check()
    # Asked before the first byte whether the token is good, and at the end.
    _, request = of_kind(stub, "finalize")
    assert json.loads(request.body)["tos_accepted"] is True
    assert request.header("X-Upload-Token") == "guest-token" and request.header("Authorization") == ""


@pytest.mark.parametrize("fault", ["finalize-early=2", "finalize-pending=2", "finalize/status=503@2",
                                   "finalize/late-status=504@1", "finalize/lose-answer@2"])
def test_it_is_asked_for_until_it_is_there(any_hive, upload, recording, fault):
    hive, file = any_hive(fault, finalize_delay_seconds=0.05), recording(SIZE)
    result = upload(hive, file, *AGAIN, "--json", retries=4).check()
    assert is_delivered(hive, file)
    assert sent(hive) == SIZE
    assert len(of_kind(hive, "finalize")) >= 2
    assert [event for event in result.events if event["event"] == "retry"]


@pytest.mark.parametrize(("fault", "code"), [("finalize-early=9", 9), ("finalize-pending=9", 9), ("finalize/status=500", 9),
                                             ("finalize/status=429", 9), ("finalize/lose-answer", 4)])
def test_a_server_that_never_gets_there_is_a_failure_and_the_upload_stays(hive, program, upload, recording, fault, code):
    stub, file = hive(fault), recording(SIZE)
    result = upload(stub, file, *AGAIN, retries=1)
    assert result.code == code, result
    # One more where the connection was kept from before: the server may have closed it in the meantime.
    assert len(of_kind(stub, "finalize")) in (2, 3)
    assert only_record(program).phase != "delivered"
    stub.set_faults()
    stub._requests.clear()
    assert resume(program).code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == 0


def test_what_the_server_says_in_the_meantime_is_reported(hive, upload, recording):
    early, pending = upload(hive("finalize-early=9"), recording()), upload(hive("finalize-pending=9"), recording())
    assert "not been written yet" in early.err, early
    assert "still processing" in pending.err, pending


def test_the_same_recording_under_another_name_counts_as_delivered(hive, upload, recording):
    stub, file = hive(), recording(SIZE)
    copy = recording(name="copy.mp4", content=file.read_bytes())
    assert upload(stub, file).code == 0
    result = upload(stub, copy, "--json").check()
    assert (result.outcome["already_there"], result.outcome["asset_id"]) == (True, 1)
    assert result.outcome["checksum_verified"] is True
    assert is_delivered(stub, file)


@pytest.mark.parametrize("checksum", ["0" * 64, None, "", 5])
def test_a_conflict_about_another_recording_is_a_refusal(hive, program, upload, recording, tmp_path, checksum):
    document = {"error": "Duplicate Upload", "message": "It is there.", "existing_asset_id": 7}
    stub = hive(answer(tmp_path, 409, {**document, "checksum_sha256": checksum}))
    result = upload(stub, recording(SIZE))
    assert result.code == 7 and "It is there." in result.err, result
    assert result.out == ""
    assert only_record(program).phase != "delivered"


@pytest.mark.parametrize("fault", ["finalize/wrong-checksum", "finalize/wrong-size"])
def test_a_server_that_stored_something_else_is_an_integrity_failure(any_hive, program, upload, recording, fault):
    result = upload(any_hive(fault), recording(SIZE), retries=3)
    assert result.code == 10, result
    assert result.out == ""
    assert only_record(program).phase == "failed"


@pytest.mark.parametrize("document", [{}, [], "text", None, {"asset_id": 1}, {"checksum_sha256": "0" * 64}])
def test_a_success_without_gighives_confirmation_is_not_one(hive, upload, recording, tmp_path, document):
    result = upload(hive(answer(tmp_path, 200, document)), recording(SIZE))
    assert result.code == 10, result
    assert result.out == ""


@pytest.mark.parametrize(("status", "code"), [(400, 7), (401, 6), (403, 6), (404, 7), (413, 8), (422, 7)])
def test_a_refusal_leaves_the_upload_for_another_try(hive, program, upload, recording, status, code):
    stub, file = hive(f"finalize/status={status}"), recording(SIZE)
    result = upload(stub, file, retries=3)
    assert result.code == code and str(status) in result.err, result
    assert len(of_kind(stub, "finalize")) == 1
    stub.set_faults()
    stub._requests.clear()
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == 0


def test_a_name_that_the_server_refused_can_be_fixed_or_the_way_out_is_reported(hive, program, upload, recording):
    """The upload on the server was created with the old name."""
    stub, file = hive(), recording(SIZE, "gig.txt")
    result = upload(stub, file)
    assert result.code == 7 and "Unsupported media type" in result.err, result
    assert only_record(program).phase == "failed"
    result = upload(stub, file, "--file-name", "gig.mp4", "--label", "Second set")
    assert result.code == 0 or "gighive-upload cancel" in result.err, result


@pytest.mark.parametrize("how", ["send", "resume"])
def test_an_answer_that_was_lost_with_the_process_is_asked_for_again(hive, program, upload, recording, how):
    stub, file = hive("finalize/lose-answer"), recording(SIZE)
    assert upload(stub, file).code == 4
    stub.set_faults()
    stub._requests.clear()
    result = upload(stub, file) if how == "send" else resume(program)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert sent(stub) == 0 and kinds(stub)[-2:] == ["head", "finalize"]


@pytest.mark.parametrize("unknown", [400, 404, 500])
def test_an_upload_that_the_server_has_lost_before_that_starts_over(hive, program, upload, recording, unknown):
    """HEAD returns 404, so it may have become a recording. Finalize says no, in one of several ways."""
    stub, file = hive("finalize/status=503"), recording(SIZE)
    assert upload(stub, file).code == 9
    stub.set_faults("head/gone@1", f"finalize/unknown={unknown}@1")
    resume(program, *AGAIN, retries=3).check()
    assert is_delivered(stub, file)
    assert len(of_kind(stub, "create")) == 2


@pytest.mark.parametrize("count", [1, 2])
def test_an_upload_that_finalize_does_not_find_and_head_calls_complete_is_asked_for_again(hive, program, upload, recording, count):
    """400 "Upload not found", while tus has every byte: the server has not caught up yet."""
    stub, file = hive(f"finalize-unknown={count}"), recording(SIZE)
    upload(stub, file, *AGAIN, "--json", retries=4).check()
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE and len(of_kind(stub, "create")) == 1
    assert only_record(program).phase == "delivered"


def test_an_upload_that_finalize_never_finds_stays_pending(hive, program, upload, recording):
    """HEAD has the last word about whether the upload is there: nothing is sent again, and the record is not failed."""
    stub, file = hive("finalize-unknown=1000"), recording(SIZE)
    result = upload(stub, file, *AGAIN, retries=3, seconds=30)
    assert result.code not in (0, 1), result
    assert sent(stub) == SIZE and len(of_kind(stub, "create")) == 1
    record = only_record(program)
    assert record.phase in ("pending", "uploaded") and record.upload_path == of_kind(stub, "patch")[0].path
    stub.set_faults()
    stub._requests.clear()
    assert resume(program, *AGAIN, retries=1).code == 0
    assert is_delivered(stub, file) and sent(stub) == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("fault", ["finalize/silent", "finalize/delay-answer=60", "PATCH/delay-answer=60", "PATCH/silent"])
def test_a_crash_at_the_end_makes_exactly_one_recording(hive, program, recording, fault, number):
    """After the last byte, before or after the server has made a recording of it."""
    stub, file = hive(fault), recording(SIZE)
    running = program.start_sending(stub, *TUS, file)
    kind = "finalize" if "finalize" in fault else "patch"
    wait_until(lambda: of_kind(stub, kind) and of_kind(stub, kind)[0].complete)
    wait_until(lambda: stub.recordings or kind == "patch")
    running.signal(number)
    running.wait()
    stub.set_faults()
    stub._requests.clear()
    program.send(stub, *TUS, file).check()
    assert is_delivered(stub, file)
    assert sent(stub) == 0
    again = program.send(stub, *TUS, file, "--again")
    assert again.code == 0 and "already there" in again.out, again
    assert is_delivered(stub, file)


def test_a_record_that_lags_behind_the_server_makes_no_second_recording(hive, program, recording):
    """As if the power had failed between the server's confirmation and the disk."""
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file)
    before = only_record(program)
    assert resume(program).code == 0
    before.write()
    resume(program).check()
    assert is_delivered(stub, file)
