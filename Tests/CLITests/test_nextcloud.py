"""Large recordings in chunks to a Nextcloud, on a disk and on an object store. What its responses mean: Transcripts/webdav/nextcloud.txt."""

import os

import pytest
from nextcloud import PASSWORD, USER, File, NextcloudStub, Upload
from program import private
from records import only_record
from watching import write

MIB = 2**20
PART = 16 * MIB
SIZE = 2 * PART + 5
CHUNKS = ["1", "2", "3"]


@pytest.fixture(params=["disk", "s3"])
def cloud(request):
    with NextcloudStub(request.param) as stub:
        yield stub


@pytest.fixture
def disk():
    with NextcloudStub() as stub:
        yield stub


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
def killed(killed_by, file, login):
    """`send`, killed when a request comes of which this is true."""
    return lambda cloud, when: killed_by(cloud, when, "send", file, "--webdav", cloud.url, *login)


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


def test_two_microphones_record_the_same_name_size_and_second(cloud, program, recording, login, tmp_path):
    """The server says nothing of what it stores: the one that it refuses must not be removed here."""
    cloud.hashes = False
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files.append(recording(SIZE, name="a.wav", directory=tmp_path / name))
        os.utime(files[-1], (1_750_000_000, 1_750_000_000))
    result = program.run("send", *files, "--webdav", cloud.url + "{name}", *login, "-j", "2", "--after", "remove", "--trust-server",
                         retries=5)
    contents = [file.read_bytes() for file in files if file.exists()]
    assert result.code == 11 and len(contents) == 1, result
    assert [one.content for one in cloud.files.values()] != contents and not cloud.uploads


def test_a_server_below_a_path_and_directories_that_are_missing(send, file):
    with NextcloudStub(base="/cloud") as stub:
        send(stub, to="2026/may%20{{1}}/").check()
        assert arrived(stub, file, "2026/may {1}/a.wav")


def test_a_list_may_be_as_long_as_that_of_all_chunks(disk, send, file):
    """Five names are as long here as 1,000."""
    disk.padding = 60_000
    send(disk).check()
    assert arrived(disk, file)


# MARK: Interruptions


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_kill_costs_only_the_chunk_in_flight(cloud, send, killed, file, number):
    killed(cloud, is_chunk(number))
    result = send(cloud).check()
    assert arrived(cloud, file) and ("resumed" in result.out) == (number > 1)
    # The one in flight is sent again, and none before it.
    assert cloud.chunks() == CHUNKS[number - 1:]


# MARK: Refusals


def test_it_is_replaced_if_that_is_asked(cloud, send, file):
    cloud.files["a.wav"] = File(b"other")
    send(cloud, "--overwrite").check()
    assert arrived(cloud, file)


def test_a_wrong_password_is_tried_once_for_all_recordings(disk, tmp_path, send):
    """Eleven would lock the address out."""
    disk.password = "another"
    rest = [write(tmp_path / "more" / f"{number}.wav") for number in range(12)]
    assert send(disk, *rest, retries=5).code == 6 and disk.wrong == 1


# MARK: Public links


@pytest.fixture(params=["share", "drop"])
def link(request):
    with NextcloudStub(link=request.param) as stub:
        yield stub


@pytest.fixture
def send_to(program, file):
    return lambda link, *arguments, **options: program.run("send", file, "--webdav", link.url, *arguments, **{"retries": 2, **options})


@pytest.mark.parametrize("size", [5, SIZE])
def test_a_public_link_gets_recordings_of_any_size_in_chunks(link, send_to, file, size):
    file.write_bytes(file.read_bytes()[:size])
    result = send_to(link, "--digest", "--json").check()
    assert arrived(link, file) and len(link.chunks()) == (3 if size == SIZE else 1) and result.outcome["checksum_verified"]
    assert "already delivered" in send_to(link).check().out


def test_doctor_leaves_nothing_in_a_file_drop(link, program):
    result = program.run("doctor", "--webdav", link.url, "--json").check()
    found = {event["check"]: event["result"] for event in result.events if event["event"] == "check"}
    assert found["test-object"] == ("ok" if link.link == "share" else "not_examined") and not link.files, result


# MARK: The other commands


def test_cancel_deletes_the_chunks(cloud, program, killed):
    killed(cloud, is_chunk(3))
    cloud.uploads["another"] = Upload(None)
    assert program.run("status", "--json").events[0]["pending_count"] == 1
    assert only_record(program).document["offset"] == 2 * PART
    program.run("cancel", only_record(program).id).check()
    assert list(cloud.uploads) == ["another"] and cloud.methods() == ["DELETE"] and not cloud.files


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
