"""A slow or missing reader, or a full disk, delays no upload, and lost output is reported."""

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import subprocess
import time

import pytest
from program import wait_until
from records import only_record

OUTPUT_FAILED = 14
SOON_SECONDS = 20
"""Five seconds are the promise; a busy machine gets some more."""


class FullPipe:
    """A pipe of one page that is full until it is read."""

    def __init__(self, filling=4096):
        self.reading, self.writing = os.pipe()
        fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, 4096)
        self.filling = filling
        os.write(self.writing, b"x" * filling)

    def read(self) -> str:
        """All that comes until the last writer has gone."""
        os.close(self.writing)
        data = b""
        while part := os.read(self.reading, 65536):
            data += part
        return data[self.filling :].decode()

    def close(self):
        for end in (self.reading, self.writing):
            with contextlib.suppress(OSError):
                os.close(end)


@pytest.fixture
def full_pipe():
    pipes = []

    def full_pipe(filling=4096):
        pipes.append(FullPipe(filling))
        return pipes[-1]

    yield full_pipe
    for pipe in pipes:
        pipe.close()


def sent(hive):
    return [recording.size for recording in hive.recordings]


def test_recordings_are_delivered_if_the_output_is_not_read_and_its_loss_is_reported(hive, program, recording, full_pipe):
    stub, pipe = hive(), full_pipe()
    running = program.start_sending(stub, recording(), stdout=pipe.writing)
    result = running.wait(SOON_SECONDS)
    assert result.code == OUTPUT_FAILED, result
    assert "standard output was not read; 1 result was lost." in result.err
    assert sent(stub) == [300_000] and only_record(program).phase == "delivered"
    assert pipe.read() == ""


def test_a_signal_ends_it_with_an_unread_output(hive, program, recording, full_pipe):
    stub, pipe = hive("stall-after=100000"), full_pipe()
    running = program.start_sending(stub, recording(8_000_000), "--json", stdout=pipe.writing)
    wait_until(lambda: stub.requests and stub.requests[0].body_bytes == 100_000)
    running.signal(signal.SIGINT)
    result = running.wait(SOON_SECONDS)
    assert result.code == 130, result
    assert "interrupted" in result.err and "1 result was lost" in result.err


def test_standard_error_that_is_not_read_delays_nothing(hive, program, recording, full_pipe):
    stub, pipe = hive("stall-after=100000"), full_pipe()
    running = program.start_sending(stub, recording(8_000_000), "--progress=plain", "--verbose", stderr=pipe.writing)
    wait_until(lambda: stub.requests and stub.requests[0].body_bytes == 100_000)
    running.signal(signal.SIGTERM)
    assert running.wait(SOON_SECONDS).code == 143


# Many files


@pytest.fixture
def long_named(recording, tmp_path):
    """Files whose results take 4 KB each."""

    def long_named(count):
        directory = tmp_path
        while len(str(directory)) < 1700:
            directory = directory / ("\x01" * 100)
            directory.mkdir()
        return [recording(1000, f"{number}.mp4", directory=directory) for number in range(count)]

    return long_named


def test_no_further_file_begins_while_the_output_is_unread_and_all_continue_afterwards(
    hive, program, long_named, full_pipe
):
    stub, pipe, files = hive(), full_pipe(), long_named(20)
    running = program.start_sending(stub, *files, "--json", stdout=pipe.writing)
    wait_until(lambda: stub.recordings)
    count = 0
    while count != len(stub.recordings):
        count = len(stub.recordings)
        time.sleep(1)
    assert 0 < count < 20 and running.process.poll() is None
    out = pipe.read()
    running.wait(SOON_SECONDS).check()
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["file"] for event in events if event["event"] == "delivered"] == list(map(str, files))
    assert sum(event["event"] == "start" for event in events) == 20
    assert len(stub.recordings) == 20


def test_max_time_counts_for_files_that_wait_for_a_reader(hive, program, long_named, full_pipe):
    stub, pipe = hive(), full_pipe()
    running = program.start_sending(stub, *long_named(20), "--json", "--max-time", "2s", stdout=pipe.writing)
    result = running.wait(SOON_SECONDS)
    assert result.code == OUTPUT_FAILED, result
    assert "not started" in result.err and "20 results were lost" in result.err
    assert 0 < len(stub.recordings) < 20


def test_max_time_counts_once_for_all_uploads_that_wait_to_be_resumed(program, long_named, full_pipe):
    """Each is an upload with its own limit, but they wait for the same reader."""
    assert program.run("send", *long_named(40), "--tus-url", "http://127.0.0.1:1/").code == 4
    pipe = full_pipe()
    running = program.start("resume", "--all", "--json", "--max-time", "2s", stdout=pipe.writing)
    result = running.wait(SOON_SECONDS)
    assert result.code == 4, result
    assert "not started" in result.err and "40 results were lost" in result.err


def test_standard_error_need_not_be_read_if_the_json_output_is(program, recording, full_pipe):
    """A program that reads the events, and has given the standard error a pipe that it never looks at."""
    pipe, files = full_pipe(), [recording(10, f"{number:0200}.mp4") for number in range(250)]
    running = program.start(
        "send", *files, "--multipart-url", "http://127.0.0.1:1/", "--json", stderr=pipe.writing)
    # Each file costs a record, and so several writes to a disk that may be busy.
    result = running.wait(6 * SOON_SECONDS)
    assert result.code == 4, result
    assert [event["exit_code"] for event in result.events if event["event"] == "failed"] == [4] * 250


# Output that fails


def test_a_delivery_whose_output_cannot_be_written_has_exit_code_14_and_a_failure_its_own(hive, program, recording):
    stub = hive()
    with open("/dev/full", "wb") as full:
        result = program.start_sending(stub, recording(), stdout=full).wait()
        failed = program.start_sending(hive("early-status=413"), recording(), "--json", stdout=full).wait()
    assert result.code == OUTPUT_FAILED, result
    assert "writing to standard output failed: No space left on device." in result.err
    assert "1 result was lost" in result.err and sent(stub) == [300_000]
    assert failed.code == 8 and "No space left on device" in failed.err and "413" in failed.err


def test_commands_that_only_print_report_that_they_could_not(hive, program, recording):
    assert program.send(hive(), recording()).code == 0
    for arguments in (["list"], ["list", "--json"], ["version"], ["help"], ["send", "--help"]):
        with open("/dev/full", "wb") as full:
            result = program.start(*arguments, stdout=full).wait()
        assert result.code == OUTPUT_FAILED, result
        assert "writing to standard output failed: No space left on device." in result.err


def test_a_reader_who_has_gone_stops_no_upload(hive, program, recording):
    stub = hive()
    reading, writing = os.pipe()
    os.close(reading)
    running = program.start_sending(stub, recording(), recording(name="b.mp4"), "--json", stdout=writing)
    os.close(writing)
    result = running.wait()
    assert result.code == OUTPUT_FAILED and len(stub.recordings) == 2
    assert "Broken pipe" in result.err and "2 results were lost" in result.err


def test_a_command_that_prints_waits_for_its_reader(hive, program, recording, full_pipe, tmp_path):
    """Longer than an upload would."""
    assert program.send(hive(), recording()).code == 0
    pipe = full_pipe()
    running = program.start("list", "--json", stdout=pipe.writing)
    upload = program.start_sending(hive(), recording(), "--state-dir", tmp_path / "other", stdout=full_pipe().writing)
    assert upload.wait(SOON_SECONDS).code == OUTPUT_FAILED
    assert running.process.poll() is None
    out = pipe.read()
    assert running.wait().code == 0 and json.loads(out)["state"] == "delivered"


# What the output is shared with


def test_the_settings_of_a_shared_stream_stay_as_they_are(hive, program, recording):
    reading, writing = os.pipe()
    before = fcntl.fcntl(writing, fcntl.F_GETFL)
    assert program.start_sending(hive(), recording(), "--json", stdout=writing, stderr=writing).wait().code == 0
    assert fcntl.fcntl(writing, fcntl.F_GETFL) == before and not before & os.O_NONBLOCK
    os.close(reading), os.close(writing)


def test_a_pipe_that_others_write_to_delays_nothing(hive, program, recording):
    """Another process fills the pipe as fast as it is read, so that it can be full right after poll(2)."""
    stub = hive()
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    other = subprocess.Popen(["yes", "y" * 3000], stdout=writing)
    running = program.start_sending(stub, recording(40_000_000), "--json", stdout=writing)
    os.close(writing)
    stopping = time.monotonic() + 2
    while running.process.poll() is None and time.monotonic() < stopping:
        os.read(reading, 4096)
    # And now nothing reads any more.
    assert running.wait(SOON_SECONDS).code in (0, OUTPUT_FAILED)
    other.kill()
    other.wait()
    os.close(reading)
    assert sent(stub) == [40_000_000]


def test_a_socket_that_is_not_read_delays_nothing(hive, program, recording):
    stub = hive()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while theirs.send(b"x" * 4096):
                pass
        theirs.setblocking(True)
        result = program.start_sending(stub, recording(), "--json", stdout=theirs.fileno()).wait(SOON_SECONDS)
        assert os.get_blocking(theirs.fileno())
    assert result.code == OUTPUT_FAILED and "1 result was lost" in result.err and len(stub.recordings) == 1


def test_a_terminal_that_is_stopped_delays_nothing(hive, program, recording):
    """Ctrl-S, or a terminal window whose program hangs."""
    stub = hive()
    master, slave = os.openpty()
    os.set_blocking(slave, False)
    # The kernel passes on what it has taken, and then has room again, when it finds time for that.
    while select.select([], [slave], [], 0.5)[1]:
        with contextlib.suppress(BlockingIOError):
            while os.write(slave, b"x" * 4096):
                pass
    os.set_blocking(slave, True)
    running = program.start_sending(stub, recording(), "--progress=bar", stdout=slave, stderr=slave)
    assert running.wait(SOON_SECONDS).code == OUTPUT_FAILED
    assert len(stub.recordings) == 1
    os.close(master), os.close(slave)


# Limits and signals from outside


def limited(which, value):
    return lambda: resource.setrlimit(which, (value, value))


@pytest.mark.native
def test_a_record_that_may_not_grow_is_an_error_of_the_state_directory(hive, program, recording):
    result = program.send(
        hive(), recording(2_000_000), "--protocol", "tus", preexec_fn=limited(resource.RLIMIT_FSIZE, 0))
    assert result.code == 13, result
    assert "File too large" in result.err


@pytest.mark.native
def test_too_few_descriptors_end_it_at_once(hive, program, recording, certificates):
    stub = hive(tls=certificates)
    for way, limit in (("tus", 4), ("multipart", 9), ("tus", 12), ("multipart", 13)):
        result = program.send(
            stub, recording(), "--protocol", way, "--json", "--retry", "5",
            preexec_fn=limited(resource.RLIMIT_NOFILE, limit))
        if limit == 13 and result.code == 0:
            break
        assert result.code == 12, (limit, result)
        assert "ulimit -n" in result.err and result.outcome["exit_code"] == 12
        assert not stub.requests


@pytest.mark.native
def test_a_signal_that_was_ignored_stays_ignored(hive, program, recording):
    stub = hive("stall-after=100000")

    def ignore():
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    running = program.start_sending(stub, recording(8_000_000), preexec_fn=ignore)
    wait_until(lambda: stub.requests and stub.requests[0].body_bytes == 100_000)
    running.signal(signal.SIGINT)
    running.signal(signal.SIGHUP)
    # The code is that of the first signal that it takes notice of.
    running.signal(signal.SIGTERM)
    assert running.wait(SOON_SECONDS).code == 143
