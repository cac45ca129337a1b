"""What measures for minutes, and is not run by tests, begins."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("program", [".", "live"])
def test_it_finds_its_modules(program):
    subprocess.run([sys.executable, "-B", Path(__file__).parent / program, "--help"], check=True, capture_output=True)
