"""--json: one event per line on standard output, whatever happens."""

import hashlib
import os
import re
from pathlib import Path

import pytest
from records import only_record

KINDS = {"start", "progress", "retry", "delivered", "failed"}
DOCUMENTED = set(re.findall(r"`([a-z0-9_]+)`", (Path(__file__).parents[2] / "docs" / "json.md").read_text()))


def check(result):
    """Checks that apply to every run."""
    for event in result.events:
        assert event["event"] in KINDS
        assert isinstance(event["file"], str)
        assert DOCUMENTED >= set(event)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in result.out.replace("\n", ""))
    return result.events


def test_a_delivery_is_reported_with_all_its_figures(any_hive, program, recording):
    file = recording()
    result = program.send(any_hive(), file, "--json").check()
    start, *_, delivered = check(result)
    assert (start["event"], start["file"]) == ("start", str(file))
    assert delivered.pop("seconds") >= 0
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


def test_a_failure_is_reported_with_exit_code_and_message(hive, send, recording):
    file = recording()
    result = send(hive("early-status=413"), file, "--json")
    failed = check(result)[-1]
    assert (failed["event"], failed["file"], failed["exit_code"]) == ("failed", str(file), 8)
    assert "413" in failed["message"]


def test_progress_never_goes_back_and_never_beyond_the_size(hive, send, recording):
    result = send(hive("slow-read=7e6"), recording(16_000_000), "--json").check()
    progress = [event for event in check(result) if event["event"] == "progress"]
    assert len(progress) >= 2
    for name in ("bytes", "seconds"):
        values = [event[name] for event in progress]
        assert values == sorted(values)
    assert all(0 <= event["bytes"] <= event["total"] == 16_000_000 for event in progress)


def test_progress_counts_what_the_server_has_and_not_what_the_kernel_keeps(hive, program, recording):
    stub = hive("stall-after=1000000")
    result = program.send(stub, recording(24_000_000), "--json", "--stall-timeout", "1500ms")
    last = [event for event in check(result) if event["event"] == "progress"][-1]
    # Bytes in the server's kernel count, too. Its buffer is small here.
    assert 900_000 <= last["bytes"] <= 1_600_000


HOSTILE = ['q"uote\\.mp4', "line\nend\r.mp4", "esc\x1b[31m\x7f.mp4", "🎸\u2028\x85.mp4", b"caf\xe9\xff.mp4", "  .mp4"]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_every_line_is_json_with_any_file_name(hive, send, recording, name):
    result = send(hive(), recording(name=name), "--json").check()
    expected = name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")
    for event in check(result):
        assert os.path.basename(event["file"]) == expected


MESSAGES = ["a\\u001b[31mb", "a\\nb\\u0000", "quo\\\"te", "\\ud83c\\udfb8", "\\ud800", "x" * 5000]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message[:10])
def test_every_line_is_json_with_any_words_of_a_server(hive, send, recording, message):
    content = '{"error":"Bad Request","message":"%s"}' % message
    answer = f"HTTP/1.1 400 Bad Request\r\nContent-Length: {len(content)}\r\n\r\n{content}"
    result = send(hive(answer=answer.encode()), recording(), "--json")
    assert result.code == 7, result
    assert len(check(result)[-1]["message"]) < 1000


def test_every_line_is_json_with_bytes_that_are_no_utf_8(hive, send, recording):
    content = b'{"message":"\xff\xfe\xed\xa0\x80"}'
    answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%s" % (len(content), content)
    assert check(send(hive(answer=answer), recording(), "--json"))[-1]["exit_code"] == 7


def test_each_of_several_files_has_one_outcome(hive, send, recording):
    files = [recording(name="a.mp4"), "missing.mp4", recording(0, "empty.mp4"), recording(name="d.mp4")]
    events = check(send(hive(), *files, "--json"))
    outcomes = [(event["file"], event["exit_code"]) for event in events if "exit_code" in event]
    assert outcomes == list(zip(map(str, files), (0, 3, 3, 0)))
    assert sum(event["event"] == "start" for event in events) == 4


def test_errors_are_reported_on_stderr_too_unless_it_is_quiet(hive, send, recording):
    stub = hive("early-status=413")
    assert "413" in send(stub, recording(), "--json").err
    quiet = send(stub, recording(), "--json", "--quiet")
    assert quiet.err == "" and quiet.outcome["exit_code"] == 8


def test_a_usage_error_prints_no_event(hive, send, recording):
    result = send(hive(), recording(), "--json", "--event-type", "x")
    assert (result.code, result.out) == (2, "")
