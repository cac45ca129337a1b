"""Large recordings in chunks to a Nextcloud, on a disk and on an object store. What its responses mean: Transcripts/webdav/nextcloud.txt."""

import signal

import pytest
from nextcloud import PASSWORD, USER, NextcloudStub, Upload
from program import private, wait_until
from records import only_record
from watching import write

MIB = 2**20
PART = 16 * MIB
SIZE = 2 * PART + 5
CHUNKS = ["1", "2", "3"]


@pytest.fixture(params=["disk", "s3"])
def cloud(request):
    stub = NextcloudStub(request.param)
    yield stub
    stub.close()


@pytest.fixture
def disk():
    stub = NextcloudStub()
    yield stub
    stub.close()


@pytest.fixture
def file(recording):
    return recording(SIZE, name="a.wav")


@pytest.fixture
def login(tmp_path):
    return ["--user", USER, "--password-file", private(tmp_path / "password", PASSWORD)]


@pytest.fixture
def send(program, file, login):
    def send(cloud, *arguments, to="", retries=2, **options):
        return program.run("send", file, "--webdav", cloud.url + to, *login, *arguments, retries=retries, **options)
    return send


@pytest.fixture
def killed(program, file, login):
    """`send`, killed when a request comes of which this is true."""
    def killed(cloud, when, *arguments):
        running = []

        def before(request):
            if when(request):
                cloud.before = lambda request: None
                wait_until(lambda: running)[0].signal(signal.SIGKILL)
        cloud.before = before
        running.append(program.start("send", file, "--webdav", cloud.url, *login, *arguments))
        assert running[0].wait().code == -signal.SIGKILL
        cloud.requests.clear()
    return killed


def is_chunk(number):
    return lambda request: request.command == "PUT" and request.path.endswith(f"/{number}")


def is_join(request):
    return request.command == "MOVE"


def arrived(cloud, file, name="a.wav") -> bool:
    """Alone and whole, with its time, and nothing is left of its chunks."""
    stored = {path: (one.content, one.modified) for path, one in cloud.files.items()}
    return stored == {name: (file.read_bytes(), int(file.stat().st_mtime))} and not cloud.uploads


def test_chunks_arrive_and_are_joined(cloud, send, file):
    result = send(cloud, "--json").check()
    assert arrived(cloud, file) and cloud.chunks() == CHUNKS and not result.outcome["already_there"]
    assert all(headers.get("Destination", "").endswith("/a.wav") for (method, path), headers in zip(
        cloud.requests, cloud.headers, strict=True) if method in ("MKCOL", "PUT", "MOVE"))
    assert "already delivered" in send(cloud).check().out


@pytest.mark.parametrize("hashes", [True, False])
def test_the_servers_sha256_is_a_proof_if_it_has_one(cloud, send, file, hashes):
    cloud.hashes = hashes
    result = send(cloud, "--digest", "--json").check()
    # On a disk, the response to MOVE has it.
    assert result.outcome["checksum_verified"] == (hashes or cloud.kind == "disk") and arrived(cloud, file)
    assert ("PATCH" in cloud.methods()) == (cloud.kind == "s3")


def test_what_has_arrived_may_be_removed(cloud, send, file):
    content = file.read_bytes()
    send(cloud, "--after", "remove", "--trust-server").check()
    assert not file.exists() and cloud.files["a.wav"].content == content


def test_a_server_below_a_path_and_directories_that_are_missing(send, file):
    stub = NextcloudStub(base="/cloud")
    try:
        send(stub, to="2026/may%20{{1}}/").check()
        assert arrived(stub, file, "2026/may {1}/a.wav")
    finally:
        stub.close()


def test_a_directory_that_vanishes_is_made_again(disk, send, file):
    disk.before = lambda request: is_chunk(3)(request) and disk.directories.discard("x")
    send(disk, to="x/").check()
    assert arrived(disk, file, "x/a.wav") and disk.chunks() == CHUNKS


def test_a_list_may_be_as_long_as_that_of_all_chunks(disk, send, file):
    """Five names are as long here as 1,000."""
    disk.padding = 60_000
    send(disk).check()
    assert arrived(disk, file)


def test_a_server_without_chunks_gets_one_request(disk, send, file):
    disk.takes_chunks = False
    send(disk).check()
    assert disk.files["a.wav"].content == file.read_bytes() and disk.methods().count("PUT") == 1


# MARK: Interruptions


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_kill_costs_only_the_chunk_in_flight(cloud, send, killed, file, number):
    killed(cloud, is_chunk(number))
    result = send(cloud).check()
    assert arrived(cloud, file) and ("resumed" in result.out) == (number > 1)
    # The one in flight is sent again, and none before it.
    assert cloud.chunks() == CHUNKS[number - 1:]


def test_a_chunk_that_is_lost_or_short_is_sent_again_alone(cloud, send, killed, file):
    killed(cloud, is_chunk(3))
    upload = next(iter(cloud.uploads.values()))
    upload.chunks["2"] = upload.chunks["2"][:-1]
    send(cloud).check()
    assert arrived(cloud, file) and cloud.chunks() == ["2", "3"]


def test_one_that_is_lost_before_they_are_joined_is_noticed(cloud, send, file):
    """On an object store, nobody else would."""
    def before(request):
        if request.command == "PROPFIND" and "/uploads/" in request.path:
            cloud.before = lambda request: None
            next(iter(cloud.uploads.values())).chunks.pop("2")
    cloud.before = before
    send(cloud).check()
    assert arrived(cloud, file) and cloud.chunks() == [*CHUNKS, "2"]


@pytest.mark.parametrize("fate", ["lost", "dropped", (423, r"OCA\DAV\Connector\Sabre\Exception\FileLocked", "locked"), (504, "", "")])
def test_a_join_without_a_clear_response_is_made_once(cloud, send, file, fate):
    cloud.moves = [fate]
    send(cloud).check()
    assert arrived(cloud, file) and cloud.chunks() == CHUNKS and cloud.methods().count("MOVE") == (1 if fate == "lost" else 2)


def test_a_kill_during_the_join_repeats_nothing(cloud, send, killed, file):
    killed(cloud, is_join)
    wait_until(lambda: cloud.files)
    send(cloud).check()
    assert arrived(cloud, file) and not {"PUT", "MOVE"} & set(cloud.methods())


def test_lost_metadata_start_the_upload_over(send, killed, file):
    stub = NextcloudStub("s3")
    try:
        killed(stub, is_chunk(3))
        stub.lose_cache()
        send(stub).check()
        assert stub.files["a.wav"].content == file.read_bytes() and stub.chunks() == ["1", *CHUNKS] and not stub.uploads
    finally:
        stub.close()


def test_an_upload_that_expired_is_begun_anew(cloud, send, killed, file):
    killed(cloud, is_chunk(3))
    cloud.uploads.clear()
    send(cloud).check()
    assert arrived(cloud, file) and cloud.chunks() == CHUNKS


def test_a_recording_that_was_exchanged_is_sent_anew(cloud, send, killed, file):
    killed(cloud, is_chunk(3))
    write(file, PART + 7)
    send(cloud).check()
    assert arrived(cloud, file) and cloud.methods().count("DELETE") == 1


def test_so_is_one_that_is_small_now(cloud, send, killed, file):
    killed(cloud, is_chunk(3))
    write(file, 1000)
    send(cloud).check()
    assert cloud.files["a.wav"].content == file.read_bytes() and not cloud.uploads


# MARK: Refusals


def test_another_file_is_kept_whenever_it_comes(cloud, send, file):
    cloud.files["a.wav"] = disk_file = type("File", (), {"content": b"other", "modified": 1})()
    assert send(cloud).code == 11 and cloud.chunks() == []
    cloud.files.clear()

    def before(request):
        if is_join(request):
            cloud.files["a.wav"] = disk_file
    cloud.before = before
    assert send(cloud).code == 11 and cloud.files == {"a.wav": disk_file} and not cloud.uploads


def test_it_is_replaced_if_that_is_asked(cloud, send, file):
    cloud.files["a.wav"] = type("File", (), {"content": b"other", "modified": 1})()
    send(cloud, "--overwrite").check()
    assert arrived(cloud, file)


def test_a_full_quota_is_an_exit_code_of_its_own(cloud, send, file):
    cloud.quota = PART + 100
    assert send(cloud).code == 8 and cloud.chunks() == ["1", "2"]
    # What is there is not sent again.
    cloud.requests.clear()
    cloud.quota = None
    send(cloud).check()
    assert arrived(cloud, file) and cloud.chunks() == ["2", "3"]


def test_maintenance_is_waited_for_and_a_disabled_account_is_not(cloud, send, file):
    cloud.disabled = True
    result = send(cloud, retries=5)
    assert result.code == 6 and len(cloud.requests) == 1 and "Account disabled" in result.err, result
    cloud.disabled, cloud.maintenance = False, True
    cloud.before = lambda request: setattr(cloud, "maintenance", len(cloud.requests) < 3)
    result = send(cloud).check()
    assert "maintenance" in result.err and arrived(cloud, file)


def test_a_wrong_password_is_tried_once_and_pauses_a_watcher(disk, watch, tmp_path, send, login):
    disk.password = "another"
    assert send(disk, retries=5).code == 6 and disk.wrong == 1
    rest = [write(tmp_path / "more" / f"{number}.wav") for number in range(12)]
    assert send(disk, *rest, retries=5).code == 6 and disk.wrong == 2
    watching = watch(None, "--webdav", disk.url, *login)
    for name in ("b.wav", "c.wav"):
        write(tmp_path / "rec" / name)
    watching.says("Nothing is sent until this is fixed")
    watching.stop()
    # Eleven would lock the address out.
    assert disk.wrong == 3


# MARK: The other commands


def test_cancel_deletes_the_chunks(cloud, program, killed):
    killed(cloud, is_chunk(3))
    cloud.uploads["another"] = Upload(None)
    assert program.run("status", "--json").events[0]["pending_count"] == 1
    assert only_record(program).document["offset"] == 2 * PART
    program.run("cancel", only_record(program).id).check()
    assert list(cloud.uploads) == ["another"] and cloud.methods() == ["DELETE"] and not cloud.files


def test_delete_removes_a_recording_that_is_still_the_same(cloud, program, send):
    send(cloud).check()
    program.run("delete", only_record(program).id).check()
    assert not cloud.files


@pytest.mark.parametrize("takes", [True, False])
def test_doctor_says_whether_chunks_are_taken(cloud, program, login, takes):
    cloud.takes_chunks = takes
    result = program.run("doctor", "--webdav", cloud.url, *login, "--json").check()
    found = {event["check"]: event["result"] for event in result.events if event["event"] == "check"}
    assert found["chunks"] == ("ok" if takes else "warning") and found["removal"] == "ok", result
    assert not cloud.files and not cloud.uploads


def test_doctor_names_maintenance(cloud, program, login):
    cloud.maintenance = True
    result = program.run("doctor", "--webdav", cloud.url, *login)
    assert result.code == 9 and "maintenance" in result.out + result.err, result
