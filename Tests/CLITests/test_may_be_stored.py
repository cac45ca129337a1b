"""If the server may have stored a recording and cannot be asked, that is reported, and nothing is sent twice automatically.

One outcome everywhere: the phase "failed", exit code 16, and only `resume ID` sends it again.
"""

import signal

import pytest
from program import wait_until
from records import only_record

SMALL = 300_000
SOON = ["--set", "retry-max-delay=10ms"]


def test_a_form_whose_answer_does_not_come_may_be_stored(hive, post, recording):
    stub = hive("silent")
    result = post(stub, recording(SMALL), *SOON, "--set", "response-timeout=500ms", "--json", retries=3)
    assert [request.complete for request in stub.requests] == [True]
    assert [event for event in result.events if event["event"] == "retry"] == []
    assert result.code == 16, result
    message = result.outcome["message"]
    assert message.count("may have stored it. Check there before") == 1 and "GigHive" not in message, result


def test_cancelling_a_form_that_may_be_stored_says_so(hive, post, program, recording):
    result = post(hive("lose-answer"), recording(SMALL), *SOON)
    assert result.code == 16 and "To send it again:\n  gighive-upload resume " in result.err, result
    result = program.run("cancel", only_record(program).id).check()
    assert "all of it was sent, and the server may have stored it." in result.err, result


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_form_that_was_interrupted_after_its_last_byte_may_be_stored(hive, program, recording, number, code):
    stub = hive("silent")
    running = program.start("send", recording(SMALL), "--multipart-url", stub.url + "/upload", "--progress=none")
    wait_until(lambda: stub.requests and stub.requests[0].complete)
    assert program.run("resume", "--all").check().out == "skipped: 1 in progress in another process.\n"
    running.signal(number)
    assert running.wait(10).code == code
    record = only_record(program)
    assert record.phase == "failed" and record.document["may_be_stored"], record.document
    assert "may have stored" in program.run("list").out
    stub.set_faults()
    skipped = program.run("resume", "--all", "--progress=none").check()
    assert skipped.out == "skipped: 1 that may already be stored (see gighive-upload list).\n" and len(stub.requests) == 1
    program.run("resume", record.id, "--progress=none").check()
    assert len(stub.requests) == 2 and only_record(program).phase == "delivered"


def test_a_form_that_was_killed_before_its_last_byte_is_sent_again(hive, program, recording):
    stub, file = hive("stall-after=200000"), recording(40_000_000)
    running = program.start("send", file, "--multipart-url", stub.url + "/upload", "--progress=none")
    wait_until(lambda: stub.requests)
    running.signal(signal.SIGKILL)
    assert running.wait(10).code == -9 and not stub.requests[0].complete
    assert only_record(program).phase == "pending"
    stub.set_faults()
    program.run("resume", "--all", "--progress=none").check()
    assert only_record(program).phase == "delivered"
