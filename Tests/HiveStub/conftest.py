"""Fixtures of the stub's own tests."""

import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hivestub import HiveStub, make_certificates


@pytest.fixture(scope="session")
def certificates():
    return make_certificates()


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "take 1.mp4"
    path.write_bytes(os.urandom(300_000))
    return path


@pytest.fixture
def start():
    """Starts stubs; afterwards stops them, and none may have failed inside."""
    running = []

    def start(**options):
        running.append(HiveStub(**options).start())
        return running[-1]

    yield start
    for hive in running:
        began = time.monotonic()
        hive.stop()
        assert time.monotonic() - began < 10, "it hangs"
        assert hive.internal_errors == []
