"""`--after`: a delivered file is removed from this machine only if nothing speaks against it."""

import hashlib
import mmap
import os
import signal
import subprocess

import pytest
from program import wait_until
from records import only_record
from removals import DELETE, kept, names
from uploads import PASSWORD, TUS, is_delivered, kinds, of_kind, stop


@pytest.mark.parametrize("way", [[], TUS])
def test_a_file_is_deleted_once_the_server_says_that_it_has_it(any_hive, program, recording, way):
    stub, file = any_hive(), recording()
    content = file.read_bytes()
    result = program.send(stub, file, *way, *DELETE, "--progress", "none")
    assert result.code == 0 and "gig.mp4: removed from this machine." in result.out and not result.err, result
    assert names(file.parent).isdisjoint({"gig.mp4"}) and not any("gighive" in name for name in names(file.parent))
    assert [stored.size for stored in stub.recordings] == [len(content)]
    assert kinds(stub)[-2:] == ["asset", "media"] and len(of_kind(stub, "asset")) == len(of_kind(stub, "media")) == 1
    row, file_there = stub.requests[-2:]
    assert (row.method, row.target) == ("GET", "/api/uploads/1")
    assert file_there.method == "HEAD" and file_there.path == f"/video/{hashlib.sha256(content).hexdigest()}.mp4"
    for asked in (row, file_there):
        assert asked.header("Cache-Control") == "no-cache" and asked.connection == stub.requests[-1].connection
    assert only_record(program).phase == "delivered" and (program.state / "removals").read_bytes().strip() == b""


def test_a_file_is_kept_unless_something_else_is_said(hive, program, recording):
    stub = hive()
    for number, options in enumerate([[], ["--after", "keep"]]):
        file = recording(name=f"{number}.mp4")
        assert program.send(stub, file, *options).code == 0
        assert file.exists()
    assert not (program.state / "removals").exists()
    # What was delivered before is skipped, and not removed.
    result = program.send(stub, file, *DELETE)
    assert result.code == 0 and "skipped" in result.out and file.exists(), result
    assert of_kind(stub, "asset") == []


@pytest.mark.parametrize(("fault", "words"), [
    ("asset/vanish", "no longer has it"),
    ("asset/wrong-size", "different content"),
    ("media/vanish", "GigHive still lists it, but no longer has its file."),
    ("media/malformed-header=Age: 60", "a cache in front of GigHive answered"),
    ("media/status=401", "does not let these credentials look at it"),
])
def test_a_file_stays_unless_gighive_proves_that_it_has_it(hive, program, recording, fault, words):
    stub, file = hive(fault), recording()
    assert kept(program.send(stub, file, *DELETE), file, words)
    assert only_record(program).phase == "delivered"


def test_json_says_what_became_of_each_file(hive, program, recording, tmp_path):
    (tmp_path / "sent").mkdir()
    stub, one, two, three = hive(), recording(name="1.mp4"), recording(name="2.mp4"), recording(name=b"caf\xe9.mp4")
    os.link(two, tmp_path / "other")
    result = program.send(stub, one, two, three, "--json", "--after", f"move={tmp_path}/sent").check()
    told = [event for event in result.events if event["event"] in ("delivered", "removed", "kept")]
    assert [event["event"] for event in told] == ["delivered", "removed", "delivered", "kept", "delivered", "removed"]
    removed, kept = told[1], told[3]
    assert removed["to"] == str(tmp_path / "sent" / "1.mp4") and removed["asset_id"] == 1 and removed["id"] == told[0]["id"]
    assert kept["file"] == str(two) and "hard link" in kept["message"]
    assert told[5]["to_percent"].endswith("/sent/caf%E9.mp4")


def test_a_signal_while_the_server_is_asked_leaves_the_file_and_the_delivery(hive, program, recording):
    stub, file = hive("asset/silent"), recording()
    running = program.start_sending(stub, file, *DELETE)
    wait_until(lambda: of_kind(stub, "asset"))
    running.signal(signal.SIGTERM)
    assert kept(running.wait(), file, "interrupted")
    assert only_record(program).phase == "delivered"


@pytest.mark.parametrize("options", [["-j", "4"], [*TUS, "-j", "1"]])
def test_several_at_a_time_are_all_removed(any_hive, program, recording, options):
    """With tus, those that wait for finalize have left their places to the next ones."""
    stub = any_hive("finalize/delay-answer=1")
    files = [recording(name=f"{number}.mp4") for number in range(8)]
    result = program.send(stub, *files, *options, *DELETE, "--json").check()
    kinds = [event["event"] for event in result.events if event["event"] in ("delivered", "removed", "kept")]
    assert kinds == ["delivered", "removed"] * 8 and len(stub.recordings) == 8
    assert not any(file.exists() for file in files)


def told_removals(result):
    return [event["event"] for event in result.events if event["event"] in ("delivered", "skipped", "removed", "kept")]


def test_a_file_that_could_not_be_removed_is_removed_by_the_next_send(hive, program, recording):
    stub, file, other = hive("asset/somebody-else=404@1"), recording(), recording(name="other.mp4")
    first = program.send(stub, file, *DELETE, "--json").check()
    assert told_removals(first) == ["delivered", "kept"] and first.events[-1]["temporary"] is True
    assert file.exists() and (program.state / f"{only_record(program).id}.remove").exists()
    assert "its file is still to be removed" in program.run("list").out
    assert program.run("list", "--json").events[0]["removal_due"] is True
    assert "1 recording delivered and still to be removed: gighive-upload list\n" in program.run("status").out
    # Without --after, nothing is asked and nothing is removed.
    assert told_removals(program.send(stub, file, "--json").check()) == ["skipped"] and file.exists()
    result = program.send(stub, file, other, *DELETE, "--json").check()
    assert sorted(told_removals(result)) == ["delivered", "removed", "removed", "skipped"]
    assert not file.exists() and not other.exists() and not list(program.state.glob("*.remove"))


def test_a_removal_is_not_due_once_another_file_has_its_name(hive, program, recording):
    stub, file, other = hive("asset/somebody-else=404@1"), recording(), recording(name="other.mp4")
    program.send(stub, file, *DELETE).check()
    other.rename(file)
    assert "still to be removed" not in program.run("list").out + program.run("status").out
    assert "removal_due" not in program.run("list", "--json").events[0]


@pytest.mark.long
def test_a_silent_server_is_asked_once_and_not_about_others(hive, program, recording):
    stub, files = hive("asset/silent"), [recording(name=f"{number}.mp4") for number in range(3)]
    result = program.send(stub, *files, *DELETE, "--json").check()
    assert len(of_kind(stub, "asset")) == 1
    said = [event for event in result.events if event["event"] == "kept"]
    assert len(said) == 3 and all(event["temporary"] and event["unanswered"] for event in said)


def test_a_removal_is_tried_again_until_it_works_or_never_will(hive, program, recording, tmp_path):
    stub, file = hive(), recording()
    with open(file, "rb"):
        for _ in range(2):
            assert kept(program.send(stub, file, *DELETE), file, "open")
    # At the second attempt, the open file is noticed before the server is asked.
    assert len(of_kind(stub, "asset")) == 1
    os.link(file, tmp_path / "second name")
    assert kept(program.send(stub, file, *DELETE), file, "hard link")
    os.unlink(tmp_path / "second name")
    # That was decided: nothing is said of it any more.
    assert "kept" not in program.send(stub, file, *DELETE).err and file.exists()


def test_a_recording_that_the_server_had_already_counts_as_delivered(hive, program, recording):
    stub, file = hive(), recording()
    copy = recording(name="copy.mp4", content=file.read_bytes())
    assert program.send(stub, file).code == 0
    result = program.send(stub, copy, "--again", *DELETE)
    assert result.code == 0 and not copy.exists() and file.exists(), result


def test_other_servers_must_be_trusted(hive, program, recording):
    stub, file = hive(), recording()
    result = program.post(stub, file, *DELETE)
    assert kept(result, file, "not GigHive", "--trust-server")
    other = recording(name="other.mp4")
    result = program.post(stub, other, *DELETE, "--trust-server")
    assert result.code == 0 and not other.exists(), result
    assert of_kind(stub, "asset") == []


def test_a_sidecar_goes_with_its_recording(hive, program, recording, tmp_path):
    (tmp_path / "sent").mkdir()
    one, two = recording(name="1.mp4"), recording(name="2.mp4")
    for file in (one, two):
        (tmp_path / f"{file.name}.upload").write_text("label = From its file\n")
    stub = hive()
    assert program.send(stub, one, *DELETE).code == 0
    assert program.send(stub, two, "--after", f"move={tmp_path}/sent").code == 0
    assert names(tmp_path) == {"sent"} and names(tmp_path / "sent") == {"2.mp4", "2.mp4.upload"}


def test_a_sidecar_that_was_not_read_stays(hive, program, recording, tmp_path):
    """It may be for the next recording of that name."""
    stub, file = hive("asset/delay-answer=1"), recording()
    sidecar = tmp_path / f"{file.name}.upload"
    running = program.start_sending(stub, file, *DELETE)
    wait_until(lambda: of_kind(stub, "asset"))
    sidecar.write_text("label = Two\n")
    result = running.wait()
    assert result.code == 0 and f"{sidecar} stays: it is not the file that described" in result.err, result
    assert not file.exists() and sidecar.read_text() == "label = Two\n"


@pytest.mark.parametrize("writes", [True, False])
def test_a_file_that_was_open_for_writing_while_it_was_sent_is_compared_before_its_removal(hive, program, recording, writes):
    """A page that is mapped and dirty can be written again without a change of any time."""
    stub, file = hive("multipart/delay-answer=1"), recording()
    content = file.read_bytes()
    with open(file, "r+b") as opened, mmap.mmap(opened.fileno(), 0) as page:
        page[0] = 1
        running = program.start_sending(stub, file, *DELETE, "--json")
        wait_until(lambda: stub.recordings)
        if writes:
            page[0] = 2
    result = running.wait()
    assert result.code == 0, result
    told = [event for event in result.events if event["event"] in ("delivered", "removed", "kept")]
    assert [event["event"] for event in told] == ["delivered", "kept" if writes else "removed"], result
    assert file.exists() == writes and (not writes or "it has changed" in told[1]["message"]), told
    assert stub.recordings[0].sha256 == hashlib.sha256(b"\x01" + content[1:]).hexdigest()


# Moving


def test_the_directory_must_be_there(hive, program, recording, tmp_path):
    stub, file = hive(), recording()
    for target in ("missing", file.name):
        result = program.send(stub, file, "--after", f"move={tmp_path / target}")
        assert result.code == 2 and "not a directory" in result.err and stub.requests == [], result
    assert names(tmp_path) == {file.name}


def test_nothing_is_tried_through_another_mount_of_the_file_system(hive, program, recording, tmp_path):
    """Its device number is the same, and a rename fails."""
    (tmp_path / "real").mkdir()
    (tmp_path / "sent").mkdir()
    if subprocess.run(["mount", "--bind", tmp_path / "real", tmp_path / "sent"], capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        stub, file = hive(), recording()
        assert kept(program.send(stub, file, "--after", f"move={tmp_path}/sent"), file, "another file system or mount")
        assert of_kind(stub, "asset") == []
    finally:
        subprocess.run(["umount", tmp_path / "sent"], check=True)


# Resuming


def test_resume_does_what_send_was_told(program, hive, recording, tmp_path):
    stub, file = hive(), recording(6_000_000)
    (tmp_path / "sent").mkdir()
    stop(program, stub, file, "--after", "move=sent", cwd=tmp_path)
    assert program.run("resume", "--all", env=PASSWORD, cwd="/").code == 0
    assert not file.exists() and names(tmp_path / "sent") == {file.name}


def test_resume_can_be_told_something_else_for_this_run(program, hive, recording):
    stub, file = hive(), recording(6_000_000)
    stop(program, stub, file, *DELETE)
    assert program.run("resume", "--all", "--after", "keep", env=PASSWORD).code == 0
    assert file.exists() and is_delivered(stub, file)


def test_a_configuration_file_can_set_what_happens_after_delivery(program, hive, recording, tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "sent").mkdir()
    (tmp_path / "conf" / "upload.conf").write_text("after = move=sent\n")
    file = recording()
    assert program.send(hive(), file, "--config", tmp_path / "conf" / "upload.conf").code == 0
    assert names(tmp_path / "conf" / "sent") == {file.name}


def test_a_removal_that_was_due_is_not_after_keep(hive, program, recording):
    """As when the process was killed between the mark and the delivery."""
    stub, file = hive("create/status=503"), recording()
    assert program.send(stub, file, *TUS, *DELETE).code == 9
    record = only_record(program)
    mark = program.state / f"{record.id}.remove"
    mark.touch()
    stub.set_faults()
    program.run("resume", record.id, "--after", "keep", env=PASSWORD).check()
    assert not mark.exists() and file.exists()


# `--ask-watcher`: a process of `watch` asks it. Another section may still need the recording.


@pytest.fixture
def asking(program, tmp_path, monkeypatch):
    """Has the program read its answers from a pipe, as the watcher starts it."""
    pipe = tmp_path / "answers"
    os.mkfifo(pipe)
    monkeypatch.setattr(program, "emulator", ["sh", "-c", 'exec 3<"$0"; exec "$@"', str(pipe), *program.emulator])

    def answer(running, answers: bytes):
        with open(pipe, "wb") as watcher:
            watcher.write(answers)
        return running.wait()

    return answer


@pytest.mark.parametrize("answers, questions, is_removed", [(b"ny", 2, True), (b"nnny", 3, False), (b"", 1, False)])
def test_only_a_yes_removes_a_delivered_recording(hive, program, recording, asking, answers, questions, is_removed):
    file = recording()
    result = asking(program.start_sending(hive(), file, *DELETE, "--json", "--ask-watcher"), answers)
    assert file.exists() != is_removed and result.code == 0, result
    assert [event["file"] for event in result.events if event["event"] == "removing"] == questions * [str(file)]
    last = result.events[-1]
    assert last["event"] == "removed" if is_removed else last["event"] == "kept" and last["temporary"], result


def test_clean_asks_about_a_path_in_the_directory_that_it_was_given(hive, program, recording, asking, tmp_path, monkeypatch):
    file, link = recording(), tmp_path / "link"
    with monkeypatch.context() as direct:
        direct.setattr(program, "emulator", [])
        program.send(hive(), file).check()
    link.symlink_to(file.parent)
    running = program.start("clean", link, "--keep-free", "1000T", "--json", "--ask-watcher", env={"GIGHIVE_PASSWORD": "secret"})
    result = asking(running, b"y")
    assert [event["file"] for event in result.events if event["event"] == "removing"] == [str(link / file.name)]
    assert not file.exists() and result.code == 15, result
