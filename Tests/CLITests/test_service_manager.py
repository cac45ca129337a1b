"""`watch` and systemd: sd_notify(3), the watchdog, the journal's priorities, the directories of a service."""

import os
import re
import signal
import socket
import tempfile
import time

import pytest
from program import wait_until
from watching import configure, has, section, status, wait_for_status, write


@pytest.fixture
def manager(request):
    """A socket as the service manager's, and its name in $NOTIFY_SOCKET: a path, unless a test asks for an abstract one."""
    with tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        name = f"{directory}/notify" if getattr(request, "param", "path") == "path" else f"@gighive-upload-{os.getpid()}-{id(listener)}"
        listener.bind(name.replace("@", "\0"))
        listener.settimeout(30)
        yield listener, name


def messages_until(listener, wanted: str) -> list[str]:
    messages = []
    while not messages or wanted not in messages[-1]:
        messages.append(listener.recv(4096).decode())
    return messages


def test_a_directory_of_another_watcher_is_waited_for(hive, watch, rec, tmp_path, manager):
    """systemd would start it again and again, and each start would say so."""
    listener, name = manager
    stub = hive()
    other = watch(stub)
    other.says("watching")
    text = section(rec, label="x") + section(tmp_path / "own", label="x")
    service = watch(
        None, "--config", configure(tmp_path, stub, text), "--state-dir", tmp_path / "service", named=False,
        env={"NOTIFY_SOCKET": name})
    messages_until(listener, "READY=1")
    first = write(tmp_path / "own" / "a.wav")
    has(stub, first)
    assert service.log.count(f"{rec} is watched by another process.") == 1
    other.stop()
    # It looks every 30 s, and when it is asked to.
    os.kill(service.pid, signal.SIGHUP)
    service.says(f"{rec} is being watched now.")
    has(stub, first, write(rec / "b.wav"))
    assert service.stop() == 0


@pytest.mark.parametrize("manager", ["path", "abstract"], indirect=True)
def test_from_ready_to_stopping(hive, watch, rec, manager):
    listener, name = manager
    watching = watch(hive(), env={"NOTIFY_SOCKET": name})
    messages = messages_until(listener, "READY=1")
    messages += messages_until(listener, "STATUS=nothing to upload")
    assert not any("WATCHDOG" in message for message in messages)
    assert watching.stop() == 0
    messages_until(listener, "STOPPING=1")


def test_a_reload_is_reported_to_the_service_manager(hive, watch, rec, manager):
    listener, name = manager
    watching = watch(hive(), env={"NOTIFY_SOCKET": name})
    messages_until(listener, "READY=1")
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    os.kill(watching.pid, signal.SIGHUP)
    (reloading,) = [message for message in messages_until(listener, "RELOADING=1") if "RELOADING" in message]
    kind, microseconds = reloading.splitlines()
    assert kind == "RELOADING=1" and microseconds.startswith("MONOTONIC_USEC=")
    assert before <= int(microseconds.split("=")[1]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    messages_until(listener, "READY=1")
    assert watching.running.process.poll() is None


def test_the_watchdog_gets_signs_of_life(hive, watch, rec, manager):
    listener, name = manager
    watch(hive(), env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "400000"})
    for _ in range(3):
        messages_until(listener, "WATCHDOG=1")


@pytest.mark.parametrize("name", [None, "/nowhere/notify", "relative", "/" + "x" * 200])
def test_a_service_manager_that_does_not_read_or_is_not_there_holds_nothing_up(hive, watch, recording, rec, manager, name):
    _, unread = manager
    stub = hive()
    watching = watch(stub, env={"NOTIFY_SOCKET": name or unread, "WATCHDOG_USEC": "2000"})
    recording(50_000, "one.wav", directory=rec)
    wait_until(lambda: len(stub.recordings) == 1, 30)
    assert watching.stop() == 0


# MARK: The journal


@pytest.fixture
def journal(program):
    """$JOURNAL_STREAM that names the log of the watcher, or another file."""
    log = program.directory / "watch.log"
    log.touch()
    return lambda other=0: {"JOURNAL_STREAM": f"{log.stat().st_dev}:{log.stat().st_ino + other}"}


@pytest.mark.parametrize("other, start", [(0, r"<[346]>"), (1, "gighive-upload: ")])
def test_the_journal_gets_priorities_and_anything_else_the_programs_name(hive, watch, recording, rec, journal, other, start):
    recording(50_000, "one.wav", directory=rec)
    watching = watch(hive(), env=journal(other))
    watching.says("one.wav: delivered.")
    assert watching.stop() == 0
    lines = watching.log.splitlines()
    assert lines and all(re.match(start, line) for line in lines), lines
    assert other or any("one.wav" in line and line.startswith("<6>") for line in lines)


# MARK: The directories of a service


def test_the_status_is_in_the_runtime_directory(hive, program, watch, rec, tmp_path):
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    watching = watch(hive(), env={"RUNTIME_DIRECTORY": str(runtime)})
    found = wait_for_status(program)
    assert found["watching"] is True and found["pid"] == watching.pid
    assert [path.name for path in runtime.iterdir()] == ["status.json"]
    assert (runtime / "status.json").stat().st_mode & 0o777 == 0o600
    assert watching.stop() == 0
    assert list(runtime.iterdir()) == [] and status(program)["watching"] is False


def test_a_watcher_that_was_killed_is_not_watching(hive, program, watch, rec):
    watching = watch(hive())
    wait_for_status(program)
    watching.kill()
    assert status(program) == {"watching": False, "pending_count": 0, "failed_count": 0, "removal_due_count": 0}
    watch(hive())
    assert wait_for_status(program)["watching"] is True
