"""`list` shows the records, and `forget` drops them."""

import json
import os
import re
from datetime import datetime, timezone

import pytest
from records import only_record, records
from removals import calls_on_names
from test_text_output import ESCAPES, is_harmless
from uploads import CREATION, TUS, begin, sha256, stop

SIZE = 6_000_000
AT = 3_000_000


def timestamp(nanoseconds: int) -> str:
    """RFC 3339 with milliseconds."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{rest // 10**6:03d}Z"


def test_a_list_of_nothing_says_where_it_looked_and_creates_nothing(program):
    result = program.run("list")
    assert (result.code, result.out, result.err) == (0, f"no uploads in {program.state}.\n", "")
    assert program.run("list", "--json").check().out == ""
    assert program.run("resume", "--all").out == f"nothing to resume in {program.state}.\n"
    assert program.run("resume", "5e1f0a77").err == f'gighive-upload: there is no upload "5e1f0a77" in {program.state}.\n'
    assert not program.state.exists()


def test_a_list_has_a_line_for_each_upload(hive, program, recording):
    stub = hive()
    one, two, three = (recording(SIZE, f"{name}.mp4") for name in ("one", "two", "three"))
    assert program.send(stub, *TUS, one).code == 0
    stub.set_faults("create/status=401")
    assert program.send(stub, *TUS, two).code == 6
    stop(program, stub, three, at=AT)
    result = program.run("list")
    assert result.code == 0 and result.err == "", result
    by_file = {record.source: record.id for record in records(program)}
    lines = [line for line in result.out.splitlines() if not line.startswith("   ")]
    forms = {
        one: r"delivered +6\.0 MB +.*/one\.mp4  to http://[^ ]+/  \(asset 1\)",
        two: r"failed +0 B of 6\.0 MB +.*/two\.mp4  to http://[^ ]+/",
        three: r"pending +[0-9.]+ MB of 6\.0 MB +.*/three\.mp4  to http://[^ ]+/",
    }
    assert len(lines) == 3
    for file, form in forms.items():
        id = by_file[os.fsencode(file)]
        (line,) = [line for line in lines if line.startswith(id)]
        assert re.fullmatch(f"{id}  {form}", line), line
    assert "401" in result.out


def test_a_list_in_json_has_an_object_a_line(hive, program, recording):
    stub = hive()
    one, two = recording(SIZE, "one.mp4"), recording(SIZE, "two.mp4")
    assert program.send(stub, *TUS, one).code == 0
    stop(program, stub, two, at=AT)
    result = program.run("list", "--json")
    assert result.code == 0 and result.err == "", result
    events = {event.pop("file"): event for event in result.events}
    modified = [timestamp(file.stat().st_mtime_ns) for file in (one, two)]
    for event in events.values():
        assert re.fullmatch("[0-9a-f]{8}", event.pop("id"))
        (created, updated) = (event.pop("created"), event.pop("updated"))
        assert created <= event.pop("delivered", updated) <= updated
        assert 0 <= event.pop("age_seconds") < 60
        assert event.pop("modified") in modified
        assert event.pop("destination") == stub.url + "/"
    assert events[str(one)] == {"state": "delivered", "bytes": SIZE, "total": SIZE, "file_state": "present",
                                "checksum_sha256": sha256(one), "asset_id": 1, "can_delete": True, "next_retry": None}
    second = events[str(two)]
    second.pop("message", "")
    assert CREATION <= second.pop("bytes") <= AT
    assert second == {"state": "pending", "total": SIZE, "file_state": "present", "can_delete": False, "next_retry": None}


@pytest.mark.parametrize("name", [f"a{ESCAPES}b\nc\r.mp4", b"caf\xe9\xff.mp4", "🎸.mp4", 'q"uote\\.mp4'], ids=ascii)
def test_a_list_shows_no_control_sequences(hive, program, recording, name):
    assert program.send(hive(), *TUS, recording(name=name)).code == 0
    text, lines = program.run("list"), program.run("list", "--json")
    assert is_harmless(text.out) and len(text.out.splitlines()) == 1
    expected = name if isinstance(name, str) else name.decode("utf-8", "replace")
    assert os.path.basename(lines.events[0]["file"]) == expected
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in lines.out.replace("\n", ""))


def test_a_servers_words_in_a_list_are_harmless(hive, program, recording, tmp_path):
    words = json.dumps({"message": "no\x1b[31m way\nsecond\x9b"})
    (tmp_path / "answer").write_text(f"HTTP/1.1 400 Bad\r\nContent-Length: {len(words)}\r\n\r\n{words}")
    assert program.send(hive(f"finalize/raw-answer={tmp_path}/answer"), *TUS, recording()).code == 7
    assert is_harmless(program.run("list").out)
    assert "no" in program.run("list", "--json").events[0]["message"]


def test_a_list_changes_nothing(program, interrupted):
    interrupted()
    before = {path.name: path.read_bytes() for path in program.state.iterdir()}
    assert program.run("list").code == 0
    assert {path.name: path.read_bytes() for path in program.state.iterdir()} == before


def test_a_list_says_where_a_recording_went_and_what_became_of_its_file(hive, program, recording, tmp_path):
    stub, sent = hive(), tmp_path / "sent"
    sent.mkdir()
    remarks = {
        "a.mp4": ("keep", "(asset 1)"), "b.mp4": ("remove", "(asset 2)  (removed or moved after its delivery)"),
        "c.mp4": (f"move={sent}", f"(asset 3)  (moved to {sent})")}
    for name, (after, _) in remarks.items():
        program.send(stub, recording(name=name), "--after", after).check()
    lines = program.run("list").check().out.splitlines()
    for name, (_, remark) in remarks.items():
        (line,) = [line for line in lines if f"/{name}  to {stub.url}/  (asset " in line]
        assert line.endswith(remark)
    (tmp_path / "a.mp4").unlink()
    (sent / "c.mp4").rename(tmp_path / "elsewhere.mp4")
    text = program.run("list").check().out
    assert text.count("(removed or renamed since)") == 1 and text.count("(removed or moved after its delivery)") == 2


# Forgetting.


@pytest.mark.parametrize("arguments", [["forget", "--all"], ["prune", "1h"]], ids=" ".join)
def test_a_dry_run_says_what_would_be_lost(program, delivered, tmp_path, arguments):
    stub, record = delivered()
    if arguments[0] == "prune":
        (tmp_path / "gig.mp4").unlink()
        record.write(updated_at=record.document["updated_at"] - 7200)
    dry = program.run(*arguments, "--dry-run").check().out
    assert f"{record.id}: would be forgotten ({tmp_path}/gig.mp4)." in dry and "1 record would be dropped." in dry
    assert "gighive-upload cannot delete it from the server any more." in dry
    assert ("upload it again if they find it" in dry) == (arguments[0] == "forget")
    assert program.run(*arguments, "--dry-run", "--json").check().outcome["event"] == "would_forget"
    assert [each.id for each in records(program)] == [record.id]
    done = program.run(*arguments).check().out
    assert done == dry.replace("would be ", "")
    assert records(program) == [] and stub.requests == []


def test_all_that_is_delivered_can_be_forgotten_at_once(hive, program, recording):
    stub = hive()
    for name in ("a.mp4", "b.mp4"):
        assert program.send(stub, *TUS, recording(name=name)).code == 0
    stop(program, stub, recording(SIZE, "c.mp4"), at=AT)
    assert program.run("forget", "--all").code == 0
    assert only_record(program).source.endswith(b"c.mp4")


@pytest.mark.native
def test_a_forgotten_record_is_gone_after_a_power_cut(hive, program, recording):
    assert program.send(hive(), recording()).code == 0
    record = only_record(program).file
    code, calls = calls_on_names(program, ["forget", record.stem])
    assert code == 0 and ("fsync", program.state) in calls[calls.index(("unlink", record)):], calls


def test_a_reader_that_ends_early_does_not_stop_the_forgetting(hive, program, recording):
    stub = hive()
    for name in ("a.mp4", "b.mp4"):
        assert program.send(stub, *TUS, recording(name=name)).code == 0
    reading, writing = os.pipe()
    os.close(reading)
    result = program.start("forget", "--all", stdout=writing).wait()
    os.close(writing)
    assert result.code == 14 and "standard output failed" in result.err, result
    assert records(program) == []


def test_an_upload_under_way_is_not_forgotten(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    running = begin(program, stub, file, at=AT)
    upload = only_record(program).id
    result = program.run("forget", upload)
    assert result.code == 11 and upload in result.err, result
    assert program.run("forget", "--all").code == 0
    assert only_record(program).id == upload
    running.end()
