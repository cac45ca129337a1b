"""What every test of this folder shares: the running servers, recordings to send, and the uploader."""

import shutil
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))

import recordings
import servers as interop_servers
from uploader import Uploader

ROOM_NEEDED = 10 * 2**30  # a 2 GiB file, and what the server spools and stores of it


def pytest_configure(config):
    config.addinivalue_line("markers", "large: sends 2 GiB; CI leaves it out")


@pytest.fixture(scope="session", autouse=True)
def _terminated_like_interrupted():
    """A SIGTERM ends the run as Ctrl-C does: the fixtures still stop the servers and remove their files."""
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated", 143))


@pytest.fixture(scope="session")
def servers():
    with interop_servers.running() as running:
        yield running


@pytest.fixture(scope="session")
def files(servers):
    """Recordings beside the servers' files, made when they are first asked for."""
    return recordings.Recordings(servers.root / "recordings")


@pytest.fixture
def room_for_two_gib(servers):
    free = shutil.disk_usage(servers.root).free
    assert free > ROOM_NEEDED, f"{servers.root} has {free} bytes free; set INTEROP_TMPDIR to a larger disk"


@pytest.fixture(scope="session")
def uploader(servers):
    return Uploader(servers)
