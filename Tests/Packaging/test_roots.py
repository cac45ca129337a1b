"""The packages in fresh systems: installed, one delivery, purged. Needs root, debootstrap, and for ARM an emulator."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ARCHITECTURES, ROOT
from test_packages import VERSION, deb

sys.path.insert(0, str(ROOT / "Tests" / "HiveStub"))
from hivestub import HiveStub, make_certificates

pytestmark = pytest.mark.roots

BINFMT = Path("/proc/sys/fs/binfmt_misc")
# Each emulator, and the head of an ELF file for its processor (qemu's scripts/qemu-binfmt-conf.sh).
EMULATORS = {
    "aarch64": ("/usr/bin/qemu-aarch64-static", r"\x7fELF\x02\x01\x01\x00" + r"\x00" * 8 + r"\x02\x00\xb7\x00"),
    "armv7": ("/usr/bin/qemu-arm-static", r"\x7fELF\x01\x01\x01\x00" + r"\x00" * 8 + r"\x02\x00\x28\x00"),
}
# Which bits of it count.
MASK = r"\xff" * 7 + r"\x00" + r"\xff" * 8 + r"\xfe\xff\xff\xff"


@pytest.fixture(scope="module")
def emulation():
    """The kernel runs programs for ARM, as long as the tests run."""
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "none", BINFMT], check=True)
    names = {architecture: f"gighive-upload-tests-{architecture}" for architecture in EMULATORS}
    for architecture, (program, head) in EMULATORS.items():
        if not (BINFMT / names[architecture]).exists():
            (BINFMT / "register").write_text(f":{names[architecture]}:M::{head}:{MASK}:{program}:F")
    yield
    for name in names.values():
        (BINFMT / name).write_text("-1")


SYSTEMS = [
    pytest.param("x86_64", "amd64", "bookworm", marks=pytest.mark.short, id="bookworm-amd64"),
    pytest.param("x86_64", "amd64", "trixie", id="trixie-amd64"),
    pytest.param("aarch64", "arm64", "bookworm", id="bookworm-arm64"),
    pytest.param("armv7", "armhf", "bookworm", id="bookworm-armhf"),
]


def debootstrap(root: Path, name: str, release: str, *options: str) -> None:
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], capture_output=True, text=True, check=True
    )
    mirror = next(line for line in targets.stdout.split() if line.endswith("/debian/"))
    command = ["debootstrap", f"--arch={name}", "--variant=minbase", *options, release, root, mirror]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def files(root: Path) -> set[str]:
    """All files, but those that dpkg itself keeps."""
    kept = re.compile(r"/?(var/(lib/dpkg|log|cache)|tmp|proc|sys|dev|root/gighive)\b")
    names = subprocess.run(["find", ".", "-xdev", "-type", "f", "-printf", "%P\n"], cwd=root, capture_output=True, check=True)
    return {name for name in names.stdout.decode().splitlines() if not kept.match(name)}


class Station:
    """A root with a recording, and a server that it delivers to."""

    def __init__(self, root: Path):
        self.root, self.certificates = root, make_certificates()
        (root / "tmp").mkdir(exist_ok=True)
        shutil.copy(self.certificates.cacert, root / "tmp/ca.pem")
        (root / "tmp/set.wav").write_bytes(os.urandom(3_000_000))
        (root / "tmp/password").write_text("secret\n")
        (root / "tmp/password").chmod(0o600)

    def run(self, *command: str) -> str:
        return subprocess.run(["chroot", self.root, *command], capture_output=True, text=True, check=True).stdout

    def deliver(self, program: str) -> None:
        with HiveStub(tls=self.certificates, password="secret") as hive:
            said = self.run(
                program, "send", "/tmp/set.wav", "--server", hive.url, "--cacert", "/tmp/ca.pem", "--label", "First set",
                "--user", "uploader", "--password-file", "/tmp/password",
            )
        assert "delivered" in said and "(verified)" in said


@pytest.mark.parametrize(("architecture", "name", "release"), SYSTEMS)
def test_from_the_package_to_a_verified_delivery(request, packages, former, tmp_path, architecture, name, release):
    """In a root without systemd and without /proc."""
    if architecture not in ARCHITECTURES:
        pytest.fail(f"dist has no binary for {architecture}: run `make arm`")
    if architecture in EMULATORS:
        request.getfixturevalue("emulation")
    root = tmp_path / "root"
    debootstrap(root, name, release)
    before = files(root)
    station = Station(root)
    shutil.copy(former(name), root / "tmp/former.deb")
    shutil.copy(deb(packages, architecture), root / "tmp/gighive-upload.deb")
    station.run("dpkg", "-i", "/tmp/former.deb")
    station.run("dpkg", "-i", "/tmp/gighive-upload.deb")
    assert station.run("gighive-upload", "version").strip() == f"gighive-upload {VERSION}"
    station.deliver("gighive-upload")
    station.run("dpkg", "--remove", "gighive-upload")
    station.run("dpkg", "-i", "/tmp/gighive-upload.deb")
    said = station.run("dpkg", "--purge", "gighive-upload")
    left = files(root) - before
    assert left and all(name.startswith("var/lib/gighive-upload/") for name in left), left
    assert "these stay" in said and "/var/lib/gighive-upload" in said
    shutil.rmtree(root)


@pytest.mark.short
def test_from_the_archive_to_a_verified_delivery_with_busybox_alone(packages, tmp_path):
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for name in ("sh", "tar", "mkdir"):
        (root / "bin" / name).symlink_to("busybox")
    station = Station(root)
    shutil.copy(packages / f"gighive-upload-{VERSION}-x86_64.tar.gz", root / "tmp/archive.tar.gz")
    station.run("sh", "-c", "mkdir -p /usr/local && tar xzf /tmp/archive.tar.gz -C /usr/local --strip-components=1")
    station.deliver("/usr/local/bin/gighive-upload")
