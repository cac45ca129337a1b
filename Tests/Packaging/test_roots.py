"""The Debian package in a fresh Debian: installed, one delivery, purged. Needs root, debootstrap, and for arm64 an emulator."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ARCHITECTURES, ROOT
from test_packages import deb

sys.path.insert(0, str(ROOT / "Tests" / "HiveStub"))
from hivestub import HiveStub, make_certificates

pytestmark = pytest.mark.roots

BINFMT = Path("/proc/sys/fs/binfmt_misc")
EMULATOR = "/usr/bin/qemu-aarch64-static"
# The head of an ELF file for aarch64, and which of its bits count (qemu's scripts/qemu-binfmt-conf.sh).
AARCH64 = r"\x7fELF\x02\x01\x01\x00" + r"\x00" * 8 + r"\x02\x00\xb7\x00"
AARCH64_MASK = r"\xff" * 7 + r"\x00" + r"\xff" * 8 + r"\xfe\xff\xff\xff"


@pytest.fixture(scope="module")
def emulation():
    """The kernel runs programs for aarch64, as long as the tests run."""
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "none", BINFMT], check=True)
    name = "gighive-upload-tests"
    if not (BINFMT / name).exists():
        (BINFMT / "register").write_text(f":{name}:M::{AARCH64}:{AARCH64_MASK}:{EMULATOR}:F")
    yield
    (BINFMT / name).write_text("-1")


@pytest.fixture(params=[("x86_64", "amd64"), ("aarch64", "arm64")], ids=["amd64", "arm64"])
def system(request, tmp_path):
    """A fresh Debian of an architecture: its root, and the name of our binary for it."""
    architecture, name = request.param
    if architecture == "aarch64":
        request.getfixturevalue("emulation")
    if architecture not in ARCHITECTURES:
        pytest.fail(f"dist has no binary for {architecture}: run `make arm BOARDS=aarch64`")
    root = tmp_path / "root"
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], capture_output=True, text=True, check=True
    )
    mirror = next(line for line in targets.stdout.split() if line.endswith("/debian/"))
    command = ["debootstrap", f"--arch={name}", "--variant=minbase", "bookworm", root, mirror]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    yield root, architecture
    shutil.rmtree(root)


def files(root: Path) -> set[str]:
    """All files, but those that dpkg itself keeps."""
    kept = re.compile(r"/?(var/(lib/dpkg|log|cache)|tmp|proc|sys|dev|root/gighive)\b")
    names = subprocess.run(["find", ".", "-xdev", "-type", "f", "-printf", "%P\n"], cwd=root, capture_output=True, check=True)
    return {name for name in names.stdout.decode().splitlines() if not kept.match(name)}


def test_from_the_package_to_a_verified_delivery(system, packages):
    root, architecture = system
    before = files(root)
    certificates = make_certificates()
    shutil.copy(deb(packages, architecture), root / "tmp/gighive-upload.deb")
    shutil.copy(certificates.cacert, root / "tmp/ca.pem")
    (root / "tmp/set.wav").write_bytes(os.urandom(3_000_000))
    (root / "tmp/password").write_text("secret\n")
    (root / "tmp/password").chmod(0o600)

    def inside(*command: str) -> str:
        return subprocess.run(["chroot", root, *command], capture_output=True, text=True, check=True).stdout

    inside("dpkg", "-i", "/tmp/gighive-upload.deb")
    with HiveStub(tls=certificates, password="secret") as hive:
        said = inside(
            "gighive-upload", "send", "/tmp/set.wav", "--server", hive.url, "--cacert", "/tmp/ca.pem", "--label", "First set",
            "--user", "uploader", "--password-file", "/tmp/password",
        )
    assert "delivered" in said and "(verified)" in said
    inside("dpkg", "--purge", "gighive-upload")
    left = files(root) - before
    assert all(name.startswith("var/lib/gighive-upload/") for name in left), left
