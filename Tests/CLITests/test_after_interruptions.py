"""Removals that are interrupted, or that another program gets in the way of: no recording is lost."""

import hashlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import pytest
from program import strace, wait_until
from records import only_record
from removals import DELETE, calls_on_names, follows, kept, names
from uploads import of_kind

CALLS = "open,openat,fsync,pwrite64,renameat2,rename,unlink,unlinkat,ftruncate,fcntl,stat,lstat,newfstatat,fstat,close"


def traced(program, stub, file, *options, inject: str = "") -> tuple[int, list[str]]:
    """The exit code of an upload with a new state directory, and its calls."""
    program.state_home = Path(tempfile.mkdtemp(dir=program.directory.parent))
    log = program.state_home / "calls"
    trace = strace("-e", f"trace={CALLS}", *(["-e", inject] if inject else []), log=log)
    done = program.send(stub, file, *options, retries=None, under=trace)
    return done.code, re.findall(r"^[0-9]+ +([a-z0-9]+\(.*)", log.read_text(), re.MULTILINE)


def killed_at_each_call_of_a_removal(program, stub, recording, sent, how: str):
    """Kills a removal at each call, each time with a file of its own. Gives the call, the file and its content."""
    options = ["--after", "remove" if how == "delete" else f"move={sent}"]
    worked, calls = traced(program, stub, recording(name="sample.mp4"), *options)
    assert worked == 0
    first = next(number for number, call in enumerate(calls) if "F_SETLEASE, F_WRLCK" in call)
    kinds = [call.partition("(")[0] for call in calls]
    for number in range(first, len(calls)):
        file = recording(name=f"{number}.mp4")
        content = file.read_bytes()
        when = kinds[:number + 1].count(kinds[number])
        ended, _ = traced(program, stub, file, *options, inject=f"inject={kinds[number]}:signal=KILL:when={when}")
        assert ended == -signal.SIGKILL, (calls[number], ended)
        yield calls[number], file, content


def is_hidden(directory) -> bool:
    return any(name.startswith(".gighive-upload-") for name in names(directory))


def places(file, sent) -> list:
    return [place for place in (file, sent / file.name) if place.exists()]


@pytest.mark.long
@pytest.mark.native
@pytest.mark.parametrize("how", ["delete", "move"])
def test_a_kill_at_any_call_of_a_removal_loses_no_file(hive, program, recording, tmp_path, how):
    sent = tmp_path / "sent"
    sent.mkdir()
    stub = hive()
    found = {"hidden": 0, "there": 0, "removed": 0}
    for call, file, content in killed_at_each_call_of_a_removal(program, stub, recording, sent, how):
        hidden = is_hidden(tmp_path)
        # The next start puts right what was left.
        program.send(stub, recording(name="next.mp4")).check()
        assert not is_hidden(tmp_path), (call, names(tmp_path))
        journal = program.state / "removals"
        assert not journal.exists() or journal.read_bytes().strip() == b""
        now = [place.read_bytes() for place in places(file, sent)]
        assert now in ([content], [] if how == "delete" else [content]), call
        # What is gone, or somewhere else, was delivered and on the server.
        assert hashlib.sha256(content).hexdigest() in [stored.sha256 for stored in stub.recordings]
        found["hidden" if hidden else "there" if file.exists() else "removed"] += 1
    assert all(found.values()), found


@pytest.mark.native
def test_a_kill_loses_no_file_whose_directory_was_renamed(hive, program, recording, tmp_path):
    """The file itself is as it was delivered, so that its record still has the former directory."""
    stub, night, card = hive(), tmp_path / "night", tmp_path / "card"
    night.mkdir()
    file = recording(directory=night)
    content = file.read_bytes()
    time.sleep(2.1)  # Only a time that is past shows that nothing has changed since.
    with file.open():
        assert kept(program.send(stub, file, *DELETE), file, "another program has it open")
    night.rename(card)
    file = card / file.name
    killed = program.send(stub, file, *DELETE, under=strace("-e", "trace=unlinkat", "-e", "inject=unlinkat:signal=KILL"))
    assert killed.code == -signal.SIGKILL and is_hidden(card), killed
    program.send(stub, recording(name="next.mp4")).check()
    assert file.read_bytes() == content, names(card)
    assert program.send(stub, file, *DELETE).code == 0 and not names(card)


def test_a_due_removal_follows_a_new_name(hive, program, recording, tmp_path):
    """The file is renamed while the server is asked about another one."""
    stub = hive("asset/delay-answer=1")
    first, second = recording(name="1.mp4"), recording(name="2.mp4")
    with first.open(), second.open():
        assert kept(program.send(stub, first, second, *DELETE), second, "another program has it open")
    asked = len(of_kind(stub, "asset"))
    running = program.start_sending(stub, first, second, *DELETE)
    wait_until(lambda: len(of_kind(stub, "asset")) > asked, what="the question")
    third = second.rename(tmp_path / "3.mp4")
    assert "2.mp4 was kept: it was renamed, moved or removed in the meantime." in running.wait().err
    assert not first.exists()
    assert program.send(stub, third, *DELETE).code == 0 and not third.exists()


def has_lease(file, state="ACTIVE +WRITE") -> bool:
    return re.search(rf"LEASE +{state} .*:{os.stat(file).st_ino} ", Path("/proc/locks").read_text()) is not None


@pytest.mark.native
@pytest.mark.parametrize("how", ["delete", "move", "clean"])
def test_each_step_of_a_removal_is_on_the_disk_before_the_next(hive, program, recording, tmp_path, how):
    stub, file, sent = hive(), recording(), tmp_path / "sent"
    sent.mkdir()
    if how == "move":
        (tmp_path / "gig.mp4.upload").write_text("label = Encore\n")
    if how == "clean":
        assert program.send(stub, file).code == 0
        arguments = ["clean", tmp_path, "--keep-free", "1000000G", "--quiet"]
    else:
        arguments = program.sending(stub, file, "--after", "remove" if how == "delete" else f"move={sent}")
    code, calls = calls_on_names(program, arguments)
    assert code == (15 if how == "clean" else 0), calls
    record = only_record(program).file
    hidden = tmp_path / f".gighive-upload-{record.stem}"
    # Before that, the journal is made.
    begin = len(calls) - 1 - calls[::-1].index(("fsync", program.state / "removals"))
    delivered = ("fsync" if how == "clean" else "rename", record)
    assert ("fsync", program.state) in calls[calls.index(delivered):begin], calls
    # Its content comes before its name.
    before, written = calls[calls.index(delivered) - 1]
    assert how == "clean" or (before, written.stem) == ("fsync", record.stem), calls
    steps = [("fsync", program.state / "removals"), ("fsync", program.state), ("renameat2", hidden)]
    moved = [(call, sent / name) for name in (file.name, f"{file.name}.upload") for call in ("renameat2", "fsync")]
    steps += [*moved, ("fsync", sent)] if how == "move" else [("unlinkat", hidden)]
    assert calls[begin:begin + len(steps) + 1] == [*steps, ("fsync", tmp_path)], calls


@pytest.mark.native
@pytest.mark.parametrize("how", ["at once", "by the next start", "with both names"])
def test_a_recording_that_has_its_name_back_keeps_it_and_its_content(hive, program, recording, tmp_path, how):
    """FAT writes the length of a renamed file only with the file."""
    stub, file, fault = hive(), recording(), []
    arguments = program.sending(stub, file, *(DELETE if how == "at once" else []))
    if how == "at once":
        fault = ["-e", "inject=unlinkat:error=EIO:when=1"]
    else:
        assert program.send(stub, file).code == 0
        id = only_record(program).id
        write_journal(program, id, file)
        hidden = tmp_path / f".gighive-upload-{id}"
        (os.link if how == "with both names" else os.rename)(file, hidden)
    code, calls = calls_on_names(program, arguments, *fault)
    assert code == 0 and file.exists() and not is_hidden(tmp_path), calls
    named = [("unlinkat", hidden)] if how == "with both names" else [("renameat2", file), ("fsync", file)]
    assert follows(calls, *named, ("fsync", tmp_path)), calls


@pytest.mark.native
@pytest.mark.parametrize("call", ["renameat2", "unlinkat"])
def test_a_recording_on_a_disk_that_was_read_only_is_removed_by_the_next_run(hive, program, recording, call):
    """As ext4 mounts it after an error, until it is repaired."""
    stub, file = hive(), recording()
    trace = strace("-e", f"trace={call}", "-e", f"inject={call}:error=EROFS:when=1")
    assert kept(program.send(stub, file, *DELETE, under=trace), file, "could not be removed: Read-only file system.")
    assert program.send(stub, file, *DELETE).code == 0 and not file.exists()


@pytest.mark.native
def test_the_reserve_for_a_full_disk_is_on_the_disk(hive, program, recording, tmp_path):
    stub = hive()
    assert program.send(stub, recording()).code == 0
    code, calls = calls_on_names(program, ["clean", tmp_path, "--keep-free", "1k"])
    assert code == 0 and ("fsync", program.state / "removals") in calls, calls
    ballast = [program.state / f"ballast.{number}" for number in range(8)]
    assert follows(calls, *(("fsync", part) for part in ballast), ("fsync", program.state)), calls
    # And is free there before it is used: on FAT, one cluster could have two files.
    fault = ["-e", "inject=renameat2:error=ENOSPC:when=1"]
    code, calls = calls_on_names(program, program.sending(stub, recording(name="next.mp4"), *DELETE), *fault)
    given = [("unlink", part) for part in reversed(ballast)]
    assert follows(calls, *given, ("fsync", program.state)) and not (tmp_path / "next.mp4").exists(), calls


@pytest.mark.native
def test_no_file_is_lost_if_a_rename_can_replace_it(hive, program, recording, tmp_path):
    """Without RENAME_NOREPLACE, link(2) tells whether the way back is open, and only a name of the program's own is unlinked: another
    file can have taken the recording's. The new name is on the disk first: a power cut could leave none."""
    file, sent = recording(), tmp_path / "sent"
    sent.mkdir()
    arguments = program.sending(hive(), file, "--after", f"move={sent}")
    code, calls = calls_on_names(program, arguments, "-e", "inject=renameat2:error=EINVAL")
    hidden = tmp_path / f".gighive-upload-{only_record(program).id}"
    assert code == 0 and follows(calls, ("linkat", hidden), ("unlinkat", hidden), ("renameat", hidden)), calls
    assert follows(calls, ("linkat", sent / file.name), ("fsync", sent), ("unlinkat", hidden)), calls
    assert not file.exists() and (sent / file.name).exists() and not is_hidden(tmp_path)


@pytest.mark.native
def test_a_file_system_that_can_only_replace_files_keeps_them(hive, program, recording):
    faults = ["-e", "inject=renameat2:error=EINVAL", "-e", "inject=linkat:error=EPERM"]
    file = recording()
    result = program.send(hive(), file, *DELETE, under=strace("-e", "trace=renameat2,linkat", *faults))
    assert kept(result, file, "its file system cannot rename a file without overwriting another one."), result


@pytest.mark.native
def test_the_steps_of_a_removal_are_on_the_disk_before_its_note_is_gone(hive, program, recording, tmp_path):
    """Otherwise a power cut can bring back the private name, of which nothing knows any more."""
    stub, file = hive(), recording()
    assert program.send(stub, file).code == 0
    file.unlink()
    journal = write_journal(program, only_record(program).id, file)
    code, calls = calls_on_names(program, program.sending(stub, recording(name="next.mp4")), also="pwrite64")
    assert code == 0 and ("fsync", tmp_path) in calls[:calls.index(("pwrite64", journal))], calls
    assert journal.read_bytes().strip() == b""


@pytest.mark.native
def test_a_writer_that_comes_at_the_last_moment_loses_nothing(hive, program, recording, tmp_path):
    """It waits for the lease to end, and writes to the file under its own name."""
    file, journal, log = recording(), program.state / "removals", tmp_path / "calls"
    content = file.read_bytes()
    # It pauses when it is about to give the file its private name.
    trace = strace("-e", "trace=renameat2", "-e", "inject=renameat2:delay_enter=2000000:when=1", log=log)
    running = program.start_sending(hive(), file, *DELETE, under=trace)
    # The lease is taken for the last time just before the rename, when the journal is written.
    wait_until(lambda: journal.exists() and journal.read_bytes().strip() and has_lease(file), what="the lease")
    writer = subprocess.Popen(["sh", "-c", 'printf more >> "$0"', str(file)])
    wait_until(lambda: has_lease(file, "BREAKING"), what="a writer that waits")
    assert writer.poll() is None
    result = running.wait().check()
    assert writer.wait(60) == 0 and "renameat2(" in log.read_text(), result
    assert kept(result, file) and file.read_bytes() == content + b"more", result


def test_the_user_must_vouch_if_open_files_cannot_be_detected(hive, program, recording, nobody):
    """As nobody, without CAP_LEASE, in a directory of nobody's with a file of root's."""
    stub = hive()
    home, settings = nobody
    file = recording(directory=home)
    assert kept(program.send(stub, file, *DELETE, **settings), file, "cannot tell", "--set", "trust-settle=yes")
    other = recording(name="other.mp4", directory=home)
    result = program.send(stub, other, *DELETE, "--set", "trust-settle=yes", **settings)
    assert result.code == 0 and not other.exists(), result


def write_journal(program, id: str, file):
    """The note of a removal that was interrupted, as docs/removal.md describes it."""
    text = json.dumps({"id": id, "file": str(file), "device": str(os.stat(file.parent).st_dev)}, separators=(",", ":")).encode()
    journal = program.state / "removals"
    journal.write_bytes(b"\n%08x %s\n" % (zlib.crc32(text), text))
    return journal


def test_clean_undoes_an_interrupted_removal_although_there_is_enough_space(hive, program, recording, tmp_path):
    file = recording()
    assert program.send(hive(), file).code == 0
    id = only_record(program).id
    journal = write_journal(program, id, file)
    file.rename(tmp_path / f".gighive-upload-{id}")
    assert program.run("clean", tmp_path, "--keep-free", "1", "--dry-run").code == 0 and not file.exists()
    result = program.run("clean", tmp_path, "--keep-free", "1")
    assert result.code == 0 and f"an interrupted removal was undone: {file} is back." in result.err and file.exists(), result
    assert journal.read_bytes().strip() == b""
