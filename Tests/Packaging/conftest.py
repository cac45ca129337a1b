"""Fixtures: the reference made from the static binary, and packages of every binary in dist."""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "Sources" / "Packaging"
sys.path.insert(0, str(ROOT / "Tests" / "Support"))
DIST = ROOT / "dist"
COMPONENTS = ROOT / ".build" / "components"
BINARY = DIST / "gighive-upload-x86_64"

ARCHITECTURES = [
    name for name in ("x86_64", "aarch64", "armv7", "armv6") if (DIST / f"gighive-upload-{name}").exists()
]


LONG = pytest.mark.skipif(not os.environ.get("LONG"), reason="only with LONG=1")
"""What the short form leaves out."""


def pytest_configure(config):
    config.addinivalue_line("markers", "roots: installs packages in a fresh system")
    config.addinivalue_line("markers", "short: does so in a minute")
    if not BINARY.exists():
        pytest.exit(f"there is no program at {BINARY}: run `make static`", returncode=3)


def python(*arguments: object) -> None:
    subprocess.run([sys.executable, "-B", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id):
    """Makes a directory once for all processes of the tests."""
    base = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent

    def made(name: str, make) -> Path:
        directory = base / name
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not directory.exists():
                new = base / f"{name}.new"
                new.mkdir()
                make(new)
                new.rename(directory)
        return directory

    return made


@pytest.fixture(scope="session")
def reference(shared) -> Path:
    return shared("reference", lambda directory: python(PACKAGING / "reference", BINARY, directory))


def pack(directory: Path, reference: Path, architectures=ARCHITECTURES, components=COMPONENTS) -> Path:
    """Packs binaries of dist in the directory, as `make packages` does."""
    for architecture in architectures:
        (directory / f"gighive-upload-{architecture}").symlink_to(DIST / f"gighive-upload-{architecture}")
    python(PACKAGING / "packages", directory, components, reference, *architectures)
    return directory


@pytest.fixture(scope="session")
def packages(shared, reference) -> Path:
    return shared("packages", lambda directory: pack(directory, reference))


@pytest.fixture(scope="session")
def units(shared) -> Path:
    """systemd's units."""
    script = PACKAGING / "systemd/units"
    return shared("units", lambda directory: subprocess.run([script, "/usr/bin/gighive-upload", directory], check=True))


@pytest.fixture(scope="session")
def former(shared, packages):
    """The Debian package of an architecture with a lower version."""

    def make(directory: Path, package: Path) -> None:
        subprocess.run(["dpkg-deb", "-R", package, directory / "tree"], check=True)
        control = directory / "tree/DEBIAN/control"
        control.write_text(re.sub("^Version: .*", "Version: 0.0.9", control.read_text(), flags=re.MULTILINE))
        command = ["dpkg-deb", "--root-owner-group", "-Znone", "-b", directory / "tree", directory / "former.deb"]
        subprocess.run(command, check=True, capture_output=True)

    def made(name: str) -> Path:
        (package,) = packages.glob(f"*_{name}.deb")
        return shared(f"former-{name}", lambda directory: make(directory, package)) / "former.deb"

    return made
