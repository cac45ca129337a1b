"""Recordings to Apache's WebDAV, to WsgiDAV and to rclone: a hidden name, a MOVE, and nothing replaced; and as objects, with PUT alone."""

import signal
import socket
import subprocess
import time

import pytest

import rclone_server
import recordings
from servers import PYTHON
from test_interop import CREDENTIALS_REFUSED, DELIVERED, MEMORY_CEILING, REFUSED, assert_failed

MIB = 2**20
CONFLICT = 11
WEBDAV, PUT = "--webdav", "--put-url"


@pytest.fixture
def webdav(servers, uploader, tmp_path):
    """The command line for a directory of the server."""
    def webdav(file, *options, way=WEBDAV, scheme="https", directory=""):
        url = servers.url("apache-dav", scheme) + "/dav/" + directory
        return ["send", file, way, url, *uploader.credentials(scheme), "--state-dir", tmp_path / "state", "--json", *options]
    return webdav


def hidden(servers) -> list:
    return list((servers.root / "dav").rglob(".*.gighive-part"))


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("way, directory", [(WEBDAV, "new {}/deep/"), (PUT, "")])
def test_a_recording_arrives_byte_for_byte_in_little_memory(servers, uploader, files, webdav, scheme, way, directory):
    directory = directory.format(scheme)
    file = files.fresh(20 * MIB + 1, f"a b+\xfc {scheme}.mp4")
    run = uploader.run(*webdav(file, way=way, scheme=scheme, directory=directory.replace(" ", "%20")))
    assert run.exit_code == DELIVERED and run.outcome["bytes"] == file.stat().st_size, run
    assert recordings.sha256(servers.root / "dav" / directory / file.name) == recordings.sha256(file) and not hidden(servers)
    assert 0 < run.peak_memory_bytes <= MEMORY_CEILING


@pytest.mark.parametrize("way", [WEBDAV, PUT])
def test_an_upload_that_a_kill_interrupts_is_sent_again(servers, uploader, files, webdav, tmp_path, way):
    file = files.fresh(20 * MIB, f"killed {way}.mp4")
    with uploader.start(*webdav(file, "--limit-rate", "8M", way=way)) as running:
        running.wait_until(lambda: any((servers.root / "dav").rglob(".davfs.tmp*")))
        running.signal(signal.SIGKILL)
        running.finish()
    assert not (servers.root / "dav" / file.name).exists()
    run = uploader.run("resume", "--all", "--state-dir", tmp_path / "state", "--json")
    assert run.exit_code == DELIVERED, run
    assert recordings.sha256(servers.root / "dav" / file.name) == recordings.sha256(file) and not hidden(servers)


def test_nothing_is_replaced(servers, uploader, files, webdav):
    file = files.fresh(1000, "there.mp4")
    (servers.root / "dav" / file.name).write_bytes(b"mine")
    assert_failed(uploader.run(*webdav(file)), CONFLICT)
    assert (servers.root / "dav" / file.name).read_bytes() == b"mine" and not hidden(servers)


def test_delete_removes_what_was_delivered(servers, uploader, files, webdav, tmp_path):
    file = files.fresh(1000, "deleted.mp4")
    run = uploader.run(*webdav(file))
    assert run.exit_code == DELIVERED, run
    deleted = uploader.run("delete", run.outcome["id"], "--state-dir", tmp_path / "state", "--json")
    assert deleted.exit_code == 0 and not (servers.root / "dav" / file.name).exists(), deleted


def test_delete_leaves_what_a_later_upload_has_put_there(servers, uploader, files, webdav, tmp_path):
    """Of the same size."""
    first = uploader.run(*webdav(files.fresh(1000, "replaced.mp4")))
    (tmp_path / "other").mkdir()
    later = files.fresh(1000, "later.mp4").rename(tmp_path / "other" / "replaced.mp4")
    assert uploader.run(*webdav(later, "--overwrite")).exit_code == DELIVERED
    assert_failed(uploader.run("delete", first.outcome["id"], "--state-dir", tmp_path / "state", "--json"), CONFLICT)
    assert (servers.root / "dav" / later.name).read_bytes() == later.read_bytes()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_doctor_finds_no_problem_and_leaves_nothing(servers, uploader, files, webdav, scheme):
    before = sorted((servers.root / "dav").rglob("*"))
    run = uploader.run("doctor", *webdav(files.fresh(1000), scheme=scheme)[1:])
    assert run.exit_code == 0 and "has taken a test object" in run.findings and "test object is deleted" in run.findings, run
    assert sorted((servers.root / "dav").rglob("*")) == before


@pytest.mark.parametrize("way", [WEBDAV, PUT])
def test_a_wrong_password_is_a_failure(uploader, files, webdav, way):
    assert_failed(uploader.run(*webdav(files.fresh(1000), "--user", "nobody", way=way)), CREDENTIALS_REFUSED)


def test_a_directory_that_is_missing_for_put_is_named(uploader, files, webdav):
    run = uploader.run(*webdav(files.fresh(1000), way=PUT, directory="missing/"))
    assert_failed(run, REFUSED)
    assert "it has no directory for this URL" in run.outcome["message"]


# MARK: WsgiDAV, and rclone: both keep half a file


@pytest.fixture(params=["wsgidav", "rclone"])
def dav(request, tmp_path):
    """The URL of a server, and the directory that it serves."""
    store = tmp_path / "store"
    store.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    programs = PYTHON.parent
    command = rclone_server.command(programs, "webdav", port, store) if request.param == "rclone" else [
        programs / "wsgidav", "--host", "127.0.0.1", "--port", str(port), "--root", store, "--auth", "anonymous", "-q"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 5).close()
                    break
                except OSError:
                    assert server.poll() is None and time.monotonic() < deadline, f"{request.param} does not listen"
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/", store
        finally:
            server.terminate()


def test_half_a_file_is_removed_and_sent_again(dav, uploader, files, tmp_path):
    url, store = dav
    file = files.fresh(20 * MIB)
    options = ["--state-dir", tmp_path / "state", "--json"]
    with uploader.start("send", file, "--webdav", url + "new/deep/", "--limit-rate", "4M", *options) as running:
        running.wait_until(lambda: any(part.stat().st_size > MIB for part in store.rglob(".*.gighive-part")))
        running.signal(signal.SIGKILL)
        running.finish()
    assert list(store.rglob(".*.gighive-part"))
    run = uploader.run("resume", "--all", *options)
    assert run.exit_code == DELIVERED, run
    stored = [path for path in store.rglob("*") if path.is_file()]
    assert stored == [store / "new" / "deep" / file.name] and recordings.sha256(stored[0]) == recordings.sha256(file)


def test_it_replaces_nothing_either(dav, uploader, files, tmp_path):
    url, store = dav
    file = files.fresh(1000)
    (store / file.name).write_bytes(b"mine")
    assert_failed(uploader.run("send", file, "--webdav", url, "--state-dir", tmp_path / "state", "--json"), CONFLICT)
    assert [path.read_bytes() for path in store.iterdir()] == [b"mine"]


def test_doctor_leaves_nothing_there_either(dav, uploader, files, tmp_path):
    url, store = dav
    run = uploader.run("doctor", "--webdav", url + "new/", "--state-dir", tmp_path / "state", "--json")
    assert run.exit_code == 0 and "/new/ yet" in run.findings and list(store.iterdir()) == [], run
