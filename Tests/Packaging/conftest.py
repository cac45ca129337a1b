"""Fixtures: the reference made from the static binary, and packages of every binary in dist."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "Sources" / "Packaging"
DIST = ROOT / "dist"
COMPONENTS = ROOT / ".build" / "components"
BINARY = DIST / "gighive-upload-x86_64"

ARCHITECTURES = [
    name for name in ("x86_64", "aarch64", "armv7", "armv6") if (DIST / f"gighive-upload-{name}").exists()
]


def pytest_configure(config):
    config.addinivalue_line("markers", "roots: installs packages in a fresh Debian (debootstrap)")
    if not BINARY.exists():
        pytest.exit(f"there is no program at {BINARY}: run `make static`", returncode=3)


def python(*arguments: object) -> None:
    subprocess.run([sys.executable, "-B", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def reference(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("reference")
    python(PACKAGING / "reference", BINARY, directory)
    return directory


def pack(directory: Path, reference: Path) -> Path:
    """Packs all binaries of dist in the directory, as `make packages` does."""
    for architecture in ARCHITECTURES:
        (directory / f"gighive-upload-{architecture}").symlink_to(DIST / f"gighive-upload-{architecture}")
    python(PACKAGING / "packages", directory, COMPONENTS, reference, *ARCHITECTURES)
    return directory


@pytest.fixture(scope="session")
def packages(tmp_path_factory, reference) -> Path:
    return pack(tmp_path_factory.mktemp("packages"), reference)
