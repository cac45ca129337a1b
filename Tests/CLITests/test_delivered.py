"""Delivered is final: `send` of a recording that was delivered to the same destination sends nothing."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest
from program import strace
from records import only_record
from uploads import PASSWORD, rewrite


def skipped(result, count=1):
    result.check()
    assert [event["event"] for event in result.events] == ["start", "skipped"] * count, result
    return result.events[1]


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_a_delivered_recording_is_not_sent_again(hive, program, recording, way):
    stub, file = hive(), recording()
    program.send(stub, file, "--protocol", way).check()
    before = len(stub.requests)
    event = skipped(program.send(stub, file, "--protocol", way, "--json"))
    assert (event["id"], event["asset_id"], event["exit_code"]) == (only_record(program).id, 1, 0)
    assert event["file"] == str(file) and event["delivered"].startswith("20")
    said = program.send(stub, file).check()
    assert "gig.mp4: skipped; already delivered on 20" in said.out and "as asset 1 (upload " in said.out
    assert "Use --again to send it again." in said.out and "0 of 1 delivered, 1 skipped" not in said.err
    assert len(stub.requests) == before


def test_again_sends_it_again_and_leaves_one_record(hive, program, recording):
    stub, file = hive(), recording()
    program.post(stub, file).check()
    assert program.post(stub, file, "--again", "--json").check().outcome["event"] == "delivered"
    assert len([request for request in stub.requests if request.complete]) == 2
    assert only_record(program).phase == "delivered"


def age(*files) -> None:
    """A status time of the last seconds proves nothing, because a write may follow within the same tick of the clock."""
    newest = max(os.stat(file).st_ctime for file in files)
    time.sleep(max(0, newest + 2.5 - time.time()))


def calls_of(program, directory, *arguments) -> int:
    """How many system calls a `send` makes, without those of which one serves many files: what a directory lists, and waiting."""
    log = directory.parent / "calls"
    done = program.run("send", *arguments, env=PASSWORD, cwd=directory, retries=None, under=strace(log=log))
    assert (done.code, done.out, done.err) == (0, "", "")
    return len([line for line in log.read_text().splitlines() if not re.search(r" (poll|getdents64|brk|futex)\(| resumed>", line)])


@pytest.mark.native
@pytest.mark.parametrize("way", ["found", "named"])
def test_a_delivered_recording_costs_three_system_calls(hive, program, tmp_path, way):
    """Its status, the index, and whether its record is there. Nothing for the file that could be beside it, or for its label."""
    stub, few, many = hive(), 40, 240
    for count in (few, many):
        (tmp_path / str(count)).mkdir()
        for number in range(count):
            (tmp_path / str(count) / f"{number:03}.wav").write_bytes(b"%d of %d" % (number, count))
    age(tmp_path / str(many) / f"{many - 1:03}.wav")
    options = ["--server", stub.url, "--label", "{stem} of {dir}, {date}", "--user", "uploader", "--quiet"]
    program.run("send", "-r", str(few), str(many), *options, env=PASSWORD, cwd=tmp_path).check()
    sent = len(stub.requests)

    names = lambda count: ["-r", "."] if way == "found" else [f"{number:03}.wav" for number in range(count)]
    calls = [calls_of(program, tmp_path / str(count), *names(count), *options) for count in (few, many)]
    # Every two seconds the directory is read.
    assert calls[1] - calls[0] <= 3.2 * (many - few)
    assert len(stub.requests) == sent


# A delivered file that may have been changed since.


MIDDLE = 500_000


@pytest.fixture
def touched(hive, program, recording):
    """A stub, and a delivered file that has another status time since."""
    stub, file = hive(), recording(2 * MIDDLE)
    program.send(stub, file).check()
    return stub, file


def test_a_delivered_file_that_was_rewritten_in_the_middle_is_sent(touched, program):
    """Its size, modification time and edges say that it is the delivered one."""
    stub, file = touched
    rewrite(file, MIDDLE)
    result = program.send(stub, file, "--json").check()
    assert result.outcome["event"] == "delivered" and len(stub.recordings) == 2
    assert "its content is another one now. It is sent." in result.err
    # The record with the delete token of the other content stays.
    assert skipped(program.send(stub, file, "--json"))["asset_id"] == 2


@pytest.mark.native
@pytest.mark.parametrize("way", ["status", "copy", "time"])
def test_a_delivered_file_with_the_same_content_is_read_once(touched, program, tmp_path, way):
    """Its record gets what identifies it now: its status after chmod(1), its inode after an editor or a camera has written it again."""
    stub, file = touched
    before = only_record(program).document
    time.sleep(0.02)
    if way == "status":
        file.chmod(0o600)
    else:
        copy = tmp_path / "copy"
        copy.write_bytes(file.read_bytes())
        if way == "copy":
            shutil.copystat(file, copy)
        copy.rename(file)
    age(file)
    options = ["--server", stub.url, "--label", "Set", "--user", "uploader", "--quiet"]
    calls = [calls_of(program, tmp_path, file, *options) for _ in range(2)]
    assert calls[1] < calls[0]
    after = only_record(program).document
    assert after["changed_seconds"] == int(file.stat().st_ctime)
    assert (after["inode"] == before["inode"]) == (way == "status")
    assert (after["modified_seconds"], after["inode"]) == (int(file.stat().st_mtime), str(file.stat().st_ino))
    assert len(stub.recordings) == 1 and "compared" not in skipped(program.send(stub, file, "--json"))


def test_a_file_without_a_known_digest_is_not_compared(hive, program, recording):
    stub, file = hive(), recording(2 * MIDDLE)
    send = ["send", file, "--multipart-url", stub.url + "/upload"]
    program.run(*send).check()
    assert "sha256" not in only_record(program).document
    rewrite(file, MIDDLE)
    assert skipped(program.run(*send, "--json"))["compared"] is False
    assert "; its content was not compared, because no SHA-256 is known. Use --again" in program.run(*send).check().out


@pytest.mark.parametrize("way", [["--multipart-url", "/upload"], ["--tus-url", "/tus/"]])
def test_a_file_with_a_known_digest_is_compared_for_any_server(hive, program, recording, way):
    stub, file = hive(), recording(2 * MIDDLE)
    send = ["send", file, way[0], stub.url + way[1], "--digest", "--json"]
    program.run(*send).check()
    file.write_bytes(file.read_bytes())
    skipped(program.run(*send))
    rewrite(file, MIDDLE)
    assert program.run(*send).check().outcome["event"] == "delivered"


def test_files_are_compared_after_all_others_are_sent(hive, program, tmp_path):
    stub = hive()
    for name in ("a", "b", "c"):
        (tmp_path / "rec").mkdir(exist_ok=True)
        (tmp_path / "rec" / f"{name}.mp4").write_bytes(os.urandom(2 * MIDDLE))
    send = lambda: program.send(stub, "-r", "rec", "-j", "2", "--json", cwd=tmp_path).check()
    send()
    for name in ("a", "b"):
        rewrite(tmp_path / "rec" / f"{name}.mp4", MIDDLE, data=b"" if name == "a" else b"changed")
    (tmp_path / "rec" / "d.mp4").write_bytes(b"new" * MIDDLE)
    ends = [(Path(event["file"]).stem, event["event"]) for event in send().events if event["event"] in ("delivered", "skipped")]
    assert sorted(ends) == [("a", "skipped"), ("b", "delivered"), ("c", "skipped"), ("d", "delivered")]
    assert ends.index(("d", "delivered")) < min(ends.index(("a", "skipped")), ends.index(("b", "delivered")))
    assert "0 of 4 would be sent" in program.send(stub, "-r", "rec", "--dry-run", cwd=tmp_path).check().out
