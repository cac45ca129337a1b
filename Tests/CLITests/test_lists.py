"""`--from FILE`, and `--dry-run`."""

import json
import os

import pytest
from program import wait_until

from test_batches import rec, sent  # noqa: F401
from test_templates import EVENING, UTC, at, forms
from uploads import TUS, stop


def lines(*objects) -> str:
    return "".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in objects)


@pytest.fixture
def listed(tmp_path):
    """Writes a list."""

    def listed(*objects):
        path = tmp_path / "list.jsonl"
        path.write_text(lines(*objects))
        return path

    return listed


# MARK: Lists


def test_each_line_names_a_file_and_describes_it(hive, send, rec, listed):
    stub = hive()
    root = rec("a.wav", "b.wav", b"caf\xe9.wav")
    (root / "b.wav.upload").write_text("label = Beside\nfield = location=Hall")
    listed(
        {"file": "rec/a.wav", "label": "{stem}", "org_name": "Löwen", "event_date": "2026-05-01", "field": {"a": "b=c", "rating": "5", "x": "{"}},
        "", {"label": "From the list", "file": str(root / "b.wav")}, {"file": "?", "file_percent": "rec/caf%E9.wav"})
    send(stub, "--from", "list.jsonl").check()
    assert sent(stub) == [b"a.wav", b"b.wav", b"caf\xe9.wav"]
    first, second, third = forms(stub)
    assert (first["label"], first["org_name"], first["event_date"]) == ("{stem}", "Löwen", "2026-05-01")
    assert (first["rating"], first["a"], first["x"]) == ("5", "b=c", "{")
    assert (second["label"], second["location"]) == ("From the list", "Hall")
    assert third["label"] == "First set"


def test_a_found_file_is_no_link_and_has_its_own_date(hive, send, rec, listed):
    stub = hive()
    root = rec("a.wav")
    at(root / "a.wav", EVENING)
    (root / "link.wav").symlink_to("a.wav")
    listed({"file": "rec/link.wav", "below": "rec"}, {"file": "rec/a.wav", "below": "rec"})
    result = send(stub, "--from", "list.jsonl", **UTC)
    assert result.code == 3 and "link.wav is a symbolic link" in result.err, result
    assert sent(stub) == [b"a.wav"] and forms(stub)[0]["event_date"] == "2027-01-15"
    listed({"file": "rec/link.wav"})
    send(stub, "--from", "list.jsonl", "--again", **UTC).check()
    assert sent(stub) == [b"a.wav", b"link.wav"]


def seen(file, **changes) -> dict:
    status = file.stat()
    numbers = {"size": status.st_size}
    for name, time in [("modified", status.st_mtime_ns), ("changed", status.st_ctime_ns)]:
        numbers |= {f"{name}_seconds": time // 10**9, f"{name}_nanoseconds": time % 10**9}
    return {"device": str(status.st_dev), "inode": str(status.st_ino), **numbers, **changes}


def test_only_the_file_that_was_judged_is_sent(hive, program, rec, listed):
    stub = hive()
    root = rec("a.wav", "b.wav", "c.wav", "d.wav", "e.wav", "f.wav")
    status = {file.name: seen(file) for file in sorted(root.iterdir())}
    # A change of its mode alone says nothing about its content, and on FAT a file has no inode of its own.
    (root / "a.wav").chmod(0o640)
    status["b.wav"] |= {"inode": "0"}
    status["c.wav"] |= {"inode": str(int(status["c.wav"]["inode"]) + 1)}
    os.utime(root / "d.wav", (1e9, 1e9))
    listed(*[{"file": str(root / name), "below": str(root), "seen": value} for name, value in status.items()])
    with open(root / "e.wav", "ab"):
        result = program.send(stub, "--from", "list.jsonl", "--json")
    outcomes = {os.path.basename(event["file"]): event for event in result.events if "exit_code" in event}
    assert {name: event["event"] for name, event in outcomes.items()} == {
        "a.wav": "delivered", "b.wav": "delivered", "c.wav": "unsettled", "d.wav": "unsettled", "e.wav": "unsettled",
        "f.wav": "delivered"}
    assert "has changed since it was found" in outcomes["c.wav"]["message"]
    assert "is being written" in outcomes["e.wav"]["message"] and result.code == 3
    assert sent(stub) == [b"a.wav", b"b.wav", b"f.wav"]


@pytest.mark.parametrize("line, part", [
    ("{", "not JSON (at byte 2)"), ('{"file": "a", "server": "http://x"}', "server is not allowed here"),
    ('{"file": "a", "lable": "x"}', "Did you mean label?"),
    ('{"file": "a", "label": "' + "x" * 70_000 + '"}', "longer than 65536 bytes"),
], ids=lambda text: text[:20])
def test_a_broken_line_is_named_and_the_others_are_sent(hive, send, rec, listed, line, part):
    stub = hive()
    rec("a.wav", "b.wav")
    listed({"file": "rec/a.wav"}, line, {"file": "rec/b.wav"})
    result = send(stub, "--from", "list.jsonl")
    assert result.code == 2 and "list.jsonl:2: " in result.err and part in result.err, result
    assert sent(stub) == [b"a.wav", b"b.wav"]


def test_a_list_names_all_files(hive, send, rec, listed):
    stub = hive()
    rec("a.wav")
    listed({"file": "rec/a.wav"})
    for arguments in (["rec/a.wav"], ["-r"], ["-r", "rec"]):
        result = send(stub, "--from", "list.jsonl", *arguments)
        assert result.code == 2 and "--from cannot be combined with file arguments" in result.err
    result = send(stub, "--from", "missing")
    assert result.code == 2 and "No such file" in result.err
    assert stub.requests == []


def test_a_last_line_needs_no_line_break_and_an_empty_list_is_none(hive, send, rec, tmp_path):
    stub = hive()
    rec("a.wav")
    (tmp_path / "list").write_text('{"file": "rec/a.wav"}')
    send(stub, "--from", "list").check()
    assert sent(stub) == [b"a.wav"]
    (tmp_path / "list").write_text("")
    send(stub, "--from", "list").check()
    (tmp_path / "list").write_text("x" * 70_000)
    result = send(stub, "--from", "list")
    assert result.code == 2 and "longer than 65536 bytes" in result.err, result


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_list_can_be_written_while_it_is_sent(hive, program, rec, jobs):
    """Uploads in progress continue while the next line is awaited."""
    stub = hive()
    rec("a.wav", "b.wav", "c.wav")
    read, write = os.pipe()
    running = program.start_sending(stub, "--from", "-", "--jobs", jobs, stdin=read)
    os.close(read)
    for count, name in enumerate("abc", 1):
        line = lines({"file": f"rec/{name}.wav"}).encode()
        os.write(write, line[:7])
        os.write(write, line[7:])
        wait_until(lambda: len(stub.recordings) == count, what="a recording")
    os.close(write)
    outcome = running.wait()
    assert outcome.code == 0 and "3 of 3 delivered" in outcome.out, outcome


def test_a_signal_ends_the_wait_for_a_line(hive, program, rec):
    stub = hive()
    rec("a.wav")
    read, write = os.pipe()
    running = program.start_sending(stub, "--from", "-", stdin=read)
    os.write(write, lines({"file": "rec/a.wav"}).encode())
    wait_until(lambda: stub.recordings, what="a recording")
    running.signal(2)
    outcome = running.wait(10)
    os.close(read), os.close(write)
    assert outcome.code == 130 and "standard input: interrupted after line 1" in outcome.err, outcome


# MARK: Dry run


def test_a_dry_run_says_what_would_be_sent(hive, send, rec, program):
    stub = hive()
    root = rec("a.wav", "b.wav", "large.wav")
    (root / "large.wav").write_bytes(b"x" * 5000)
    for name in "ab":
        at(root / f"{name}.wav", EVENING)
    result = send(stub, "-r", "rec", "--label", "{stem}", "--org-name", "Löwen", "--set", "max-size=4k", "--dry-run", **UTC)
    assert result.code == 3 and stub.requests == [], result
    line = f"a.wav: would be sent to {stub.url}/ (multipart, 1.0 kB) as \"a\" of 2027-01-15 Löwen."
    assert result.out.splitlines() == [line, line.replace("a.wav", "b.wav").replace('"a"', '"b"'), "2 of 3 would be sent."]
    assert "large.wav has 5000 bytes" in result.err
    assert not program.state.exists()


def test_a_dry_run_knows_what_was_delivered_and_what_was_interrupted(hive, program, send, rec, recording):
    stub = hive()
    rec("a.wav", "b.wav")
    send(stub, "rec/a.wav").check()
    big = recording(6_000_000)
    stop(program, stub, big, at=3_000_000)
    before = {path.name: path.read_bytes() for path in program.state.iterdir() if path.suffix in (".record", ".delivered")}
    result = send(stub, "-r", "rec", big, *TUS, "--dry-run").check()
    out = result.out.splitlines()
    assert out[0].startswith("a.wav: skipped; already delivered") and out[1].startswith("b.wav: would be sent"), result
    assert "(tus, 6.0 MB)" in out[2] and out[2].endswith("resuming upload " + only_pending(program) + ".")
    assert out[3] == "2 of 3 would be sent, 1 already delivered."
    assert stub.requests == []
    assert before == {path.name: path.read_bytes() for path in program.state.iterdir() if path.suffix in (".record", ".delivered")}


def only_pending(program) -> str:
    (path,) = program.state.glob("*.record")
    return path.stem


def test_a_dry_run_has_events(hive, send, rec):
    stub = hive()
    at(rec("a.wav", "notes.txt") / "a.wav", EVENING)
    events = send(stub, "-r", "rec", "--dry-run", "--json", **UTC).check().events
    (event,) = events
    assert event["event"] == "would_send" and event["destination"] == stub.url + "/" and event["id"] is None
    assert (event["total"], event["protocol"], event["file_name"]) == (1000, "multipart", "a.wav")
    assert (event["event_date"], event["event_type"], event["label"]) == ("2027-01-15", "band", "First set")
