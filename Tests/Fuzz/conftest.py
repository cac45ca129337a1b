"""The targets are built once, without libFuzzer."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzz import build  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def replay_binary():
    return build.binary("replay")
