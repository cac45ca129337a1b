"""A temporary failure is retried after a delay, up to a limit. Where a retry could do harm: Transcripts/form/plain.txt, test_may_be_stored.py."""

import signal
import time

from program import wait_until
from uploads import TUS, is_delivered, sent

SIZE = 5_000_000
SOON = ["--set", "retry-max-delay=10ms"]


def retries(result) -> list[dict]:
    return [event for event in result.events if event["event"] == "retry"]


# What is retried.


def test_a_server_that_goes_away_and_comes_back_gets_the_rest(hive, program, recording, tmp_path):
    first, file = hive("PATCH/slow-read=2e6", store=str(tmp_path)), recording(SIZE)
    running = program.start_sending(
        first, *TUS, file, "--set", "retry-max-delay=300ms", "--connect-timeout", "2s", retries=100)
    wait_until(lambda: first.uploads and first.uploads[0].offset > 2_000_000)
    first.stop()
    time.sleep(0.5)
    second = hive(store=str(tmp_path), port=first.port)
    running.wait().check()
    assert is_delivered(second, file)
    assert sent(second) < SIZE - 1_900_000


# How often.


def test_retries_limits_the_number_of_tries_which_is_five_by_default(hive, send, recording):
    stub, file = hive("status=503"), recording()
    result = send(stub, file, *SOON, "--json", retries=3)
    assert result.code == 9, result
    assert len(stub.requests) == 4
    assert [event["try"] for event in retries(result)] == [1, 2, 3]
    stub._requests.clear()
    assert send(stub, file, *SOON, retries=None).code == 9
    assert len(stub.requests) == 6


def test_a_signal_ends_the_pause(hive, program, recording):
    running = program.start_sending(hive("status=503:60"), recording(), "--json", retries=1)
    time.sleep(0.5)
    running.signal(signal.SIGTERM)
    # The pause would take 60 s.
    result = running.wait(10)
    assert result.code == 143, result
    assert result.outcome["exit_code"] == 143


# What is said.


def test_json_reports_each_retry(hive, program, recording):
    file = recording()
    result = program.send(hive("status=503:1@1"), file, "--json", retries=4)
    (event,) = retries(result)
    assert event.pop("wait_seconds") >= 1
    assert event.pop("seconds") <= result.outcome["seconds"]
    assert "503" in event.pop("message")
    assert event.pop("id") == result.outcome["id"]
    assert event.pop("bytes") >= 0
    assert event.pop("answer")["status"] == 503
    event.pop("time")
    assert event == {"event": "retry", "file": str(file), "try": 1}


def test_text_reports_each_retry_on_stderr(hive, send, recording):
    result = send(hive("status=503@2"), recording(), *SOON, retries=4).check()
    lines = [line for line in result.err.splitlines() if "503" in line]
    assert len(lines) == 2
    assert "gig.mp4" in lines[0] and "(1 of 4)" in lines[0] and "(2 of 4)" in lines[1]


def test_quiet_reports_only_the_end(hive, send, recording):
    result = send(hive("status=503"), recording(), *SOON, "--quiet", retries=2)
    assert result.code == 9 and result.err.count("gighive-upload: ") == 1, result
    assert send(hive("status=503@2"), recording(), *SOON, "--quiet", retries=2).err == ""
