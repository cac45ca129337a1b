"""A package of somebody else builds with the library, in Swift 6 mode and without a warning, and its server uploads."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests" / "HiveStub")]

from hivestub import HiveStub


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The consumer's program, built beside a copy of the library in a directory of another name."""
    place = tmp_path_factory.mktemp("somewhere")
    for name in ("Sources", "Tests/ABICheck", "Tests/LibraryExample"):
        shutil.copytree(ROOT / name, place / "library" / name, symlinks=True)
    shutil.copy(ROOT / "Package.swift", place / "library")
    shutil.copytree(ROOT / "Tests" / "Consumer", place / "consumer")
    for example in ("DeliveryService.swift", "Page.swift"):
        shutil.copy(ROOT / "Tests" / "LibraryExample" / example, place / "consumer" / "Sources" / "Server")
    built = subprocess.run(["swift", "build"], cwd=place / "consumer", capture_output=True, text=True)
    output = built.stdout + built.stderr
    assert built.returncode == 0, output
    assert "warning" not in output, output
    return place / "consumer" / ".build" / "debug" / "Server"


@pytest.fixture
def start(server, tmp_path):
    """Starts the server, which uploads to this address; killed at the end."""
    processes = []

    def start(endpoint):
        process = subprocess.Popen(
            [server, endpoint, tmp_path / "records"], env={**os.environ, "PASSWORD": "secret"}, stdout=subprocess.PIPE, text=True,
        )
        processes.append(process)
        return process, int(process.stdout.readline())

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def hive():
    with_faults = []

    def hive(*faults):
        with_faults.append(HiveStub(faults=faults).start())
        return with_faults[-1]

    yield hive
    for stub in with_faults:
        stub.stop()


def ask(port, line):
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.sendall(f"{line}\n".encode())
    return client


def lines(client):
    with client, client.makefile() as text:
        return text.read().splitlines()


def test_the_lines_for_packages_are_those_of_the_library_page():
    package = (ROOT / "Tests" / "Consumer" / "Package.swift").read_text()
    page = (ROOT / "docs" / "library.md").read_text()
    for line in (r'\.product\(name: "Uploader", package: "gighive-upload"\)', r'\.package\(name: "gighive-upload", path: "[^"]*"\)', r'\.product\(name: "UploaderAsync", package: "gighive-upload"\)'):
        assert re.search(line, package) and re.search(line, page)


def test_many_clients_get_their_deliveries(start, hive, tmp_path):
    stub = hive()
    _, port = start(f"{stub.url}/tus/")
    files = [tmp_path / f"{number}.wav" for number in range(12)]
    for number, file in enumerate(files):
        file.write_bytes(os.urandom(300_000 + number))
    clients = [ask(port, file) for file in files]
    for number, client in enumerate(clients):
        told = lines(client)
        assert told[-1] == f"delivered {300_000 + number} bytes"
        assert f"progress {300_000 + number} of {300_000 + number}" in told
    # Again: nothing is sent.
    assert lines(ask(port, files[3]))[-1].startswith("delivered before, as upload ")


def await_the_middle(client):
    """By then, the request that created the upload was answered."""
    with client.makefile() as text:
        for line in text:
            if int(line.split()[1]) > 2_000_000:
                return


def test_a_client_that_leaves_cancels_its_upload_which_is_resumed_later(start, hive, tmp_path):
    stub = hive("slow-read=2e6")
    process, port = start(f"{stub.url}/tus/")
    file = tmp_path / "long.wav"
    file.write_bytes(os.urandom(4_000_000))
    with ask(port, file) as client:
        await_the_middle(client)
    assert process.stdout.readline().startswith("failed: ")
    upload, = stub.uploads
    assert upload.offset < 4_000_000
    told = lines(ask(port, ""))
    assert told == [f"resumed key of {file}"]
    assert upload.offset == 4_000_000 and len(stub.uploads) == 1


def test_a_server_that_is_killed_resumes_after_its_restart(start, hive, tmp_path):
    stub = hive("slow-read=2e6")
    process, port = start(f"{stub.url}/tus/")
    file = tmp_path / "long.wav"
    file.write_bytes(os.urandom(4_000_000))
    with ask(port, file) as client:
        await_the_middle(client)
        process.kill()
        process.wait()
    _, port = start(f"{stub.url}/tus/")
    assert lines(ask(port, "")) == [f"resumed key of {file}"]
    upload, = stub.uploads
    assert upload.offset == 4_000_000
