"""A temporary failure is retried after a delay, up to a number or a time; full sends are limited in any case.

Where a retry could do harm: Transcripts/form/plain.txt, test_may_be_stored.py."""

import json
import signal
import time

import pytest
from program import private, wait_until
from records import only_record
from uploads import PASSWORD, sha256, stop


SIZE = 3_000_000
SOON = ["--set", "retry-max-delay=10ms"]


def retries(result) -> list[dict]:
    return [event for event in result.events if event["event"] == "retry"]


def test_retries_limits_the_number_of_tries_which_is_five_by_default(hive, send, recording):
    stub, file = hive("status=503"), recording()
    result = send(stub, file, *SOON, "--json", retries=3)
    assert result.code == 9, result
    assert len(stub.requests) == 4
    assert [event["try"] for event in retries(result)] == [1, 2, 3]
    stub._requests.clear()
    assert send(stub, file, *SOON, retries=None).code == 9
    assert len(stub.requests) == 6


def test_a_signal_ends_the_pause(hive, program, recording, tmp_path):
    output = tmp_path / "output"
    with output.open("wb") as stream:
        running = program.start_sending(hive("status=503:600"), recording(), "--json", retries=1, stdout=stream)
    wait_until(lambda: '"event":"retry"' in output.read_text())
    running.signal(signal.SIGTERM)
    assert running.wait().code == 143
    assert json.loads(output.read_text().splitlines()[-1])["exit_code"] == 143


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


# By time: `--retry TIME`


def record(program):
    return only_record(program).document


def listed(program) -> dict:
    (line,) = program.run("list", "--json").check().out.splitlines()
    return json.loads(line)


def test_a_malformed_time_is_refused(run, recording):
    file = recording()
    for value in ("999ms", "366d", "never", "1000001", "-1", ""):
        result = run("send", file, "--server", "http://127.0.0.1:1", "--label", "L", f"--retry={value}", retries=None)
        assert result.code == 2 and "--retry" in result.err and "forever" in result.err, result


def test_the_command_line_wins_over_the_file(hive, send, recording, tmp_path):
    path = private(tmp_path / "own.conf", "retry = forever\n")
    result = send(hive("status=503"), recording(), *SOON, "--config", path, "--json", retries=2)
    assert result.code == 9 and len(retries(result)) == 2, result
    private(path, "retry = 0\n")
    result = send(hive("status=503@3"), recording(), *SOON, "--config", path, "--retry", "1h", "--json", retries=None).check()
    assert len(retries(result)) == 3


@pytest.mark.parametrize("stored, given", [("7", "1h"), ("1h", "7")])
def test_resume_can_replace_a_count_of_retries_by_a_time_and_vice_versa(hive, program, recording, stored, given):
    stub, file = hive(), recording(6_000_000)
    stop(program, stub, file, "--retry", stored)
    note = record(program)["note"]
    assert f"retry={stored}" in note
    stub.set_faults("status=503@2")
    result = program.run("resume", "--all", *SOON, "--retry", given, env=PASSWORD, retries=None).check()
    assert (", for up to " in result.err, "of 7)" in result.err) == (given == "1h", given == "7"), result
    assert record(program)["note"] == note


def test_text_says_how_much_time_is_left_for_retries(hive, send, recording):
    result = send(hive("status=503@2"), recording(), *SOON, "--retry", "1h", retries=None).check()
    assert "(retry 2, for up to 59 min)" in result.err and " of " not in result.err.split("Retrying")[1].split("\n")[0], result


# Full sends.


def sent_in_vain(program, hive, recording, *options, fault="status=500"):
    """One process would take its time (RetryDecider)."""
    stub, file = hive(fault), recording(SIZE)
    return stub, [program.send(stub, file, "--protocol", "multipart", *options, retries=0) for _ in range(3)]


@pytest.mark.parametrize(("fault", "code"), [("status=500", 9), (f"close-after={SIZE}", 4)])
def test_a_server_gets_a_recording_three_times_a_day(hive, program, recording, fault, code):
    stub, results = sent_in_vain(program, hive, recording, "--json", "--set", "response-timeout=500ms", fault=fault)
    assert [result.code for result in results] == 3 * [code], results
    assert len(stub.requests) == 3
    identifier, last = record(program)["id"], results[-1]
    assert "sent 3 times within a day" in last.err and f"gighive-upload resume {identifier}" in last.err
    assert "wait_seconds" not in results[0].outcome and 86_000 < last.outcome["wait_seconds"] < 86_500, results
    until = record(program)["next_retry"]
    assert time.time() + 86_000 < until < time.time() + 86_500
    assert listed(program)["next_retry"].startswith(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(until)))
    assert f"resume {identifier} sends it now" in program.run("list").out


def test_resume_all_waits_and_resume_does_not(hive, program, recording):
    stub, _ = sent_in_vain(program, hive, recording)
    stub._requests.clear()
    result = program.run("resume", "--all", env=PASSWORD).check()
    assert stub.requests == [] and "1 to be retried later" in result.out
    result = program.run("resume", "--all", "--quiet", env=PASSWORD).check()
    assert result.out == result.err == ""
    identifier = record(program)["id"]
    assert program.run("resume", identifier, *SOON, env=PASSWORD, retries=5).code == 9
    assert len(stub.requests) == 1
    stub.set_faults()
    program.run("resume", identifier, env=PASSWORD).check()
    assert listed(program)["next_retry"] is None and "full_sends" not in record(program)


def test_connections_that_go_stale_one_after_the_other_are_no_failure(any_hive, send, recording):
    """Each is reset just when the next request comes; without another try a failure would end it."""
    hive = any_hive("stale")
    files = [recording(20_000, f"{number}.mp4") for number in range(6)]
    result = send(hive, *files, "--json", retries=0)
    assert result.code == 0 and retries(result) == [], result
    assert {item.sha256 for item in hive.recordings} == set(map(sha256, files))
