"""Recordings as objects: PUT to Apache's WebDAV."""

import signal

import pytest

import recordings
from test_interop import CREDENTIALS_REFUSED, DELIVERED, MEMORY_CEILING, REFUSED, assert_failed

MIB = 2**20


@pytest.fixture
def put(servers, uploader, tmp_path):
    """The command line for an object in a directory of the server."""
    def put(file, *options, scheme="https", directory=""):
        url = servers.url("apache-dav", scheme) + "/dav/" + directory
        return ["send", file, "--put-url", url, *uploader.credentials(scheme), "--state-dir", tmp_path / "state", "--json", *options]
    return put


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_recording_arrives_byte_for_byte_in_little_memory(servers, uploader, files, put, scheme):
    file = files.fresh(20 * MIB + 1, f"a b+\xfc {scheme}.mp4")
    run = uploader.run(*put(file, scheme=scheme))
    assert run.exit_code == DELIVERED and run.outcome["bytes"] == file.stat().st_size, run
    assert recordings.sha256(servers.root / "dav" / file.name) == recordings.sha256(file)
    assert 0 < run.peak_memory_bytes <= MEMORY_CEILING


def test_an_upload_that_a_kill_interrupts_is_sent_again(servers, uploader, files, put, tmp_path):
    file = files.fresh(20 * MIB)
    with uploader.start(*put(file, "--limit-rate", "8M")) as running:
        running.wait_until(lambda: any((servers.root / "dav").rglob(".davfs.tmp*")))
        running.signal(signal.SIGKILL)
        running.finish()
    assert not (servers.root / "dav" / file.name).exists()
    run = uploader.run("resume", "--all", "--state-dir", tmp_path / "state", "--json")
    assert run.exit_code == DELIVERED, run
    assert recordings.sha256(servers.root / "dav" / file.name) == recordings.sha256(file)


def test_a_directory_that_is_missing_is_named(uploader, files, put):
    run = uploader.run(*put(files.fresh(1000), directory="missing/"))
    assert_failed(run, REFUSED)
    assert "it has no directory for this URL" in run.outcome["message"]


def test_a_wrong_password_is_a_failure(uploader, files, put):
    run = uploader.run(*put(files.fresh(1000), "--user", "nobody"))
    assert_failed(run, CREDENTIALS_REFUSED)
