"""Packages: what is in them, that they install and can be removed, and that they are reproducible."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import ARCHITECTURES, BINARY, DIST, PACKAGING, ROOT, pack

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64", "armv7": "armhf", "armv6": "armel"}
VERSION = re.search(r'version = "([^"]+)"', (ROOT / "Sources/Uploader/Uploader.swift").read_text()).group(1)


def output(*command: object, **options) -> str:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True, **options).stdout


@pytest.fixture(params=ARCHITECTURES)
def architecture(request) -> str:
    return request.param


def deb(packages, architecture):
    return packages / f"gighive-upload_{VERSION}_{DEBIAN[architecture]}.deb"


def test_the_debian_package_has_the_program_and_its_documents(packages, architecture, tmp_path):
    package = deb(packages, architecture)
    assert output("dpkg-deb", "-f", package, "Architecture").strip() == DEBIAN[architecture]
    subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    assert (tmp_path / "usr/bin/gighive-upload").read_bytes() == (DIST / f"gighive-upload-{architecture}").read_bytes()
    for name in ("man/man1/gighive-upload-send.1.gz", "bash-completion/completions/gighive-upload", "doc/gighive-upload/copyright"):
        assert (tmp_path / "usr/share" / name).is_file(), name


def test_lintian_has_nothing_to_say(packages, architecture):
    command = ["lintian", "--allow-root", "--fail-on", "error,warning,info", deb(packages, architecture)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and not result.stdout, result.stdout + result.stderr


def test_the_package_names_what_is_linked_in(packages, architecture):
    used = output("dpkg-deb", "-f", deb(packages, architecture), "Built-Using")
    assert {part.split()[0] for part in used.split(",")} >= {"openssl", "zlib", "glibc"}


def test_it_installs_and_leaves_nothing_after_its_removal(packages, tmp_path):
    """In a root directory of its own: the package's scripts work there, and on nothing of this machine."""
    root, admin = tmp_path / "root", tmp_path / "root/var/lib/dpkg"
    for directory in ("info", "updates", "triggers"):
        (admin / directory).mkdir(parents=True)
    for name in ("status", "available"):
        (admin / name).touch()
    (root / "etc").mkdir()
    # As dpkg's own options say it: another root, no scripts of this machine's.
    dpkg = ["dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--force-script-chrootless", "--log=/dev/null"]
    kept = [root / name for name in ("var", "etc/passwd", "etc/group", "etc/shadow", "etc/gshadow", "etc/.pwd.lock", "etc/gighive-upload")]

    def files():
        return {path for path in root.rglob("*") if not any(path.is_relative_to(other) for other in kept)}

    before = files()
    subprocess.run([*dpkg, "-i", deb(packages, "x86_64")], check=True, capture_output=True)
    assert output(root / "usr/bin/gighive-upload", "version").strip() == f"gighive-upload {VERSION}"
    assert "gighive-upload:x:" in (root / "etc/passwd").read_text()
    assert (root / "var/lib/gighive-upload").stat().st_mode & 0o777 == 0o700
    subprocess.run([*dpkg, "--purge", "gighive-upload"], check=True, capture_output=True)
    assert files() == before


def test_the_openwrt_package_has_what_opkg_reads(packages, architecture):
    name = {"x86_64": "x86_64", "aarch64": "aarch64_generic", "armv7": "arm_cortex-a7", "armv6": "arm_arm1176jzf-s_vfp"}[architecture]
    with tarfile.open(packages / f"gighive-upload_{VERSION}-1_{name}.ipk") as package:
        parts = {member.name: package.extractfile(member).read() for member in package.getmembers()}
    assert set(parts) == {"./debian-binary", "./data.tar.gz", "./control.tar.gz"}
    with tarfile.open(fileobj=io.BytesIO(parts["./control.tar.gz"])) as control:
        text = control.extractfile("./control").read().decode()
    assert f"Package: gighive-upload\nVersion: {VERSION}-1\nArchitecture: {name}\n" in text
    with tarfile.open(fileobj=io.BytesIO(parts["./data.tar.gz"])) as data:
        program = data.getmember("./usr/bin/gighive-upload")
        assert (program.mode, program.uid, program.uname) == (0o755, 0, "root")
        assert data.extractfile(program).read() == (DIST / f"gighive-upload-{architecture}").read_bytes()
        assert data.getmember("./etc/init.d/gighive-upload").mode == 0o755
        assert data.getmember("./etc/gighive-upload.conf").mode == 0o600
    with tarfile.open(fileobj=io.BytesIO(parts["./control.tar.gz"])) as control:
        assert control.extractfile("./conffiles").read() == b"/etc/gighive-upload.conf\n"


def test_the_archive_unpacks_into_a_prefix(packages, architecture, tmp_path):
    with tarfile.open(packages / f"gighive-upload-{VERSION}-{architecture}.tar.gz") as archive:
        archive.extractall(tmp_path)
    top = tmp_path / f"gighive-upload-{VERSION}-{architecture}"
    assert os.access(top / "bin/gighive-upload", os.X_OK)
    assert (top / "share/man/man1/gighive-upload.1.gz").is_file() and (top / "share/doc/gighive-upload/LICENSE").is_file()


def test_packing_again_gives_the_same_bytes(packages, reference, tmp_path):
    again = pack(tmp_path, reference)
    for path in sorted(packages.iterdir()):
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


def test_the_sums_are_those_of_the_files(packages):
    lines = (packages / "SHA256SUMS").read_text().splitlines()
    assert len(lines) == 4 * len(ARCHITECTURES)
    for line in lines:
        total, name = line.split("  ")
        assert hashlib.sha256((packages / name).read_bytes()).hexdigest() == total


# MARK: make install


def test_make_install_and_uninstall(tmp_path):
    def make(target: str, *more: str) -> None:
        subprocess.run(["make", "-s", target, f"DESTDIR={tmp_path}", "PREFIX=/opt/tools", *more], cwd=ROOT, check=True)

    make("install", "SYSTEMD=no")
    installed = tmp_path / "opt/tools"
    assert not (installed / "lib").exists()
    make("install", "SYSTEMD=yes")
    for name in ("gighive-upload-watch.service", "gighive-upload-watch@.service"):
        unit = (installed / "lib/systemd/system" / name).read_text()
        assert unit == (PACKAGING / "systemd" / name).read_text().replace("=/usr/bin/gighive", "=/opt/tools/bin/gighive")
    for kind in ("sysusers", "tmpfiles"):
        assert (installed / f"lib/{kind}.d/gighive-upload.conf").read_bytes() == (PACKAGING / f"systemd/{kind}.conf").read_bytes()
    assert (installed / "bin/gighive-upload").read_bytes() == BINARY.read_bytes()
    assert (installed / "share/man/man1/gighive-upload-send.1").is_file()
    make("uninstall")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_installation_without_a_binary_says_what_to_make(tmp_path):
    result = subprocess.run(
        [PACKAGING / "install", tmp_path, tmp_path, tmp_path, "/target"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1 and "make static" in result.stderr and "make build" in result.stderr


def test_whether_there_is_systemctl_decides_unless_something_else_does(tmp_path):
    (tmp_path / "gighive-upload-x86_64").symlink_to(BINARY)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "uname", "install", "sed", "dirname"):
        (tools / name).symlink_to(shutil.which(name))

    def units(target: str, **variables: str) -> bool:
        command = [shutil.which("bash"), PACKAGING / "install", tmp_path, tmp_path, tmp_path, target]
        subprocess.run(command, env={"PATH": str(tools), **variables}, check=True, capture_output=True)
        return (tmp_path / target[1:] / "lib/systemd/system").exists()

    assert not units("/without")
    assert units("/asked", SYSTEMD="yes")
    (tools / "systemctl").symlink_to("/bin/true")
    assert units("/with")
    assert not units("/refused", SYSTEMD="no")
    with pytest.raises(subprocess.CalledProcessError):
        units("/typo", SYSTEMD="maybe")


# MARK: Recipes

# What Buildroot's generic-package does with a recipe, as far as it matters here.
BUILDROOT = """
INSTALL = install
SED = sed -i
qstrip = $(strip $(subst ",,$(1)))
include {recipe}
{archive}/.installed:
	$(GIGHIVE_UPLOAD_INSTALL_TARGET_CMDS)
	$(if $(BR2_INIT_SYSTEMD),$(GIGHIVE_UPLOAD_INSTALL_INIT_SYSTEMD))
users:
	$(info $(GIGHIVE_UPLOAD_USERS))
"""


@pytest.fixture
def unpacked(packages, tmp_path):
    with tarfile.open(packages / f"gighive-upload-{VERSION}-x86_64.tar.gz") as archive:
        archive.extractall(tmp_path)
    return tmp_path / f"gighive-upload-{VERSION}-x86_64"


def check_installed(root: Path, has_units: bool) -> None:
    assert (root / "usr/bin/gighive-upload").read_bytes() == BINARY.read_bytes()
    names = ["gighive-upload-watch.service", "gighive-upload-watch@.service"] if has_units else []
    assert sorted(path.name for path in root.rglob("*.service")) == names
    for name in names:
        # The same as in the Debian package.
        assert (root / "usr/lib/systemd/system" / name).read_bytes() == (PACKAGING / "systemd" / name).read_bytes()
    assert (root / "usr/lib/tmpfiles.d/gighive-upload.conf").exists() == has_units


@pytest.mark.parametrize("systemd", [True, False])
def test_buildroots_recipe_installs_the_units_where_there_is_systemd(unpacked, tmp_path, systemd):
    makefile = tmp_path / "Makefile"
    makefile.write_text(BUILDROOT.format(recipe=PACKAGING / "buildroot/gighive-upload.mk", archive=unpacked))
    command = ["make", "-s", "-f", makefile, f"TARGET_DIR={tmp_path}/root", "BR2_x86_64=y", *(["BR2_INIT_SYSTEMD=y"] if systemd else [])]
    subprocess.run([*command, f"{unpacked}/.installed"], check=True, capture_output=True)
    check_installed(tmp_path / "root", systemd)
    users = subprocess.run([*command, "users"], check=True, capture_output=True, text=True).stdout.split()
    assert users[:6] == (["gighive-upload", "-1", "gighive-upload", "-1", "*", "/var/lib/gighive-upload"] if systemd else [])


@pytest.mark.parametrize("systemd", ["true", "false"])
def test_yoctos_recipe_installs_the_units_where_there_is_systemd(unpacked, tmp_path, systemd):
    recipe = (PACKAGING / f"yocto/gighive-upload_{VERSION}.bb").read_text()
    steps = re.search(r"^do_install\(\) \{\n(.*?)^\}", recipe, re.MULTILINE | re.DOTALL).group(1)
    values = {"S": unpacked, "D": tmp_path / "root", "bindir": "/usr/bin", "nonarch_libdir": "/usr/lib", "HAS_SYSTEMD": systemd}
    values["systemd_system_unitdir"] = "/usr/lib/systemd/system"
    for name, value in values.items():
        steps = steps.replace(f"${{{name}}}", str(value))
    assert "${" not in steps
    subprocess.run(["sh", "-euc", steps], check=True)
    check_installed(tmp_path / "root", systemd == "true")
    assert "inherit systemd useradd\n" in recipe


def test_every_recipe_has_this_version():
    assert f"PKG_VERSION:={VERSION}\n" in (PACKAGING / "openwrt/Makefile").read_text()
    assert f"GIGHIVE_UPLOAD_VERSION = {VERSION}\n" in (PACKAGING / "buildroot/gighive-upload.mk").read_text()
    assert (PACKAGING / f"yocto/gighive-upload_{VERSION}.bb").is_file()
