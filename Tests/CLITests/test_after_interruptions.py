"""Removals that are interrupted, or that another program gets in the way of: no recording is lost."""

import contextlib
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
from program import wait_until
from records import only_record, records
from removals import DELETE, kept, names
from uploads import PASSWORD

CALLS = "open,openat,fsync,pwrite64,renameat2,rename,unlink,unlinkat,ftruncate,fcntl,stat,lstat,newfstatat,fstat,close"


def traced(program, stub, file, *options, inject: str = "") -> tuple[int, list[str]]:
    """The exit code of an upload with a new state directory, and its calls."""
    program.state_home = Path(tempfile.mkdtemp(dir=program.directory.parent))
    log = program.state_home / "calls"
    arguments = [*program.command, *map(str, program.sending(stub, file, *options))]
    trace = ["strace", "-f", "-qq", "-o", log, "-e", f"trace={CALLS}", *(["-e", inject] if inject else [])]
    done = subprocess.run(
        [*trace, *arguments], env=program.environment(PASSWORD), cwd=program.directory, capture_output=True, timeout=60)
    return done.returncode, re.findall(r"^[0-9]+ +([a-z0-9]+\(.*)", log.read_text(), re.MULTILINE)


def each_call_of_a_removal(program, stub, recording, sent, how: str, fault: str, code: int):
    """Lets each call of a removal go wrong once, each with a file of its own. Gives the call, the file and its content."""
    options = ["--after", "delete" if how == "delete" else f"move={sent}"]
    worked, calls = traced(program, stub, recording(name="sample.mp4"), *options)
    assert worked == 0
    first = next(number for number, call in enumerate(calls) if "F_SETLEASE, F_WRLCK" in call)
    kinds = [call.partition("(")[0] for call in calls]
    for number in range(first, len(calls)):
        file = recording(name=f"{number}.mp4")
        content = file.read_bytes()
        when = kinds[:number + 1].count(kinds[number])
        ended, _ = traced(program, stub, file, *options, inject=f"inject={kinds[number]}:{fault}:when={when}")
        assert ended == code, (calls[number], ended)
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
    for call, file, content in each_call_of_a_removal(
        program, stub, recording, sent, how, "signal=KILL", -signal.SIGKILL):
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


@pytest.mark.long
@pytest.mark.native
@pytest.mark.parametrize("how", ["delete", "move"])
def test_a_failure_of_any_call_of_a_removal_loses_no_file(hive, program, recording, tmp_path, how):
    sent = tmp_path / "sent"
    sent.mkdir()
    kept = 0
    for call, file, content in each_call_of_a_removal(program, hive(), recording, sent, how, "error=EIO", 0):
        assert not is_hidden(tmp_path), (call, names(tmp_path))
        now = [place.read_bytes() for place in places(file, sent)]
        assert now in ([content], [] if how == "delete" else [content]), call
        kept += file.exists()
    assert kept >= 5


def has_lease(file) -> bool:
    return re.search(rf"LEASE +ACTIVE +WRITE .*:{os.stat(file).st_ino} ", Path("/proc/locks").read_text()) is not None


@pytest.mark.native
@pytest.mark.parametrize("how", ["delete", "move", "clean"])
def test_each_step_of_a_removal_is_on_the_disk_before_the_next(hive, program, recording, tmp_path, how):
    stub, file, sent, log = hive(), recording(), tmp_path / "sent", tmp_path / "calls"
    sent.mkdir()
    if how == "clean":
        assert program.send(stub, file).code == 0
        arguments = ["clean", tmp_path, "--keep-free", "1000000G", "--quiet"]
    else:
        arguments = program.sending(stub, file, "--after", "delete" if how == "delete" else f"move={sent}")
    trace = ["strace", "-f", "-y", "-qq", "-o", log, "-e", "trace=fsync,rename,renameat2,unlink,unlinkat"]
    done = subprocess.run(
        [*trace, *program.command, *map(str, arguments)], env=program.environment(PASSWORD), cwd=program.directory,
        capture_output=True, timeout=60)
    assert done.returncode == (15 if how == "clean" else 0), done
    # The call and the last file in it: a name may follow the descriptor of its directory.
    calls = []
    for call, rest in re.findall(r"^[0-9]+ +([a-z0-9]+)\((.*)\) += 0$", log.read_text(), re.MULTILINE):
        parts = re.findall(r'<(/[^>]*)>|"([^"]*)"', rest)
        (at, _), (_, name) = ([part for part in parts if part[0]] or [("/", "")])[-1], parts[-1]
        calls.append((call, Path(at) / name))
    record = only_record(program).file
    hidden = tmp_path / f".gighive-upload-{record.stem}"
    # Before that, the journal is made.
    begin = len(calls) - 1 - calls[::-1].index(("fsync", program.state / "removals"))
    delivered = ("fsync" if how == "clean" else "rename", record)
    assert ("fsync", program.state) in calls[calls.index(delivered):begin], calls
    steps = [("fsync", program.state / "removals"), ("fsync", program.state), ("renameat2", hidden)]
    steps += [("renameat2", sent / file.name), ("fsync", sent)] if how == "move" else [("unlinkat", hidden)]
    assert calls[begin:begin + len(steps) + 1] == [*steps, ("fsync", tmp_path)], calls


def changes(program, *arguments, inject: str = "") -> list[tuple[str, tuple[str, str]]]:
    """The calls that change or sync a file, with the path of the last descriptor and the text behind that."""
    log = Path(tempfile.mkdtemp(dir=program.directory.parent)) / "calls"
    trace = ["strace", "-f", "-y", "-qq", "-o", log, "-e", "trace=fsync,pwrite64,linkat,unlinkat,renameat,renameat2"]
    subprocess.run(
        [*trace, *(["-e", inject] if inject else []), *program.command, *map(str, arguments)],
        env=program.environment(PASSWORD), cwd=program.directory, capture_output=True, timeout=60, check=True)
    found = re.findall(r"^[0-9]+ +([a-z0-9]+)\((.*)\) += [0-9]+$", log.read_text(), re.MULTILINE)
    return [(call, re.findall(r'<(/[^>]*)>(?:, "([^"]*)")?', rest)[-1]) for call, rest in found]


@pytest.mark.native
def test_where_a_rename_can_replace_a_file_none_is_lost(hive, program, recording, tmp_path):
    """Without RENAME_NOREPLACE, link(2) tells whether the way back is open, and only a name of the program's own is unlinked: another
    file can have taken the recording's. The new name is on the disk first: a power cut could leave none."""
    file, sent = recording(), tmp_path / "sent"
    sent.mkdir()
    calls = changes(
        program, *program.sending(hive(), file, "--after", f"move={sent}"), inject="inject=renameat2:error=EINVAL")
    hidden = (str(tmp_path), f".gighive-upload-{only_record(program).id}")
    at = calls.index(("linkat", hidden))
    assert calls[at + 1:at + 3] == [("unlinkat", hidden), ("renameat", hidden)], calls
    at = calls.index(("linkat", (str(sent), file.name)))
    assert calls[at + 1:at + 3] == [("fsync", (str(sent), "")), ("unlinkat", hidden)], calls
    assert not file.exists() and (sent / file.name).exists() and not is_hidden(tmp_path)


@pytest.mark.native
def test_what_a_removal_did_before_a_kill_is_on_the_disk_before_its_note_is_gone(hive, program, recording, tmp_path):
    """Otherwise a power cut can bring back the private name, of which nothing knows any more."""
    stub, file = hive(), recording()
    assert program.send(stub, file).code == 0
    file.unlink()
    journal = write_journal(program, only_record(program).id, file)
    calls = changes(program, *program.sending(stub, recording(name="next.mp4")))
    at = next(at for at, (call, (path, _)) in enumerate(calls) if call == "pwrite64" and path == str(journal))
    assert ("fsync", (str(tmp_path), "")) in calls[:at], calls
    assert journal.read_bytes().strip() == b""


@contextlib.contextmanager
def paused_at_the_rename(program, stub, file, *options):
    """Sends the file, and is entered when the program is about to give it its private name."""
    log = Path(tempfile.mkdtemp(dir=program.directory.parent)) / "calls"
    arguments = [*program.command, *map(str, program.sending(stub, file, "--progress", "none", *options))]
    trace = ["strace", "-f", "-qq", "-o", log, "-e", "trace=renameat2"]
    with subprocess.Popen(
        [*trace, "-e", "inject=renameat2:delay_enter=2000000:when=1", *arguments], env=program.environment(PASSWORD),
        cwd=program.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # It is taken for the last time just before the rename, when the journal is written.
        journal = program.state / "removals"
        wait_until(lambda: journal.exists() and journal.read_bytes().strip() and has_lease(file), what="the lease")
        yield process
        process.out, process.err = process.communicate(timeout=60)
    assert process.returncode == 0 and "renameat2(" in log.read_text(), process.err


@pytest.mark.native
def test_another_file_that_takes_the_name_at_the_last_moment_gets_it_back(hive, program, recording, tmp_path):
    file, other = recording(), recording(name="other.mp4", content=b"other")
    with paused_at_the_rename(program, hive(), file, *DELETE) as process:
        os.replace(other, file)
    assert "gig.mp4 was kept: its path is a link, or now points to another file" in process.err, process.err
    assert file.read_bytes() == b"other" and not any(name.startswith(".gighive") for name in names(tmp_path))


@pytest.mark.native
def test_who_opens_the_file_at_the_last_moment_keeps_it(hive, program, recording, tmp_path):
    file = recording()
    content = file.read_bytes()
    with paused_at_the_rename(program, hive(), file, *DELETE) as process:
        with pytest.raises(BlockingIOError):
            os.open(file, os.O_WRONLY | os.O_NONBLOCK)
    assert "gig.mp4 was kept: another program has it open." in process.err, process.err
    assert file.read_bytes() == content and not any(name.startswith(".gighive") for name in names(tmp_path))


@pytest.mark.native
def test_a_writer_that_comes_at_the_last_moment_loses_nothing(hive, program, recording):
    """It waits for the lease to end, and writes to the file under its own name."""
    file = recording()
    content = file.read_bytes()
    with paused_at_the_rename(program, hive(), file, *DELETE) as process:
        writer = subprocess.Popen(["sh", "-c", 'printf more >> "$0"', str(file)])
        time.sleep(0.2)
        assert writer.poll() is None
    assert writer.wait(60) == 0
    assert "gig.mp4 was kept" in process.err and file.read_bytes() == content + b"more", process.err


def test_where_open_files_cannot_be_seen_the_user_must_vouch(hive, program, recording, nobody):
    """As nobody, without CAP_LEASE, in a directory of nobody's with a file of root's."""
    stub = hive()
    home, settings = nobody
    file = recording(directory=home)
    assert kept(program.send(stub, file, *DELETE, **settings), file, "cannot tell", "--trust-settle")
    other = recording(name="other.mp4", directory=home)
    result = program.send(stub, other, *DELETE, "--trust-settle", **settings)
    assert result.code == 0 and not other.exists(), result


def test_a_name_that_is_taken_by_then_gets_a_number(hive, program, recording, tmp_path):
    """A recorder used the name again after the kill."""
    stub, file = hive(), recording(content=b"first")
    assert program.send(stub, file).code == 0
    record = only_record(program)
    file.rename(tmp_path / f".gighive-upload-{record.id}")
    write_journal(program, record.id, file)
    file.write_bytes(b"second")
    result = program.send(stub, file)
    assert result.code == 0 and "gig.1.mp4 is back" in result.err, result
    assert file.read_bytes() == b"second" and (tmp_path / "gig.1.mp4").read_bytes() == b"first"
    assert (program.state / "removals").read_bytes().strip() == b""


@pytest.mark.parametrize("damage", ["torn", "none"])
def test_a_damaged_note_renames_nothing(hive, program, recording, tmp_path, damage):
    stub, file = hive(), recording()
    assert program.send(stub, file).code == 0
    record = only_record(program)
    hidden = tmp_path / f".gighive-upload-{record.id}"
    hidden.write_bytes(b"hidden")
    journal = write_journal(program, record.id, tmp_path / "other.mp4")
    line = journal.read_bytes()
    journal.write_bytes({"torn": line[:-5], "none": line}[damage])
    assert program.send(stub, recording(name="next.mp4")).code == 0
    assert hidden.exists() == (damage != "none") and (tmp_path / "other.mp4").exists() == (damage == "none")


def write_journal(program, id: str, file):
    """The note of a removal that was interrupted, as docs/after.md describes it."""
    text = json.dumps({"id": id, "file": str(file), "device": str(os.stat(file.parent).st_dev)}, separators=(",", ":")).encode()
    journal = program.state / "removals"
    journal.write_bytes(b"\n%08x %s\n" % (zlib.crc32(text), text))
    return journal


def test_two_processes_remove_their_files_one_after_the_other(hive, program, recording):
    """Each takes the lock for a moment; whoever does not get it keeps its file."""
    stub, files = hive(), [recording(name=f"{number}.mp4") for number in range(6)]
    runs = [program.start_sending(stub, file, *DELETE) for file in files]
    results = [run.wait() for run in runs]
    assert all(result.code == 0 for result in results)
    for file, result in zip(files, results):
        assert file.exists() == ("another process" in result.err)
    assert {record.phase for record in records(program)} == {"delivered"}
