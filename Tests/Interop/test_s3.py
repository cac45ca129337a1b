"""Recordings as objects of OpenStack Swift's S3 API, of Ceph's, and of rclone's."""

import json
import signal
import socket
import subprocess
import time
from contextlib import contextmanager

import pytest

import ceph_server
import rclone_server
import recordings
import s3_server
import servers as interop_servers
from test_interop import CREDENTIALS_REFUSED, DELIVERED, MEMORY_CEILING, REFUSED, assert_failed

MIB = 2**20
CONFLICT = 11


@pytest.fixture(scope="module", params=["swift", "ceph", "rclone"])
def s3(request, servers):
    """Its URL."""
    @contextmanager
    def start(name, command, port):
        daemon = interop_servers.Daemon(name, command, servers.root)
        daemon.start()
        try:
            until = time.monotonic() + 120
            while port and socket.socket().connect_ex(("127.0.0.1", port)) != 0:
                assert time.monotonic() < until, servers.log(f"{name}.out")
                time.sleep(0.05)
            yield
        finally:
            daemon.stop()

    root, ports = servers.root / request.param, interop_servers.free_ports(4)
    programs = interop_servers.PYTHON.parent
    with {
        "swift": lambda: s3_server.running(root, programs, start, ports),
        "ceph": lambda: ceph_server.running(root, start, ports),
        "rclone": lambda: rclone_server.running(root, programs, start, ports),
    }[request.param]() as url:
        yield url


@pytest.fixture
def put(s3, tmp_path):
    """The command line for an object in the bucket."""
    keys = tmp_path / "keys"
    keys.write_text(f"[default]\naws_access_key_id = {s3_server.KEY}\naws_secret_access_key = {s3_server.SECRET}\n")
    keys.chmod(0o600)

    def put(file, *options, key="", bucket="recordings"):
        return ["send", file, "--s3", f"s3://{bucket}/{key}", "--s3-endpoint", s3, "--s3-credentials", keys,
                "--state-dir", tmp_path / "state", "--json", *options]
    return put


def stored(s3, tmp_path, path: str) -> str:
    """The SHA-256 of an object."""
    (tmp_path / "object").write_bytes(s3_server.curl(s3, "GET", "/recordings/" + path))
    return recordings.sha256(tmp_path / "object")


def test_a_recording_arrives_byte_for_byte_in_little_memory(uploader, files, put, s3, tmp_path):
    file = files.fresh(20 * MIB + 1, "a b+\xfc.mp4")
    run = uploader.run(*put(file, key="My Shows/"))
    assert run.exit_code == DELIVERED and run.outcome["checksum_verified"], run
    assert stored(s3, tmp_path, "My%20Shows/a%20b%2B%C3%BC.mp4") == recordings.sha256(file)
    assert 0 < run.peak_memory_bytes <= MEMORY_CEILING


def record(tmp_path) -> dict:
    """Of the only upload."""
    for file in (tmp_path / "state").glob("*.record"):
        return json.loads(file.read_bytes().split(b"\n", 1)[1])
    return {}


def parts(tmp_path) -> int:
    return len(record(tmp_path).get("parts", []))


def test_a_recording_arrives_through_kills(uploader, files, put, s3, tmp_path):
    file = files.fresh(60 * MIB)
    for count in (1, 3, 5):
        with uploader.start(*put(file, "--limit-rate", "40M")) as running:
            running.wait_until(lambda: parts(tmp_path) >= count)
            running.signal(signal.SIGKILL)
            running.finish()
    run = uploader.run("resume", "--all", "--state-dir", tmp_path / "state", "--json")
    assert run.exit_code == DELIVERED, run
    assert stored(s3, tmp_path, file.name) == recordings.sha256(file)
    assert 0 < run.peak_memory_bytes <= MEMORY_CEILING


def test_cancelled_parts_are_gone(uploader, files, put, s3, tmp_path):
    with uploader.start(*put(files.fresh(30 * MIB), "--limit-rate", "40M", key="cancelled/")) as running:
        running.wait_until(lambda: parts(tmp_path) >= 1)
        running.signal(signal.SIGKILL)
        running.finish()
    path = record(tmp_path)["upload_url"].removeprefix(s3)
    assert b"<PartNumber>1<" in s3_server.curl(s3, "GET", path)
    assert uploader.run("cancel", record(tmp_path)["id"], "--state-dir", tmp_path / "state", "--json").exit_code == DELIVERED
    with pytest.raises(subprocess.CalledProcessError):
        s3_server.curl(s3, "GET", path)


def test_another_object_is_kept_and_the_same_is_recognized(uploader, files, put, s3, tmp_path):
    first, second = files.fresh(1000), files.fresh(1000)
    assert uploader.run(*put(first, key="x.mp4")).exit_code == DELIVERED
    assert_failed(uploader.run(*put(second, key="x.mp4")), CONFLICT)
    run = uploader.run(*put(first, "--again", key="x.mp4"))
    assert run.exit_code == DELIVERED and run.outcome["already_there"], run
    assert uploader.run(*put(second, "--overwrite", key="x.mp4")).exit_code == DELIVERED
    assert stored(s3, tmp_path, "x.mp4") == recordings.sha256(second)


def test_another_object_is_kept_by_one_in_parts(uploader, files, put, s3, tmp_path):
    first, second = files.fresh(1000), files.fresh(20 * MIB)
    assert uploader.run(*put(first, key="y.mp4")).exit_code == DELIVERED
    assert_failed(uploader.run(*put(second, key="y.mp4")), CONFLICT)
    assert stored(s3, tmp_path, "y.mp4") == recordings.sha256(first)
    run = uploader.run(*put(second, "--overwrite", "--connections", "4", key="y.mp4"))
    assert run.exit_code == DELIVERED and stored(s3, tmp_path, "y.mp4") == recordings.sha256(second), run


def test_a_wrong_bucket_and_a_wrong_secret_are_named(uploader, files, put, tmp_path):
    run = uploader.run(*put(files.fresh(1000), bucket="nobody"))
    assert_failed(run, REFUSED)
    assert "NoSuchBucket" in run.outcome["message"]
    (tmp_path / "keys").write_text((tmp_path / "keys").read_text().rstrip() + "x\n")
    assert_failed(uploader.run(*put(files.fresh(1000))), CREDENTIALS_REFUSED)


def test_doctor_finds_no_problem_and_leaves_nothing(uploader, files, put, s3, request):
    replaces = "cannot prevent overwriting" if request.node.callspec.params["s3"] == "rclone" else "replaces no object"
    before = s3_server.curl(s3, "GET", "/recordings")
    run = uploader.run("doctor", *put(files.fresh(1000), key="shows/")[1:])
    assert run.exit_code == 0 and replaces in run.findings and "test object is deleted" in run.findings, run
    assert s3_server.curl(s3, "GET", "/recordings") == before


def test_doctor_names_a_missing_bucket_and_wrong_keys(uploader, files, put, tmp_path):
    file = files.fresh(1000)
    run = uploader.run("doctor", *put(file, bucket="missing")[1:])
    assert run.exit_code == REFUSED and "NoSuchBucket" in run.findings, run
    command = put(file)
    (tmp_path / "keys").write_text(f"[default]\naws_access_key_id = {s3_server.KEY}\naws_secret_access_key = wrong\n")
    run = uploader.run("doctor", *command[1:])
    assert run.exit_code == CREDENTIALS_REFUSED and "SignatureDoesNotMatch" in run.findings, run
