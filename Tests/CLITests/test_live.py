"""`--live`: recordings that are sent while they are made. What the machine does with parts: Transcripts/put/growing.txt.

LIVE_ROUNDS=100 plays that many recordings with kills for each server."""

import os
import random
import re
import signal
import socket
import time

import pytest
from growing import LAG, MIB, PART, Recorder, cut_power, lengths, record_among_kills, saved
from nextcloud import PASSWORD, USER, NextcloudStub
from program import private, wait_until
from records import only_record, records
from s3 import ENVIRONMENT


class ToS3:
    def __init__(self, s3, tmp_path):
        self.stub = s3()
        self.options = ["--s3", "s3://bucket/", "--s3-endpoint", self.stub.url]
        self.env = ENVIRONMENT

    def parts(self) -> dict[int, bytes]:
        """Those that the server has, and has not joined."""
        return {number: content for upload in list(self.stub.uploads.values())
                for number, (_, content) in list(upload["parts"].items())}

    def sent(self) -> list[int]:
        """The numbers of the parts, as they came."""
        return [int(request.path.rpartition("partNumber=")[2]) for request in self.stub.requests
                if request.command == "PUT" and "partNumber" in request.path]

    def stored(self) -> dict[str, bytes]:
        return {path.rpartition("/")[2]: content for path, (content, _) in list(self.stub.objects.items())}


class ToNextcloud:
    def __init__(self, kind, tmp_path):
        self.stub = NextcloudStub(kind)
        self.options = ["--webdav", self.stub.url, "--user", USER, "--password-file", private(tmp_path / "password", PASSWORD)]
        self.env = {}

    def parts(self):
        return {int(name): content for upload in self.stub.uploads.values() for name, content in upload.chunks.items()}

    def sent(self):
        return [int(path.rpartition("/")[2]) for method, path in self.stub.requests if method == "PUT" and "/uploads/" in path]

    def stored(self):
        return {name: file.content for name, file in self.stub.files.items()}


@pytest.fixture(params=["s3", "nextcloud", "nextcloud on a store"])
def server(request, s3, tmp_path):
    if request.param == "s3":
        yield ToS3(s3, tmp_path)
        return
    server = ToNextcloud("s3" if request.param.endswith("store") else "disk", tmp_path)
    yield server
    server.stub.close()


WHATEVER_SERVER = pytest.mark.parametrize("server", ["s3"], indirect=True)
"""For what depends on the file and the process alone."""


@pytest.fixture
def send(program, server):
    def send(*arguments, file="a.wav", **options):
        return program.start("send", program.directory / file, *server.options, "--live", "--settle", "1s", *arguments,
                             env=server.env, **options)
    return send


@pytest.fixture
def begin(server, send, recorder):
    """Sends a recording whose parts from the second to the `last` one can be sent, until they are."""
    def begin(last, *arguments, **options):
        recorder.write(last * PART + LAG)
        running = send(*arguments, **options)
        wait_until(lambda: sorted(server.parts()) == list(range(2, last + 1)))
        return running
    return begin


@pytest.fixture
def end(server, recorder):
    """Ends a recording, and returns the result when all of it was sent."""
    def end(running):
        recorder.end()
        result = running.wait().check()
        assert server.stored() == {"a.wav": recorder.path.read_bytes()}
        return result
    return end


def test_all_but_the_first_part_arrives_while_it_is_made(server, send, end, recorder):
    recorder.write(5000)
    running = send("--json")
    recorder.write(4 * PART + LAG)
    wait_until(lambda: sorted(server.parts()) == [2, 3, 4])
    recorder.rewrite(0, 44)
    result = end(running)
    assert not server.parts() and server.sent() == [2, 3, 4, 5, 1]
    progress = [event for event in result.events if event["event"] == "progress" and "behind_seconds" in event]
    assert all(event["bytes"] <= 3 * PART for event in progress) and progress[-1]["total"] == 5000 + 4 * PART + LAG
    assert result.outcome["checksum_verified"] == (not server.stub.__class__.__name__.startswith("Next"))


@pytest.mark.parametrize("seed", range(int(os.environ.get("LIVE_ROUNDS", "2"))))
def test_kills_and_lost_connections_cost_no_byte(server, send, recorder, seed):
    chance = random.Random(seed)
    lost = 0
    losing = chance.random() < 0.5

    def before(request):
        nonlocal lost
        if losing and chance.random() < 0.1:
            lost += 1
            request.close_connection = True
            raise ConnectionAbortedError

    def heal():
        server.stub.before = lambda request: None
    server.stub.before = before
    kills, rewritten = record_among_kills(chance, recorder, send, lambda: "a.wav" in server.stored(), heal)
    content = recorder.path.read_bytes()
    assert server.stored() == {"a.wav": content} and not server.parts()
    assert len(server.sent()) <= -(-len(content) // PART) + kills + lost + 2 * rewritten + 1


@pytest.mark.parametrize("seed", range(int(os.environ.get("LIVE_ROUNDS", "2"))))
def test_after_a_power_cut_it_has_what_the_disk_has(server, begin, send, recorder, program, seed):
    chance = random.Random(seed)
    running = begin(chance.randrange(2, 5))
    running.signal(signal.SIGKILL)
    running.wait()
    cut_power(chance, recorder)
    if chance.random() < 0.3:
        program.run("resume", "--all", env=server.env).check()
    send().wait().check()
    assert server.stored() == {"a.wav": recorder.path.read_bytes()} and not server.parts()


def test_what_is_written_before_the_parts_are_joined_is_waited_for(server, begin, end, recorder):
    """While the first part, which is the last one, is on its way, or its response."""
    poked = []

    def before(request):
        if request.command == "PUT" and re.search(r"(partNumber=|/)1$", request.path) and not poked:
            if not isinstance(server, ToS3):
                request.rfile = Late(request.rfile, PART - 700_000, poke)
            else:
                poke()

    def poke():
        time.sleep(0.3)  # The rest is in the buffers of both sockets.
        with recorder.path.open("r+b") as file:
            for offset in (PART - 200_000, MIB):
                os.pwrite(file.fileno(), b"changed", offset)
        poked.append(True)
    if not isinstance(server, ToS3):
        server.stub._server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
    server.stub.before = before
    running = begin(2)
    end(running)
    assert poked and server.sent() == [2, 3, 1, 1]


def test_parts_outlast_a_change_of_the_file_without_live(server, send, recorder, program):
    recorder.write(3 * PART + LAG)
    running = send()
    wait_until(lambda: saved(program) == [2, 3])
    running.signal(signal.SIGKILL)
    running.wait()
    server.stub.before = lambda request: recorder.write(1) if re.search(r"(partNumber=|/)1$", request.path) else None
    arguments = ["send", recorder.path, *server.options]
    result = program.run(*arguments, env=server.env)
    assert result.code == 3 and server.stored() == {} and {2, 3} <= set(saved(program)), result
    server.stub.before = lambda request: None
    recorder.end()
    program.run(*arguments, env=server.env).check()
    assert server.stored() == {"a.wav": recorder.path.read_bytes()} and server.sent().count(2) == server.sent().count(3) == 1


@WHATEVER_SERVER
def test_a_link_to_a_recording_keeps_its_name(server, begin, recorder, program):
    (program.directory / "link.wav").symlink_to(recorder.path)
    running = begin(2, file="link.wav")
    recorder.end()
    running.wait().check()
    assert server.stored() == {"link.wav": recorder.path.read_bytes()}
    assert only_record(program).document["file"] == str(program.directory / "link.wav")


class Late:
    """A request's content, of which what comes after `length` bytes is read when `then` has returned."""

    def __init__(self, file, length, then):
        self.file, self.rest, self.then = file, length, then

    def read1(self, count):
        if self.rest <= 0 and self.then:
            then, self.then = self.then, None
            then()
        data = self.file.read1(min(count, 1 << 16))
        self.rest -= len(data)
        return data

    def __getattr__(self, name):
        return getattr(self.file, name)


@WHATEVER_SERVER
def test_a_recording_that_gets_another_name_stays_the_same(server, begin, end, recorder, program):
    running = begin(2)
    recorder.path = recorder.path.rename(recorder.path.with_name("b.wav"))
    end(running)
    assert server.sent().count(2) == 1
    assert only_record(program).document["file"] == str(recorder.path)


@WHATEVER_SERVER
def test_a_recording_that_is_moved_to_another_directory_is_not_removed(begin, end, recorder, tmp_path):
    running = begin(2, "--after", "remove", "--trust-server", "--digest")
    (tmp_path / "archive").mkdir()
    recorder.path = recorder.path.rename(tmp_path / "archive" / "a.wav")
    assert "a.wav was kept: it was renamed, moved or removed in the meantime." in end(running).err and recorder.path.exists()


@WHATEVER_SERVER
def test_a_recording_that_is_removed_is_sent_to_its_end(server, begin, recorder):
    running = begin(2)
    content = recorder.path.read_bytes()
    recorder.path.unlink()
    recorder.end()
    result = running.wait().check()
    assert server.stored() == {"a.wav": content} and "was removed while it was being made" in result.err


@WHATEVER_SERVER
def test_how_much_of_its_end_waits_can_be_chosen(server, send, end, recorder):
    recorder.write(2 * PART + 1000)
    running = send("--set", "live-lag=1000")
    wait_until(lambda: sorted(server.parts()) == [2])
    end(running)


@WHATEVER_SERVER
def test_finished_recordings_keep_their_part_of_the_line(server, send, recorder, program):
    finished = [program.directory / f"b{number}.wav" for number in range(20)]
    for path in finished:
        path.write_bytes(os.urandom(7 * MIB))
        os.utime(path, (1e9, 1e9))
    recorder.write(20 * PART)
    numbers = [0]

    def before(request):
        if len(server.stored()) < 20:
            numbers.append(max(server.parts(), default=0))
    server.stub.before = before
    send(recorder.path, *finished[1:], "--set", "live-keep=10%", file=finished[0])
    wait_until(lambda: len(server.stored()) == 20)
    # Some 15 MiB, and what it sends before the first of the others.
    assert max(numbers) <= 4


@WHATEVER_SERVER
def test_space_that_is_reserved_is_not_sent(server, begin, end, recorder):
    os.posix_fallocate(recorder.file.fileno(), 0, 10 * PART)
    running = begin(2)
    for last in (3, 4):
        recorder.write(PART)
        wait_until(lambda: sorted(server.parts()) == list(range(2, last + 1)))
    os.ftruncate(recorder.file.fileno(), 4 * PART + LAG)
    end(running)
    assert server.sent() == [2, 3, 4, 5, 1]


@WHATEVER_SERVER
@pytest.mark.parametrize("length", [1, PART, 2 * PART + LAG - 1])
def test_a_short_recording_is_sent_when_it_has_ended(server, send, end, recorder, tmp_path, length):
    output = tmp_path / "output"
    with output.open("wb") as stream:
        running = send("--json", stdout=stream)
    empty = wait_until(lambda: len(lengths(output)))
    recorder.write(length)
    wait_until(lambda: lengths(output)[empty:].count(length) > 1)
    assert server.stub.requests == []
    end(running)


@pytest.fixture
def live(watch, server):
    """A watcher of `rec` that sends what is made there."""
    def live(*arguments):
        return watch(None, *server.options, "--live", *arguments, env=server.env)
    return live


@WHATEVER_SERVER
def test_a_watcher_sends_recordings_while_they_are_made(server, live, rec):
    watching = live("--after", "remove", "--trust-server", "--digest")
    recorders = [Recorder(rec / name) for name in ("a.wav", "b.wav")]
    for recorder in recorders:
        recorder.write(3 * PART + LAG)
    wait_until(lambda: sorted(server.sent()) == [2, 2, 3, 3])
    (rec / "short.wav").write_bytes(b"1")  # Others are not held up.
    wait_until(lambda: list(server.stored()) == ["short.wav"])
    contents = {}
    for recorder in recorders:
        recorder.rewrite(0, 44)
        contents[recorder.path.name] = recorder.path.read_bytes()
        recorder.end()
    for name in contents:
        watching.says(f"{name}: removed after its delivery.")
    assert server.stored() == {**contents, "short.wav": b"1"} and list(rec.iterdir()) == []
    assert sorted(server.sent()) == [1, 1, 2, 2, 3, 3, 4, 4]


@WHATEVER_SERVER
def test_a_watcher_tells_of_reserved_space_that_stays(server, live, rec):
    recorder = Recorder(rec / "a.wav")
    os.posix_fallocate(recorder.file.fileno(), 0, 4 * PART)
    watching = live()
    recorder.write(2 * PART + LAG)
    wait_until(lambda: server.sent() == [2])
    recorder.end()
    watching.says("a.wav: delivered.")
    assert server.stored() == {"a.wav": recorder.path.read_bytes()}
    assert watching.log.count("a.wav: its last 12.6 MB were never written") == 1, watching.log


@WHATEVER_SERVER
def test_a_delivered_recording_that_is_opened_again_is_compared_when_it_is_closed(server, live, rec):
    path = rec / "a.wav"
    path.write_bytes(os.urandom(2 * PART + LAG))
    watching = live("--overwrite")
    watching.says("a.wav: delivered.")
    watching.stop()
    path.chmod(0o640)
    with path.open("r+b") as file:
        watching = live("--overwrite")
        watching.says("watching")
        time.sleep(2)  # The worker is asked for it.
        file.write(b"new")
    wait_until(lambda: server.stored()["a.wav"] == path.read_bytes())


@WHATEVER_SERVER
def test_a_watcher_cancels_what_is_removed(server, live, rec, program):
    recorder = Recorder(rec / "a.wav")
    recorder.write(2 * PART + LAG)
    watching = live("--set", "live-deleted=cancel")
    wait_until(lambda: sorted(server.parts()) == [2])
    recorder.path.unlink()
    watching.says("a.wav was removed while it was being made, so it is not delivered")
    assert not server.parts() and not records(program)
    (rec / "a.wav").write_bytes(b"1")
    watching.says("a.wav: delivered.")
    assert server.stored() == {"a.wav": b"1"} and "retried" not in watching.log
