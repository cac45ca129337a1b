"""--retry-for: retries by time instead of by number, and what is waited out then; full sends are limited in any case."""

import json
import time

import pytest
from program import private
from records import only_record
from test_retries import retries
from uploads import PASSWORD, is_delivered, stop

SOON = ["--retry-max-delay", "100ms"]
SIZE = 3_000_000


def record(program):
    return only_record(program).document


def listed(program) -> dict:
    (line,) = program.run("list", "--json").check().out.splitlines()
    return json.loads(line)


# The option.


@pytest.mark.parametrize("command", ["send", "resume", "cancel", "delete"])
def test_a_number_and_a_time_cannot_be_used_together(run, command):
    result = run(command, "5e1f0a77", "--retries", "1", "--retry-for", "1h", retries=None)
    assert result.code == 2 and "--retries and --retry-for cannot be used together" in result.err, result


@pytest.mark.parametrize("value", ["999ms", "366d", "never"])
def test_what_is_no_time_is_refused(run, recording, value):
    result = run("send", recording(), "--server", "http://127.0.0.1:1", "--label", "L", "--retry-for", value, retries=None)
    assert result.code == 2 and "--retry-for" in result.err and "forever" in result.err, result


def test_the_command_line_wins_over_the_file(hive, send, recording, tmp_path):
    path = private(tmp_path / "own.conf", "retry-for = forever\n")
    result = send(hive("status=503"), recording(), *SOON, "--config", path, "--json", retries=2)
    assert result.code == 9 and len(retries(result)) == 2, result
    private(path, "retries = 0\n")
    result = send(hive("status=503@3"), recording(), *SOON, "--config", path, "--retry-for", "1h", "--json", retries=None).check()
    assert len(retries(result)) == 3


def test_a_file_has_one_of_them_in_a_section(run, recording, tmp_path):
    path = private(tmp_path / "own.conf", "retries = 1\nretry-for = 1h\n")
    result = run("send", recording(), "--config", path, retries=None)
    assert result.code == 2 and f"{path}:2: " in result.err and "cannot be used together" in result.err, result


@pytest.mark.parametrize("stored, given", [({"retries": 7}, "--retry-for=1h"), ({"retry_for": "1h"}, "--retries=7")])
def test_one_replaces_the_other_of_a_record_for_a_resume(hive, program, recording, stored, given):
    stub, file = hive(), recording(6_000_000)
    options = ["--retry-for", stored["retry_for"]] if "retry_for" in stored else []
    stop(program, stub, file, *options, retries=stored.get("retries"))
    note = record(program)["note"]
    assert ("retry-for=1h" in note, "retries=7" in note) == ("retry_for" in stored, "retries" in stored)
    stub.set_faults("status=503@2")
    result = program.run("resume", "--all", *SOON, given, env=PASSWORD, retries=None).check()
    assert (", for up to " in result.err, "of 7)" in result.err) == ("retries" in stored, "retry_for" in stored), result
    assert record(program)["note"] == note


# How long.


@pytest.mark.parametrize(("way", "fault"), [("tus", "http-redirect=302:http://portal.example/@4"), ("multipart", "status=501@4")])
def test_what_often_passes_is_waited_out(hive, send, recording, fault, way):
    stub, file = hive(fault), recording()
    options = ["--protocol", way, *SOON, "--retry-for", "forever", "--json"]
    result = send(stub, file, *options, retries=None).check()
    assert is_delivered(stub, file)
    # A 501 to OPTIONS alone does not count.
    assert len(retries(result)) >= 3


def test_text_tells_how_long(hive, send, recording):
    result = send(hive("status=503@2"), recording(), *SOON, "--retry-for", "1h", retries=None).check()
    assert "(retry 2, for up to 59 min)" in result.err and " of " not in result.err.split("Retrying")[1].split("\n")[0], result


# Full sends.


def sent_in_vain(program, hive, recording, *options, fault="status=500", times=3):
    """One process would take its time (RetryDecider)."""
    stub, file = hive(fault), recording(SIZE)
    results = [program.send(stub, file, "--protocol", "multipart", *options, retries=0) for _ in range(times)]
    return stub, results[-1]


@pytest.mark.parametrize(("fault", "code"), [("status=500", 9), (f"close-after={SIZE}", 4)])
def test_a_server_gets_a_recording_three_times_a_day(hive, program, recording, fault, code):
    stub, result = sent_in_vain(program, hive, recording, "--response-timeout", "500ms", fault=fault)
    assert result.code == code, result
    assert len(stub.requests) == 3
    identifier = record(program)["id"]
    assert "sent 3 times within a day" in result.err and f"gighive-upload resume {identifier}" in result.err
    until = record(program)["next_retry"]
    assert time.time() + 86_000 < until < time.time() + 86_500
    assert listed(program)["next_retry"].startswith(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(until)))
    assert f"resume {identifier} sends it now" in program.run("list").out


def test_a_program_is_told_how_long_it_is_not_tried(hive, program, recording):
    _, result = sent_in_vain(program, hive, recording, "--json")
    (failed,) = [event for event in result.events if event["event"] == "failed"]
    assert 86_000 < failed["wait_seconds"] < 86_500, failed
    _, result = sent_in_vain(program, hive, recording, "--json", times=1)
    assert "wait_seconds" not in [event for event in result.events if event["event"] == "failed"][0]


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


def test_the_count_is_kept_over_processes(hive, program, recording):
    stub, result = sent_in_vain(program, hive, recording, times=1)
    assert result.code == 9 and listed(program)["next_retry"] is None
    codes = [program.run("resume", "--all", env=PASSWORD).code for _ in range(4)]
    assert codes == [9, 9, 0, 0]
    assert len(stub.requests) == 3
