"""`watch` and SIGHUP: new options apply where they have changed, and nothing else stops."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import strace, wait_until
from watching import configure, got, has, reload, section, times_sent, wait_for_status, write


def body_has_begun(stub, count: int = 1) -> None:
    wait_until(lambda: sum(request.body_bytes > 0 for request in stub.requests) == count, what="a part of a body")


@pytest.mark.long
def test_a_section_that_has_not_changed_goes_on_with_its_upload(hive, watch, tmp_path):
    slow, stub = hive("multipart/slow-read=600000"), hive()
    text = section(tmp_path / "one", server=slow.url, user="uploader", label="One") + section(tmp_path / "two", label="{}")
    first = write(tmp_path / "one" / "a.wav", 6_000_000)
    (tmp_path / "two").mkdir()
    watching = watch(None, "--config", configure(tmp_path, stub, text.format("Before")), named=False)
    body_has_begun(slow)
    (worker,) = watching.workers
    configure(tmp_path, stub, text.format("After"))
    reload(watching)
    second = write(tmp_path / "two" / "b.wav")
    has(stub, second)
    assert got(stub) == ["After"] and not slow.recordings and worker in watching.workers
    has(slow, first)
    assert times_sent(slow) == 1
    watching.stop()


@pytest.mark.long
def test_a_form_is_completed_with_the_former_options_and_nothing_else_is_sent_meanwhile(hive, watch, program, rec, tmp_path):
    # The status is written every five seconds.
    stub = hive("multipart/slow-read=1000000@2-2")
    early = write(rec / "early.wav")
    watching = watch(None, "--config", configure(tmp_path, stub, "label = Before\n"))
    has(stub, early)
    early.unlink()
    first = write(rec / "a.wav", 8_000_000)
    body_has_begun(stub, count=2)
    configure(tmp_path, stub, "label = After\n")
    reload(watching)
    watching.says("Uploads that end with the former options: 1.")
    write(rec / "b.wav")
    shown = wait_for_status(program, lambda found: found["groups"][0]["state"] == "waiting_for_former_upload")
    (group,) = shown["groups"]
    assert [upload["file"] for upload in group["uploads"]] == [str(first)] and group["waiting_count"] == 1
    # What was delivered with the former options counts, too.
    assert group["delivered_count"] == len(stub.recordings) == 1
    wait_for_status(program, lambda found: found["groups"][0]["delivered_count"] == 3)
    watching.stop()
    assert got(stub) == ["Before", "Before", "After"] and times_sent(stub) == 3


@pytest.mark.parametrize("former", ["paused", "connecting", "waiting"])
def test_an_upload_that_has_not_begun_ends_at_once(hive, watch, rec, tmp_path, deaf_port, former):
    stub = hive()
    if former == "connecting":
        busy = SimpleNamespace(url=f"http://127.0.0.1:{deaf_port}")
    else:
        busy = hive("multipart/status=401" if former == "paused" else "multipart/status=503:3600")
    text = "label = x\nconnect-timeout = 1h\n"
    file = write(rec / "a.wav")
    watching = watch(None, "--config", configure(tmp_path, busy, text))
    if former == "connecting":
        watching.wait_for_worker()
    else:
        wait_until(lambda: any(request.status for request in busy.requests), what="an answer")
    configure(tmp_path, stub, text)
    reload(watching)
    has(stub, file)
    watching.stop()


@pytest.mark.native
def test_a_process_that_is_being_started_holds_no_directory(hive, watch, program, rec, tmp_path):
    stub = hive()
    file = write(rec / "a.wav")
    trace = strace("-e", "trace=execve", "-e", "inject=execve:delay_enter=2s")
    watching = watch(None, "--config", configure(tmp_path, stub, "label = Before\n"), under=trace)
    watching.says("uploading to")
    watcher = watching.wait_for_worker()
    children = Path(f"/proc/{watcher}/task/{watcher}/children")
    wait_until(children.read_text, what="a process that is about to begin")
    configure(tmp_path, stub, "label = After\n")
    os.kill(watcher, signal.SIGHUP)
    has(stub, file)
    os.kill(watcher, signal.SIGTERM)
    watching.running.wait(10)
    assert got(stub) == ["After"] and "another process" not in watching.log


def test_sighup_with_a_configuration_that_cannot_be_used_changes_nothing(hive, watch, program, rec, tmp_path):
    stub = hive()
    base = f"state-dir = {program.state}\n"
    watching = watch(None, "--config", configure(tmp_path, stub, "label = Old\n" + base))
    watching.says("watching")
    for count, (text, message) in enumerate((
        ("nonsense\n", "has no \"=\""),
        (f"label = New\npassword-file = /missing\n{base}", "/missing"),
        ("label = New\nstate-dir = elsewhere\n", "a new state-dir needs a restart."),
    ), 1):
        configure(tmp_path, stub, text)
        os.kill(watching.pid, signal.SIGHUP)
        watching.says("The old options stay in effect.", count=count)
        assert message in watching.log
    has(stub, write(rec / "a.wav"))
    assert got(stub) == ["Old"] and not (tmp_path / "elsewhere").exists()
    configure(tmp_path, stub, f"label = Old\n{base}on-event = /bin/true\nmetrics = {tmp_path}/a.prom\n")
    os.kill(watching.pid, signal.SIGHUP)
    watching.says("on-event, metrics have changed, which takes effect after a restart.")
    watching.stop()
