"""The parts of one recording over several connections. What follows from each of them: Transcripts/put/connections.txt."""

import os
import signal
import threading

import pytest
from growing import MIB
from program import wait_until
from records import only_record
from test_live import ToNextcloud, server  # noqa: F401
from test_live_tus import sent
from uploads import PASSWORD
from watching import sha256

PART = 16 * MIB
"""Those of a Nextcloud; an S3 server gets two for each."""
SIZE = 5 * PART + 5


class Meeting:
    """Holds requests with parts until there are `count` at a time, or for a second."""

    def __init__(self, server, count: int):
        self.count, self.now, self.most = count, 0, 0
        self.changed = threading.Condition()
        server.stub.before = self.come

    def come(self, request):
        if request.command != "PUT":
            return
        with self.changed:
            self.now += 1
            self.most = max(self.most, self.now)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.most >= self.count, 1)
            self.now -= 1


@pytest.fixture
def file(recording):
    return recording(name="a.wav", content=os.urandom(SIZE))


@pytest.fixture
def send(program, server, file):  # noqa: F811
    def send(*arguments, files=[file], **options):
        return program.start("send", *files, *server.options, *arguments, env=server.env, **options)
    return send


def whole(server, file) -> bool:  # noqa: F811
    return server.stored() == {"a.wav": file.read_bytes()} and not server.parts()


def once(server, file) -> bool:  # noqa: F811
    """Whether it is there, and each part was sent once."""
    sent = server.sent()
    return whole(server, file) and sorted(sent) == list(range(1, len(sent) + 1))


@pytest.mark.parametrize("arguments, count", [(["--connections", "4"], 4), (["--connections=1"], 1)])
def test_parts_are_sent_at_the_same_time(server, send, file, arguments, count):  # noqa: F811
    meeting = Meeting(server, 4)
    send(*arguments).wait().check()
    assert meeting.most == count and once(server, file)


def test_a_slow_server_gets_more_of_them_by_itself(server, send, file):  # noqa: F811
    meeting = Meeting(server, 4)
    send().wait().check()
    assert meeting.most > 1 and once(server, file)


def test_concurrent_recordings_share_them(server, send, file, recording):  # noqa: F811
    others = [recording(name=name, content=os.urandom(SIZE)) for name in ("b.wav", "c.wav")]
    meeting = Meeting(server, 5)
    send("-j", "2", "--connections", "3", files=[file, *others]).wait().check()
    # One that has begun a part when the next recording begins sends it to its end.
    assert meeting.most in (3, 4) and server.stored() == {path.name: path.read_bytes() for path in (file, *others)}


@pytest.mark.parametrize("count", ["1", "4"])
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_new_status_is_new_content_if_a_part_differs(server, send, file, is_edited, count):  # noqa: F811
    def change():
        status = file.stat()
        if is_edited:
            with file.open("r+b") as opened:
                opened.write(b"another beginning")
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        file.chmod(0o600)
    changes = [change]

    def before(request):
        if request.command == "PUT" and len(server.sent()) > 4 and changes:
            changes.pop()()
    server.stub.before = before
    result = send("--connections", count).wait()
    # A Nextcloud's parts have no digests to compare.
    if is_edited or isinstance(server, ToNextcloud):
        assert result.code == 3 and server.stored() == {}
    else:
        assert not changes and once(server, file)


@pytest.fixture(params=["gighive", "tus"])
def send_by_tus(request, program, file):
    """To GigHive, or to another tus server."""
    def send(stub, *arguments, **options):
        if request.param == "gighive":
            return program.start_sending(stub, file, "--protocol", "tus", *arguments, **options)
        return program.start("send", file, "--tus-url", stub.url + "/tus/", *arguments, **options)
    return send


def joined(stub) -> list[str]:
    """The SHA-256 of each recording. Nothing else is there."""
    return [stored.sha256 for stored in stub.recordings or stub.uploads]


def test_tus_servers_get_uploads_that_they_join(hive, send_by_tus, file):
    stub = hive(f"patch/slow-read={32 * MIB}@1-99")
    send_by_tus(stub, "--connections", "4").wait().check()
    patches = [request for request in stub.requests if request.kind == "patch"]
    assert joined(stub) == [sha256(file)] and sent(stub) == SIZE
    assert len({request.connection for request in patches}) == 4


def test_a_kill_leaves_nothing_that_is_not_continued(hive, send_by_tus, file):
    stub = hive(f"patch/slow-read={16 * MIB}@1-8")
    running = send_by_tus(stub, "--connections", "4")
    wait_until(lambda: sum(upload.offset > MIB and not upload.is_complete for upload in stub.uploads) > 2)
    running.signal(signal.SIGKILL)
    running.wait()
    assert sent(stub) > 3 * MIB
    send_by_tus(stub, "--connections", "4").wait().check()
    # Unless the kill came when the fourth one had just been created.
    assert joined(stub)[-1:] == [sha256(file)] and sent(stub) - SIZE in (0, MIB)


def test_cancel_says_what_a_plain_server_may_have(hive, send_by_tus, program):
    stub = hive("join/silent")
    running = send_by_tus(stub, "--connections", "4")
    wait_until(lambda: [request for request in stub.requests if request.kind == "join"])
    running.signal(signal.SIGKILL)
    running.wait()
    record = only_record(program)
    is_plain = record.document["endpoint"].endswith("/tus/")
    result = program.run("cancel", record.id, env=PASSWORD).check()
    # A recording is made only by GigHive's finalize.
    assert ("may have stored it" in result.err) == is_plain


def test_parts_that_stay_are_deleted_by_the_next_run(hive, send_by_tus, program, recording):
    stub = hive("terminate/status=503")
    result = send_by_tus(stub, "--connections", "4").wait().check()
    parts = [upload for upload in stub.uploads if upload.concat == "partial"]
    assert len(parts) > 4 and f" and {len(parts) - 1} more. The next `send` or `watch` to this server tries again." in result.err, result
    server = ["--server", stub.url, "--user", "uploader"] if stub.recordings else ["--tus-url", stub.url + "/tus/"]
    assert f"the server has not deleted {len(parts)} uploads" in program.run("doctor", *server, env=PASSWORD).out
    stub.set_faults()
    program.run("send", recording(name="next.wav"), *server, *(["--label", "Next"] if stub.recordings else []), env=PASSWORD).check()
    assert not [upload for upload in stub.uploads if upload.concat == "partial"] and not (program.state / "undeleted").exists()


def test_a_server_has_the_time_to_copy_what_it_joins(hive, send_by_tus):
    stub = hive("join/delay-answer=3")
    send_by_tus(stub, "--connections", "4", "--set", "response-timeout=1s").wait().check()
    assert [request.kind for request in stub.requests].count("join") == 1
