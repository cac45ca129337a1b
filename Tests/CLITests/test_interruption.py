"""Ctrl-C and SIGTERM end the program at once, with a message; so does a trap."""

import contextlib
import fcntl
import os
import signal
from pathlib import Path

import pytest
from program import strace, wait_until
from test_output import full_pipe  # noqa: F401
from uploads import of_kind

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def interrupt(running, number):
    running.signal(number)
    return running.wait(10)


def told(result, code, either=("not delivered", "nothing was sent")):
    assert result.code == code, result
    assert "interrupted" in result.err and any(words in result.err for words in either)
    assert result.out == ""


def test_while_sending(any_hive, program, recording):
    hive = any_hive("stall-after=500000")
    running = program.start_sending(hive, recording(24_000_000))
    wait_until(lambda: hive.requests and hive.requests[0].body_bytes == 500_000)
    told(interrupt(running, signal.SIGINT), 130)
    assert not hive.requests[0].complete and hive.requests[0].status is None


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_while_sending_fast(hive, program, shared, number, code):
    stub, file = hive(discard=True), shared / "long.mp4"
    with open(file, "wb") as stream:
        stream.truncate(1 << 40)
    running = program.start("send", file, "--multipart-url", stub.url)
    wait_until(lambda: stub.requests)
    told(interrupt(running, number), code)
    file.unlink()


def test_while_waiting_for_the_answer(any_hive, program, recording):
    hive = any_hive("silent")
    running = program.start_sending(hive, recording())
    wait_until(lambda: hive.requests and hive.requests[0].complete)
    told(interrupt(running, signal.SIGTERM), 143, either=["may have stored it"])


def test_while_a_pipe_has_no_writer(program, tmp_path):
    """Such as one for a list or a password, whose writer does not come."""
    os.mkfifo(tmp_path / "list")
    running = program.start("send", "--from", tmp_path / "list", "--multipart-url", "http://127.0.0.1:9/")
    opening = f"{257 if os.uname().machine == 'x86_64' else 56} "  # openat(2)
    wait_until(lambda: (Path("/proc") / str(running.pid) / "syscall").read_text().startswith(opening))
    result = interrupt(running, signal.SIGINT)
    assert result.code in (130, -signal.SIGINT)


@pytest.mark.native
def test_a_second_signal_ends_it_whatever_it_waits_for(hive, program, recording, full_pipe):  # noqa: F811
    """Here: a standard output that is not read."""
    stub = hive("silent")
    running = program.start_sending(stub, recording(), "--json", stdout=full_pipe().writing)
    wait_until(lambda: stub.requests and stub.requests[0].complete)
    running.signal(signal.SIGTERM)
    wait_until(lambda: not running.expects(signal.SIGTERM), what="the first signal")
    running.process.send_signal(signal.SIGTERM)
    assert running.wait(10).code == -signal.SIGTERM


def test_the_message_says_how_much_had_been_sent(hive, program, recording):
    stub = hive("slow-read=8e6")
    running = program.start_sending(stub, recording(24_000_000))
    wait_until(lambda: stub.requests and stub.requests[0].body_bytes > 2_000_000)
    result = interrupt(running, signal.SIGINT)
    told(result, 130)
    assert "gig.mp4" in result.err and "of 24.0 MB" in result.err


def test_an_earlier_failure_keeps_its_exit_code(hive, program, recording):
    """With several files the code is the first failure's."""
    stub = hive("stall-after=1000")
    running = program.start_sending(stub, "missing.mp4", recording())
    wait_until(lambda: stub.requests)
    assert interrupt(running, signal.SIGINT).code == 3


# Another process holds the lock of the state directory.


@pytest.fixture
def locked_directory(program):
    """The state directory, once there is one, locked as another process would."""
    with contextlib.ExitStack() as stack:

        def locked_directory():
            file = stack.enter_context(open(program.state / "directory.lock", "ab"))
            fcntl.flock(file, fcntl.LOCK_EX)

        yield locked_directory


@pytest.mark.native
@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_while_the_state_directory_is_locked(hive, program, recording, locked_directory, tmp_path, way):
    """Nothing is asked of the server before the record can be made."""
    stub = hive()
    assert program.send(stub, recording(), "--protocol", way).code == 0
    stub._requests.clear()
    locked_directory()
    log = tmp_path / "calls"
    trace = strace("-e", "trace=flock", log=log)
    running = program.start_sending(stub, recording(name="other.mp4"), "--protocol", way, under=trace)
    wait_until(lambda: log.exists() and "EAGAIN" in log.read_text(), what="a process that waits for the lock")
    os.kill(int(log.read_text().split()[0]), signal.SIGTERM)
    told(running.wait(20), 143)
    assert of_kind(stub, "create") == of_kind(stub, "multipart") == []


# Abnormal ends


def test_a_trap_says_what_is_known(hive, program, recording):
    stub = hive("stall-after=100000@2-2")
    running = program.start_sending(stub, recording(), recording(8_000_000, "b.mp4"), "--json")
    wait_until(lambda: len(stub.requests) > 1 and stub.requests[-1].body_bytes == 100_000)
    running.signal(signal.SIGILL)
    result = running.wait()
    assert result.code == 1, result
    assert "internal error" in result.err and "not delivered" not in result.err
    known = {name: result.outcome[name] for name in ("delivered_count", "failed_count", "unknown_count")}
    assert known == {"delivered_count": 1, "failed_count": 0, "unknown_count": 1}
    assert result.outcome["exit_code"] == 1 and result.outcome["message"] in result.err
    assert [event["event"] for event in result.events if event["event"] == "delivered"] == ["delivered"]
