"""`watch` and systemd: sd_notify(3), the watchdog, the journal's priorities, the directories of a service."""

import os
import signal
import socket
import tempfile
import time

import pytest
from program import wait_until
from watchers import start_watching, status, wait_for_status


@pytest.fixture(params=["path", "abstract"])
def manager(request):
    """A socket as the service manager's, and its name in $NOTIFY_SOCKET."""
    with tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        name = f"{directory}/notify" if request.param == "path" else f"@gighive-upload-{os.getpid()}-{id(listener)}"
        listener.bind(name.replace("@", "\0"))
        listener.settimeout(30)
        yield listener, name


def messages_until(listener, wanted: str) -> list[str]:
    messages = []
    while not messages or wanted not in messages[-1]:
        messages.append(listener.recv(4096).decode())
    return messages


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree"
    path.mkdir()
    return path


def test_from_ready_to_stopping(hive, program, recording, tree, manager):
    listener, name = manager
    watcher = start_watching(program, hive(), tree, env={"NOTIFY_SOCKET": name})
    messages = messages_until(listener, "READY=1")
    messages += messages_until(listener, "STATUS=nothing to upload")
    assert not any("WATCHDOG" in message for message in messages)
    watcher.signal(signal.SIGTERM)
    messages_until(listener, "STOPPING=1")
    assert watcher.wait().code == 0


def test_the_status_says_what_waits(hive, program, recording, tree, manager):
    listener, name = manager
    start_watching(program, hive("status=401"), tree, env={"NOTIFY_SOCKET": name})
    messages_until(listener, "READY=1")
    recording(50_000, "one.wav", directory=tree)
    last = messages_until(listener, "paused")[-1]
    assert last.startswith("STATUS=1 waiting (50.0 kB); http://127.0.0.1:"), last


def test_a_reload_is_told(hive, program, tree, manager, tmp_path):
    listener, name = manager
    watcher = start_watching(program, hive(), tree, env={"NOTIFY_SOCKET": name})
    messages_until(listener, "READY=1")
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    watcher.process.send_signal(signal.SIGHUP)
    (reloading,) = [message for message in messages_until(listener, "RELOADING=1") if "RELOADING" in message]
    kind, microseconds = reloading.splitlines()
    assert kind == "RELOADING=1" and microseconds.startswith("MONOTONIC_USEC=")
    assert before <= int(microseconds.split("=")[1]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    messages_until(listener, "READY=1")
    assert watcher.process.poll() is None


def test_the_watchdog_gets_signs_of_life(hive, program, tree, manager):
    listener, name = manager
    start_watching(program, hive(), tree, env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "400000"})
    for _ in range(3):
        messages_until(listener, "WATCHDOG=1")


def test_the_watchdog_of_another_process_gets_none(hive, program, tree, manager):
    listener, name = manager
    start_watching(program, hive(), tree, env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"})
    messages_until(listener, "STATUS=")
    listener.settimeout(1)
    with pytest.raises(TimeoutError):
        messages_until(listener, "WATCHDOG=1")


def test_a_service_manager_that_does_not_read_holds_nothing_up(hive, program, recording, tree, manager):
    listener, name = manager
    stub = hive()
    watcher = start_watching(program, stub, tree, env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000"})
    recording(50_000, "one.wav", directory=tree)
    wait_until(lambda: len(stub.recordings) == 1, 30)
    watcher.signal(signal.SIGTERM)
    assert watcher.wait().code == 0


@pytest.mark.parametrize("name", ["/nowhere/notify", "relative", "/" + "x" * 200])
def test_a_socket_that_is_not_there_is_ignored(hive, program, recording, tree, name):
    stub = hive()
    start_watching(program, stub, tree, env={"NOTIFY_SOCKET": name})
    recording(50_000, "one.wav", directory=tree)
    wait_until(lambda: len(stub.recordings) == 1, 30)


# MARK: The journal


def watch_with_log(program, stub, tree, tmp_path, **changes) -> str:
    """The log of a watcher that delivers one recording; its file is standard error."""
    log = tmp_path / "log"
    with log.open("wb") as file:
        state = os.fstat(file.fileno())
        journal = f"{state.st_dev}:{state.st_ino + changes.get('other', 0)}"
        watcher = start_watching(program, stub, tree, env={"JOURNAL_STREAM": journal}, stderr=file)
    wait_until(lambda: len(stub.recordings) == 1, 30)
    wait_for_status(program, lambda found: found["groups"][0]["delivered_count"] == 1)
    watcher.signal(signal.SIGTERM)
    assert watcher.wait().code == 0
    return log.read_text()


def test_the_journal_gets_priorities(hive, program, recording, tree, tmp_path):
    recording(50_000, "one.wav", directory=tree)
    lines = watch_with_log(program, hive(), tree, tmp_path).splitlines()
    assert lines and all(line[:3] in ("<3>", "<4>", "<6>") for line in lines), lines
    assert any("one.wav" in line and line.startswith("<6>") for line in lines)


def test_anything_else_gets_the_programs_name(hive, program, recording, tree, tmp_path):
    recording(50_000, "one.wav", directory=tree)
    lines = watch_with_log(program, hive(), tree, tmp_path, other=1).splitlines()
    assert lines and all(line.startswith("gighive-upload: ") for line in lines), lines


def test_an_error_has_its_priority(hive, program, recording, tree, tmp_path):
    log = tmp_path / "log"
    with log.open("wb") as file:
        state = os.fstat(file.fileno())
        stub = hive("status=401")
        start_watching(program, stub, tree, "--quiet", env={"JOURNAL_STREAM": f"{state.st_dev}:{state.st_ino}"}, stderr=file)
    recording(50_000, "one.wav", directory=tree)
    wait_for_status(program, lambda found: found["groups"][0]["state"] == "paused")
    lines = log.read_text().splitlines()
    assert lines and all(line.startswith("<3>") for line in lines), lines


# MARK: The directories of a service


def test_the_status_is_in_the_runtime_directory(hive, program, tree, tmp_path):
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    watcher = start_watching(program, hive(), tree, env={"RUNTIME_DIRECTORY": str(runtime)})
    found = wait_for_status(program, lambda found: True)
    assert found["watching"] is True and found["pid"] == watcher.pid
    assert [path.name for path in runtime.iterdir()] == ["status.json"]
    assert (runtime / "status.json").stat().st_mode & 0o777 == 0o600
    watcher.signal(signal.SIGTERM)
    assert watcher.wait().code == 0
    assert list(runtime.iterdir()) == [] and status(program)["watching"] is False


def test_a_watcher_that_was_killed_is_not_watching(hive, program, tree):
    watcher = start_watching(program, hive(), tree)
    wait_for_status(program, lambda found: True)
    watcher.process.kill()
    watcher.wait()
    assert status(program) == {"watching": False, "pending_count": 0, "failed_count": 0}
    start_watching(program, hive(), tree)
    assert wait_for_status(program, lambda found: True)["watching"] is True


def test_each_state_directory_has_its_own_watcher(hive, program, tree, tmp_path):
    other = tmp_path / "other tree"
    other.mkdir()
    start_watching(program, hive(), tree)
    start_watching(program, hive(), other, "--state-dir", tmp_path / "other state")
    first = wait_for_status(program, lambda found: True)
    second = wait_for_status(program, lambda found: True, "--state-dir", tmp_path / "other state")
    assert first["groups"][0]["directories"][0]["directory"] == str(tree)
    assert second["groups"][0]["directories"][0]["directory"] == str(other)


def test_nothing_is_written_while_nothing_changes(hive, program, recording, tree, tmp_path):
    stub = hive()
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    recording(50_000, "one.wav", directory=tree)
    start_watching(program, stub, tree, env={"RUNTIME_DIRECTORY": str(runtime)})
    wait_for_status(program, lambda found: found["groups"][0]["delivered_count"] == 1)
    before = (runtime / "status.json").stat().st_ino
    time.sleep(7)
    assert (runtime / "status.json").stat().st_ino == before
