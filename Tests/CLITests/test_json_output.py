"""--json: one event per line on standard output, whatever happens."""

import hashlib
import json
import os
from datetime import datetime, timezone

import pytest
import schema
from records import only_record
from uploads import PASSWORD


def check(result):
    """Checks that apply to every run, besides those of the schema."""
    assert all("file" in event for event in result.events)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in result.out.replace("\n", ""))
    return result.events


def test_a_delivery_is_reported_with_all_its_figures(hive, program, recording):
    file = recording()
    began = datetime.now(timezone.utc)
    result = program.send(hive(), file, "--json").check()
    start, *_, delivered = check(result)
    assert (start["event"], start["file"], start["id"]) == ("start", str(file), None)
    times = [datetime.fromisoformat(event.pop("time").replace("Z", "+00:00")) for event in (start, delivered)]
    # The program cuts microseconds off.
    assert began.replace(microsecond=began.microsecond // 1000 * 1000) <= times[0] <= times[1] <= datetime.now(timezone.utc)
    assert delivered.pop("seconds") >= 0
    answer = delivered.pop("answer")
    assert (answer["status"], json.loads(answer["body"])["delete_token"]) == (201, "(secret)")
    assert only_record(program).document["delete_token"] not in result.out + result.err
    assert delivered == {
        "event": "delivered",
        "file": str(file),
        "id": only_record(program).id,
        "bytes": 300_000,
        "total": 300_000,
        "checksum_sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "checksum_verified": True,
        "already_there": False,
        "asset_id": 1,
        "exit_code": 0,
    }


def test_progress_counts_what_the_server_has_and_not_what_the_kernel_keeps(hive, program, recording):
    stub = hive("stall-after=1000000")
    result = program.send(stub, recording(24_000_000), "--json", "--set", "stall-timeout=1500ms")
    last = [event for event in check(result) if event["event"] == "progress"][-1]
    # Bytes in the server's kernel count, too. Its buffer is small here.
    assert 900_000 <= last["bytes"] <= 1_600_000


def test_every_line_is_json_with_any_file_name(hive, send, recording):
    stub = hive()
    for name in ('q"uote\\line\nend\r.mp4', b"\x1b[31m\x7f\xc2\x85caf\xe9\xff.mp4"):
        result = send(stub, recording(name=name), "--json").check()
        expected = name if isinstance(name, str) else name.decode("utf-8", "replace")
        assert {os.path.basename(event["file"]) for event in check(result)} == {expected}


def test_every_line_is_json_with_any_words_of_a_server(hive, send, recording):
    for message in (b"a\\u001b[31m\\nb\\u0000quo\\\"te", b"x" * 5000, b"\xff\xfe\xed\xa0\x80"):
        result = send(hive(answer=answer_of(b'{"error":"Bad Request","message":"%s"}' % message)), recording(), "--json")
        assert result.code == 7, result
        assert len(check(result)[-1]["message"]) < 1000


def test_errors_are_reported_on_stderr_too(hive, send, recording):
    stub, file = hive("early-status=413"), recording()
    result = send(stub, file, "--json")
    failed = check(result)[-1]
    assert (failed["event"], failed["file"], failed["exit_code"]) == ("failed", str(file), 8)
    assert "413" in failed["message"] and "413" in result.err
    quiet = send(stub, file, "--json", "--quiet")
    assert quiet.err == result.err and quiet.outcome["exit_code"] == 8


def test_a_file_is_named_by_its_absolute_path(hive, program, recording):
    recording()
    events = program.send(hive(), "gig.mp4", "missing.mp4", "--json").events
    assert {event["file"] for event in events} == {str(program.directory / name) for name in ("gig.mp4", "missing.mp4")}


def test_a_failure_that_concerns_no_file_has_a_time_and_a_null_id(program):
    result = program.run("resume", "12345678", "--json")
    (event,) = result.events
    assert (event["event"], event["id"], "file" in event) == ("failed", None, False)


def test_the_schema_finds_what_is_not_as_documented():
    line = '{"event":"start","time":"2026-11-23T08:00:00.123Z","id":null,"file":"/gig.mp4"}'
    assert schema.check(line)["file"] == "/gig.mp4"
    for changed in (
        line.replace("}", ',"more":1}'),
        line.replace("null", '"5e1f0a7"'),
        line.replace("/gig.mp4", "gig.mp4"),
        line.replace(".123Z", "Z"),
        line.replace('"id":null,', ""),
        line.replace("start", "progress"),
        line.replace("start", "unheard-of"),
        '{"time":"2026-11-23T08:00:00.123Z","event":"start","id":null,"file":"/gig.mp4"}',
        line.replace("}", ',"id":null}'),
    ):
        with pytest.raises(AssertionError):
            schema.check(changed)


# --json-progress.


def progress(result) -> list[dict]:
    return [event for event in check(result) if event["event"] == "progress"]


def test_progress_is_reported_as_often_as_asked(hive, send, recording):
    file = recording(16_000_000)
    assert len(progress(send(hive("slow-read=7e6"), file, "--json", "--json-progress", "100ms").check())) >= 8
    assert progress(send(hive("slow-read=7e6"), file, "--json", "--json-progress", "1h").check()) == []
    assert progress(send(hive("slow-read=7e6"), file, "--json", "--json-progress", "none").check()) == []


def test_a_usage_error_prints_no_event(hive, program, recording):
    stub, file = hive(), recording()
    for options, message in (
        (["--json", "--event-type", "x"], "no event type"),
        (["--json", "--json-progress", "0s"], "--json-progress"),
        (["--json", "--json-progress", "often"], "--json-progress"),
        (["--json-progress", "1s"], "--json-progress needs --json"),
    ):
        result = program.send(stub, file, *options)
        assert (result.code, result.out) == (2, "") and message in result.err, result
    result = program.run("resume", "--all", "--json-progress=none")
    assert (result.code, result.out) == (2, "") and "--json-progress needs --json" in result.err, result


def test_a_resume_does_not_inherit_the_interval(program, interrupted):
    _, record = interrupted("--json", "--json-progress", "none")
    assert program.run("resume", record.id, env=PASSWORD).check()


# The server's answer.


def answer_of(content: bytes, status=b"400 Bad Request", fields=b"") -> bytes:
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, fields, len(content), content)


def test_a_refusal_has_the_servers_answer(hive, send, recording):
    result = send(hive(answer=answer_of(b'{"message":"no","hint":"\xe4"}')), recording(), "--json", "--verbose")
    assert result.outcome["answer"] == {"status": 400, "body": '{"message":"no","hint":"\ufffd"}'}
    assert '< {"message":"no","hint":"\ufffd"}\n' in result.err


def test_a_failure_without_an_answer_has_none(hive, send, recording):
    assert "answer" not in send(hive("reset-after=1000"), recording(), "--json").outcome
    assert "answer" not in send(hive(), recording(0), "--json").outcome


def test_cancelled_deleted_and_forgotten_uploads_are_named(program, delivered, interrupted):
    _, record = delivered()

    def named(record, *command, code=0) -> str:
        (event,) = program.run(*command, record.id, "--json", env=PASSWORD).events
        assert (event["id"], event["file"], event["exit_code"]) == (record.id, os.fsdecode(record.source), code)
        return event["event"]

    assert named(record, "delete") == "deleted" and named(record, "forget") == "forgotten"
    _, record = interrupted()
    assert named(record, "delete", code=2) == "failed" and named(record, "forget") == "forgotten"
    _, record = interrupted()
    assert named(record, "cancel") == "cancelled"
