"""The uploader's resumable uploads, to an independent tus server, directly and through proxies."""

import signal
import time
import uuid

import pytest

import recordings
from line import HOLD, RESET_CLIENT, Conduct, Line, Point, Trouble
from servers import TUS
from test_interop import CREDENTIALS_REFUSED, DELIVERED, MEMORY_CEILING, assert_delivered, assert_failed
from uploader import LABEL

MB = 1_000_000
MIB = 2**20
SIZE = 64 * MIB
# Heads, TLS records, and what is asked in between.
OVERHEAD = 300_000
DELAY = 0.05  # each way, in seconds
# How long a server may take to notice that its client has gone. Then the client gets a reset.
NOTICE_SECONDS = 10
# What a request may cost that was interrupted and counts for nothing: the longest that the uploader begins with.
ONE_REQUEST = 8 * MIB
TERMINATED, KILLED = 143, -signal.SIGKILL

everywhere = pytest.mark.parametrize("site, scheme", [
    TUS, *((site, scheme) for site in ("apache", "nginx-100m-spools", "nginx-100m-streams")
           for scheme in ("http", "https"))])
# One of each kind: alone, behind a proxy that spools whole requests, behind one that streams.
each_kind = pytest.mark.parametrize("site, scheme", [
    TUS, ("apache", "https"), ("nginx-100m-spools", "http"), ("nginx-100m-streams", "https")])


class TusUploads:
    """Runs the uploader against a site's /files/, with its own state directory."""

    def __init__(self, servers, uploader, state):
        self._servers, self._uploader = servers, uploader
        self._state = ["--state-dir", state]

    def start(self, site, scheme, file, *options, port=None):
        port = port or self._servers.ports[site, scheme]
        credentials = [] if (site, scheme) == TUS else self._uploader.credentials(scheme)
        return self._uploader.start("send", file, "--tus-url", f"{scheme}://localhost:{port}/files/", *credentials,
                                    *self._state, "--json", *options)

    def start_gighive(self, scheme, file, *options, port=None, protocol="tus"):
        port = port or self._servers.ports["apache", scheme]
        return self._uploader.start(
            "send", file, "--server", f"{scheme}://localhost:{port}", "--protocol", protocol,
            *self._uploader.credentials(scheme), "--org-name", "Interop", "--event-type", "band",
            "--event-date", "2026-11-20", "--label", LABEL, *self._state, "--json", *options)

    def send(self, *arguments, **keywords):
        with self.start(*arguments, **keywords) as running:
            return running.finish()

    def send_gighive(self, *arguments, **keywords):
        with self.start_gighive(*arguments, **keywords) as running:
            return running.finish()

    def resume(self):
        return self._uploader.run("resume", "--all", *self._state, "--json")

    def cancel(self, *ids):
        return self._uploader.run("cancel", *ids, *self._state, "--json")

    def listed(self):
        return self._uploader.run("list", "--json", *self._state).events


@pytest.fixture
def tus(servers, uploader, tmp_path):
    return TusUploads(servers, uploader, tmp_path / "state")


@pytest.fixture
def line_to(servers):
    def line(site, scheme, conduct=Conduct()):
        line = Line(servers.ports[site, scheme], lambda number: conduct)
        line.site = site, scheme
        return line
    return line


@pytest.fixture
def recording(servers, files):
    """Makes files whose names tell the server's uploads apart; they and what was stored of them go with the test."""
    made = []

    def make(size):
        made.append(files.fresh(size, f"{uuid.uuid4().hex}.mp4"))
        return made[-1]
    yield make
    for file in made:
        file.unlink()
    servers.forget_uploads_over(MIB)


def assert_stored(servers, run, file):
    """Exit 0, and the server has one upload of the file: complete, and with its bytes."""
    size = file.stat().st_size
    assert run.exit_code == DELIVERED, run
    assert run.outcome["event"] == "delivered"
    assert run.outcome["bytes"] == size
    upload, = servers.tus_uploads(file.name)
    assert (upload.offset, upload.size) == (size, size)
    assert recordings.sha256(upload.path) == recordings.sha256(file)


def interrupt(servers, line, start, number):
    """Lets 30 MB pass, ends the uploader in the middle, and then its connection."""
    held = line.strike(Trouble(HOLD, Point(30 * MB)))
    with start() as running:
        running.wait_until(lambda: held.is_done)
        running.signal(number)
        run = running.finish()
    line.drop()
    servers.wait_until_idle(*line.site)
    return run


@everywhere
def test_a_recording_arrives_byte_for_byte_in_little_memory(servers, tus, recording, site, scheme):
    file = recording(SIZE)
    run = tus.send(site, scheme, file)
    assert_stored(servers, run, file)
    assert 0 < run.peak_memory_bytes <= MEMORY_CEILING


@pytest.mark.parametrize("size", [1, MIB, MIB + 1, 8 * MIB, 9 * MIB + 1])
def test_sizes_around_the_first_requests_edges(servers, tus, recording, size):
    file = recording(size)
    assert_stored(servers, tus.send(*TUS, file), file)


@pytest.mark.parametrize("option", ["--set=defer-length=yes", "--set=method-override=yes"])
@each_kind
def test_other_ways_to_ask_are_understood(servers, tus, recording, site, scheme, option):
    file = recording(20 * MIB)
    assert_stored(servers, tus.send(site, scheme, file, option), file)


@pytest.mark.parametrize("again", ["send", "resume"])
@pytest.mark.parametrize("number, exit_code", [(signal.SIGTERM, TERMINATED), (signal.SIGKILL, KILLED)],
                         ids=["SIGTERM", "SIGKILL"])
@each_kind
def test_an_interrupted_upload_resumes_at_the_servers_offset(
        servers, tus, line_to, recording, site, scheme, number, exit_code, again):
    file = recording(SIZE)
    with line_to(site, scheme) as line:
        first = interrupt(servers, line, lambda: tus.start(site, scheme, file, port=line.port), number)
        assert first.exit_code == exit_code, first
        upload, = servers.tus_uploads(file.name)
        assert 30 * MB - ONE_REQUEST - OVERHEAD <= upload.offset <= 30 * MB
        before = line.passed
        second = tus.send(site, scheme, file, port=line.port) if again == "send" else tus.resume()
        assert_stored(servers, second, file)
        assert line.passed - before < SIZE - upload.offset + OVERHEAD


@each_kind
def test_a_connection_that_is_reset_is_made_again(servers, tus, line_to, recording, site, scheme):
    file = recording(SIZE)
    with line_to(site, scheme) as line:
        line.strike(Trouble(RESET_CLIENT, Point(30 * MB), NOTICE_SECONDS))
        run = tus.send(site, scheme, file, "--retry", "5", port=line.port)
        assert_stored(servers, run, file)
        assert line.connections >= 2
        # tuspyserver may not have counted the received bytes yet; then one request is wasted.
        assert line.passed < SIZE + 2 * ONE_REQUEST + OVERHEAD


def test_a_line_that_is_reset_again_and_again_delivers_anyway(servers, tus, line_to, recording):
    file = recording(SIZE)
    with line_to(*TUS, Conduct(trouble=Trouble(RESET_CLIENT, Point(10 * MB), NOTICE_SECONDS))) as line:
        assert_stored(servers, tus.send(*TUS, file, "--retry", "8", port=line.port), file)
        assert line.connections >= 7


@each_kind
def test_a_server_far_away_gets_the_recording(servers, tus, line_to, recording, site, scheme):
    file = recording(SIZE)
    with line_to(site, scheme, Conduct(latency=DELAY)) as line:
        assert_stored(servers, tus.send(site, scheme, file, port=line.port), file)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("site", ["nginx-100m-spools", "nginx-100m-streams"])
def test_requests_that_are_too_large_for_a_proxy_are_halved(servers, tus, recording, site, scheme):
    file = recording(150 * MB)
    assert_stored(servers, tus.send(site, scheme, file, "--chunk-size", "200M"), file)
    statuses = [request["status"] for request in servers.requests(site, scheme) if request["method"] == "PATCH"]
    assert statuses[-3:] == ["413", "204", "204"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_requests_are_halved_until_modsecurity_takes_them(servers, tus, recording, scheme):
    file = recording(3 * MIB)
    # Over 1 MiB ModSecurity refuses from the head, from 128 KiB on when so much has come.
    assert_stored(servers, tus.send("apache-modsecurity-1m", scheme, file), file)
    statuses = [request["status"] for request in servers.requests("apache-modsecurity-1m", scheme)]
    assert "413" in statuses and statuses.count("204") >= 3 * MIB // (128 * 1024)


def test_requests_are_halved_also_when_the_next_one_is_under_way(servers, tus, line_to, recording):
    # Over a distance two requests are in flight; refusing the first ends the connection. So does Apache's
    # hundredth answer on it, and this takes more.
    file = recording(8 * MIB)
    with line_to("apache-modsecurity-1m", "https", Conduct(latency=DELAY)) as line:
        run = tus.send("apache-modsecurity-1m", "https", file, port=line.port)
        assert_stored(servers, run, file)
        # Each was refused, and none was lost: nothing to wait for.
        assert [event for event in run.events if event["event"] == "retry"] == []


def test_several_files_at_a_time(servers, tus, recording):
    files = [recording(8 * MIB) for _ in range(6)]
    with tus.start("apache", "https", *files, "--jobs", "4") as running:
        run = running.finish()
    assert run.exit_code == DELIVERED, run
    for file in files:
        upload, = servers.tus_uploads(file.name)
        assert recordings.sha256(upload.path) == recordings.sha256(file)


@pytest.mark.parametrize("site", ["apache", "nginx-100m-streams"])
def test_a_wrong_password_is_reported(tus, recording, tmp_path, site):
    wrong = tmp_path / "password"
    wrong.write_text("wrong\n")
    wrong.chmod(0o600)
    assert_failed(tus.send(site, "https", recording(MIB), "--password-file", wrong), CREDENTIALS_REFUSED)


@each_kind
def test_cancelling_removes_the_upload_here_and_on_the_server(servers, tus, line_to, recording, site, scheme):
    file = recording(SIZE)
    with line_to(site, scheme) as line:
        interrupt(servers, line, lambda: tus.start(site, scheme, file, port=line.port), signal.SIGTERM)
        assert len(servers.tus_uploads(file.name)) == 1
        pending, = tus.listed()
        run = tus.cancel(pending["id"])
        assert run.exit_code == DELIVERED, run
    assert servers.tus_uploads(file.name) == []
    assert tus.listed() == []


def test_an_upload_that_the_server_has_forgotten_starts_over(servers, tus, line_to, recording):
    file = recording(SIZE)
    with line_to(*TUS) as line:
        interrupt(servers, line, lambda: tus.start(*TUS, file, port=line.port), signal.SIGKILL)
        upload, = servers.tus_uploads(file.name)
        for path in (upload.path, upload.path.with_suffix(".info")):
            path.unlink()
        assert_stored(servers, tus.resume(), file)


@pytest.mark.parametrize("site, scheme, end", [
    (*TUS, "kill"), (*TUS, "stop"), ("apache", "https", "kill"), ("nginx-100m-spools", "http", "kill"),
    ("nginx-100m-streams", "https", "kill")])
def test_a_tus_server_that_ends_and_comes_back_gets_the_rest(servers, tus, line_to, recording, site, scheme, end):
    file = recording(SIZE)
    with line_to(site, scheme) as line:
        held = line.strike(Trouble(HOLD, Point(30 * MB)))
        with tus.start(site, scheme, file, "--retry", "20", "--set=retry-max-delay=1s", port=line.port) as running:
            running.wait_until(lambda: held.is_done)
            getattr(servers.tus, end)()
            try:
                line.drop()
                time.sleep(3)  # the uploader asks in vain
            finally:
                servers.start_tus()
            run = running.finish()
        assert_stored(servers, run, file)


def test_a_dead_connection_that_the_server_still_believes_in_does_not_end_the_upload(servers, tus, line_to, recording):
    # tuspyserver holds the upload for the dead connection, does not count what that has brought, and is deaf for 30 s
    # when another PATCH comes; then it answers 503.
    file = recording(SIZE)
    with line_to(*TUS) as line:
        held = line.strike(Trouble(HOLD, Point(30 * MB)))
        with tus.start(*TUS, file, port=line.port) as running:
            running.wait_until(lambda: held.is_done)
            running.signal(signal.SIGKILL)
            running.finish()
        with tus.start(*TUS, file, "--retry", "20", port=line.port) as running:
            time.sleep(5)
            line.drop()
            run = running.finish()
    assert_stored(servers, run, file)


# GigHive: the same in front of /api/uploads/finalize.

@pytest.mark.parametrize("scheme", ["http", "https"])
def test_gighive_makes_a_recording_of_the_upload(servers, tus, recording, scheme):
    file = recording(SIZE)
    run = tus.send_gighive(scheme, file, "--field", "participants=Zoë,Søren", "--field", "rating=5")
    assert_delivered(servers, run, file)
    assert servers.tus_uploads(file.name) == []
    record = servers.record(recordings.sha256(file))
    assert (record["file_name"], record["mime_type"], record["user"]) == (file.name, "video/mp4", "uploader")
    assert record["fields"] == {
        "event_date": "2026-11-20", "org_name": "Interop", "event_type": "band", "label": LABEL,
        "participants": "Zoë,Søren", "rating": "5"}


@pytest.mark.parametrize("size, by_tus", [(99 * MB, False), (101 * MB, True)], ids=["99MB", "101MB"])
def test_gighive_gets_large_recordings_by_tus_and_others_in_one_request(servers, tus, recording, size, by_tus):
    file = recording(size)
    before = len(servers.requests("apache", "https"))
    assert_delivered(servers, tus.send_gighive("https", file, protocol="auto"), file)
    methods = [request["method"] for request in servers.requests("apache", "https")[before:]]
    assert ("PATCH" in methods) == by_tus


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_gighive_gets_an_interrupted_upload_from_its_offset_on(servers, tus, line_to, recording, number):
    file = recording(SIZE)
    with line_to("apache", "https") as line:
        interrupt(servers, line, lambda: tus.start_gighive("https", file, port=line.port), number)
        upload, = servers.tus_uploads(file.name)
        before = line.passed
        assert_delivered(servers, tus.resume(), file)
        assert line.passed - before < SIZE - upload.offset + OVERHEAD


def test_gighive_is_asked_again_while_the_upload_has_not_been_written(servers, tus, recording):
    file = recording(MIB)
    with servers.tus_hook_delay(3):
        assert_delivered(servers, tus.send_gighive("https", file), file)
    finalized = [request["status"] for request in servers.requests("apache", "https") if request["method"] == "POST"]
    assert finalized[-2:] == ["500", "201"]


def test_gighive_is_not_sent_anything_twice_when_only_finalize_is_missing(servers, tus, line_to, recording):
    file = recording(SIZE)
    with line_to("apache", "https") as line:
        with servers.tus_hook_delay(1000), tus.start_gighive("https", file, port=line.port) as running:
            running.wait_until(lambda: [upload.offset for upload in servers.tus_uploads(file.name)] == [SIZE])
            time.sleep(0.5)  # finalize is asked
            running.signal(signal.SIGKILL)
            running.finish()
        before = line.passed
        assert_delivered(servers, tus.resume(), file)
        assert line.passed - before < OVERHEAD


def test_gighives_duplicate_is_already_there(servers, uploader, tus, recording, tmp_path):
    file = recording(MIB)
    assert_delivered(servers, tus.send_gighive("https", file), file)
    other = TusUploads(servers, uploader, tmp_path / "another-state")
    assert_delivered(servers, other.send_gighive("https", file), file)
