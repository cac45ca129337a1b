"""Packages: what is in them, that they install and can be removed, and that they are reproducible."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import ARCHITECTURES, BINARY, COMPONENTS, DIST, LONG, PACKAGING, ROOT, pack
from links import broken_links

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
    assert not broken_links(tmp_path / "usr/share/doc/gighive-upload")


@pytest.mark.parametrize("architecture", ["x86_64", *(pytest.param(name, marks=LONG) for name in ARCHITECTURES if name != "x86_64")])
def test_lintian_has_nothing_to_say(packages, architecture):
    result = subprocess.run(["lintian", "--allow-root", "-I", "--pedantic", deb(packages, architecture)], capture_output=True, text=True, check=False)
    # Which machine code looks like misspelt words depends on the processor. Debian 13's lintian has no tag for missing init scripts
    # any more, and rejects an override of it.
    expected = "^N:|spelling-error-in-binary|^I: .*package-supports-alternative-init-but-no-init.d-script"
    remarks = [line for line in result.stdout.splitlines() if not re.search(expected, line)]
    assert result.returncode == 0 and not remarks, result.stdout + result.stderr


def test_the_package_names_what_is_linked_in(packages, architecture):
    used = output("dpkg-deb", "-f", deb(packages, architecture), "Static-Built-Using")
    assert {part.split()[0] for part in used.split(",")} >= {"openssl", "zlib", "glibc"}


def test_the_debian_package_needs_no_other_and_says_where_it_comes_from(packages, architecture):
    package = deb(packages, architecture)
    assert not output("dpkg-deb", "-f", package, "Depends", "Pre-Depends")
    assert output("dpkg-deb", "-f", package, "Homepage").startswith("https://")


def test_the_example_is_a_configuration(packages, tmp_path):
    subprocess.run(["dpkg-deb", "-x", deb(packages, "x86_64"), tmp_path], check=True)
    text = (tmp_path / "usr/share/doc/gighive-upload/examples/gighive-upload.conf").read_text()
    recordings, example = tmp_path / "recordings", tmp_path / "example.conf"
    recordings.mkdir()
    (recordings / "gig.mp4").write_bytes(b"x")
    example.write_text(text.replace("/srv/recordings", str(recordings)))
    (tmp_path / "gighive-password").write_text("secret\n")
    (tmp_path / "gighive-password").chmod(0o600)
    assert "/srv/recordings" in text
    output(BINARY, "watch", "--dry-run", "--config", example, "--state-dir", tmp_path / "state")


@pytest.fixture
def dpkg(tmp_path):
    """dpkg in a root directory of its own: the package's scripts work there, and on nothing of this machine."""
    root, admin = tmp_path / "root", tmp_path / "root/var/lib/dpkg"
    for directory in ("info", "updates", "triggers"):
        (admin / directory).mkdir(parents=True)
    for name in ("status", "available"):
        (admin / name).touch()
    (root / "etc").mkdir()
    # As dpkg's own options say it: another root, no scripts of this machine's.
    options = [f"--root={root}", "--force-not-root", "--force-depends", "--force-script-chrootless", "--log=/dev/null"]

    def run(*arguments: object) -> str:
        return output("dpkg", *options, *arguments, stderr=None)

    run.root = root
    return run


def installed_files(root: Path) -> set[Path]:
    """All but what the user's account and dpkg leave."""
    kept = ["var", "etc/passwd", "etc/group", "etc/shadow", "etc/gshadow", "etc/.pwd.lock"]
    return {path for path in root.rglob("*") if not any(path.is_relative_to(root / other) for other in kept)}


def test_it_installs_and_leaves_nothing_after_its_removal(packages, dpkg):
    before = installed_files(dpkg.root)
    dpkg("-i", deb(packages, "x86_64"))
    assert output(dpkg.root / "usr/bin/gighive-upload", "version").strip() == f"gighive-upload {VERSION}"
    assert "gighive-upload:x:" in (dpkg.root / "etc/passwd").read_text()
    assert (dpkg.root / "var/lib/gighive-upload").stat().st_mode & 0o777 == 0o700
    assert not list(dpkg.root.rglob("*.wants/*")), "the service was enabled"
    said = dpkg("--purge", "gighive-upload")
    assert "these stay" not in said and installed_files(dpkg.root) == before
    assert not (dpkg.root / "var/lib/gighive-upload").exists()


def test_an_upgrade_leaves_the_records_to_their_owner(packages, former, dpkg):
    """With User=pi, they belong to pi."""
    dpkg("-i", former("amd64"))
    records = dpkg.root / "var/lib/gighive-upload"
    records.chmod(0o750)
    if os.geteuid() == 0:
        os.chown(records, 12345, 12345)
    owner = records.stat().st_uid
    dpkg("-i", deb(packages, "x86_64"))
    assert (records.stat().st_mode & 0o777, records.stat().st_uid) == (0o750, owner)


def test_a_purge_removes_links_and_names_what_stays(packages, former, dpkg):
    dpkg("-i", former("amd64"))
    dpkg("-i", deb(packages, "x86_64"))
    output("systemctl", f"--root={dpkg.root}", "enable", "gighive-upload-watch.service", "gighive-upload-watch@venue.service")
    wants = dpkg.root / "etc/systemd/system/multi-user.target.wants"
    assert len(list(wants.iterdir())) == 2
    stays = ["etc/credstore/gighive-password", "etc/gighive-upload.conf", "var/lib/gighive-upload/5e1f0a77"]
    for name in stays:
        (dpkg.root / name).parent.mkdir(exist_ok=True)
        (dpkg.root / name).touch()
    dpkg("--remove", "gighive-upload")
    dpkg("-i", deb(packages, "x86_64"))
    said = dpkg("--purge", "gighive-upload")
    assert not wants.exists() or not list(wants.iterdir())
    for name in stays:
        assert (dpkg.root / name).exists()
    # Not each record: there can be many.
    for name in (*stays[:2], "var/lib/gighive-upload"):
        assert f"/{name}" in said.split(), said


# MARK: RPM


RPM = [name for name in ("x86_64", "aarch64") if name in ARCHITECTURES]


@pytest.fixture
def rpm(tmp_path):
    """rpm in a root with BusyBox, whose systemctl writes down what it is told."""
    if os.geteuid() != 0:
        pytest.skip("rpm --root needs root")
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for name in ("sh", "cat", "echo"):
        (root / "bin" / name).symlink_to("busybox")
    systemctl = root / "bin/systemctl"
    systemctl.write_text('#!/bin/sh\necho "$@" >> /said\n')
    systemctl.chmod(0o755)
    (root / "run/systemd/system").mkdir(parents=True)
    (root / "dev").mkdir()
    (root / "dev/null").touch()

    def run(*arguments: object) -> str:
        return output("rpm", f"--root={root}", *arguments, "--nodeps")

    run.root = root
    return run


@pytest.mark.parametrize("architecture", RPM)
def test_the_rpm_installs_is_whole_and_can_be_removed(packages, rpm, architecture):
    package = packages / f"gighive-upload-{VERSION}-1.{architecture}.rpm"
    rpm("-i", "--ignorearch", package)
    assert (rpm.root / "usr/bin/gighive-upload").read_bytes() == (DIST / f"gighive-upload-{architecture}").read_bytes()
    assert output("rpm", "-qp", "--queryformat", "%{ARCH} %{BUILDHOST} %{RECOMMENDS}", package) == f"{architecture} reproducible ca-certificates"
    needed = output("rpm", "-qp", "--requires", package).splitlines()
    assert {line for line in needed if not line.startswith("rpmlib(")} == {"/bin/sh"}
    rpm("-V", "gighive-upload")
    assert (rpm.root / "said").read_text() == "daemon-reload\n"
    rpm("-i", "--ignorearch", "--replacepkgs", package)
    rpm("-e", "gighive-upload")
    assert "disable --now gighive-upload-watch.service gighive-upload-watch@*.service" in (rpm.root / "said").read_text()
    assert not [path for path in rpm.root.rglob("*gighive*") if path.is_file()]


# MARK: OpenWrt

# What the scripts find on a router: default_postinst has added the user before it runs the package's part.
FUNCTIONS = """
default_postinst() { echo "default_postinst $*"; ( . "${IPKG_INSTROOT}/usr/lib/opkg/info/gighive-upload.postinst-pkg" ); }
default_prerm() { echo "default_prerm $*"; }
"""


@pytest.fixture
def router(packages, tmp_path):
    """The files of the package where opkg puts them, and OpenWrt's functions."""
    with tarfile.open(packages / f"gighive-upload_{VERSION}-1_x86_64.ipk") as package:
        for name, directory in (("data", ""), ("control", "unpacked")):
            with tarfile.open(fileobj=package.extractfile(f"./{name}.tar.gz")) as archive:
                archive.extractall(tmp_path / directory)
    info = tmp_path / "usr/lib/opkg/info"
    info.mkdir(parents=True)
    for path in (tmp_path / "unpacked").iterdir():
        path.rename(info / f"gighive-upload.{path.name}")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/functions.sh").write_text(FUNCTIONS)
    return tmp_path


@pytest.mark.parametrize("script", ["postinst", "prerm"])
def test_openwrts_scripts_do_what_every_package_does(router, script):
    path = router / f"usr/lib/opkg/info/gighive-upload.{script}"
    assert path.stat().st_mode & 0o777 == 0o755
    assert output(path, "argument", env={"IPKG_INSTROOT": str(router)}) == f"default_{script} {path} argument\n"
    # While an image is built without OpenWrt's functions.
    (router / "lib/functions.sh").unlink()
    assert output(path, env={"IPKG_INSTROOT": str(router)}) == ""


def test_openwrts_installation_can_be_told_to_run_nothing(router):
    assert output(router / "usr/lib/opkg/info/gighive-upload.postinst", env={"IPKG_NO_SCRIPT": "1", "IPKG_INSTROOT": str(router)}) == ""


def test_openwrts_user_reads_a_configuration_of_a_former_version(router):
    configuration = router / "etc/gighive-upload.conf"
    configuration.chmod(0o600)
    output(router / "usr/lib/opkg/info/gighive-upload.postinst", env={"IPKG_INSTROOT": str(router), "PATH": os.environ["PATH"]})
    assert configuration.stat().st_mode & 0o777 == 0o644


def test_openwrts_package_asks_for_the_user_that_its_service_runs_as(router):
    control = (router / "usr/lib/opkg/info/gighive-upload.control").read_text()
    user = re.search("^RUN_AS=(.*)$", (router / "etc/init.d/gighive-upload").read_text(), re.MULTILINE).group(1)
    assert f"\nRequire-User: {user}:{user}\n" in control
    assert f"  USERID:={user}:{user}\n" in (PACKAGING / "openwrt/Makefile").read_text()


def test_openwrts_service_has_one_capability(router):
    sets = json.loads((router / "etc/capabilities/gighive-upload.json").read_text())
    assert sets == {name: ["CAP_LEASE"] for name in ("bounding", "effective", "ambient", "permitted", "inheritable")}


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
        assert data.getmember("./etc/gighive-upload.conf").mode == 0o644
    with tarfile.open(fileobj=io.BytesIO(parts["./control.tar.gz"])) as control:
        assert control.extractfile("./conffiles").read() == b"/etc/gighive-upload.conf\n"


def test_the_archive_unpacks_into_a_prefix(packages, architecture, tmp_path):
    with tarfile.open(packages / f"gighive-upload-{VERSION}-{architecture}.tar.gz") as archive:
        archive.extractall(tmp_path)
    top = tmp_path / f"gighive-upload-{VERSION}-{architecture}"
    assert os.access(top / "bin/gighive-upload", os.X_OK)
    assert (top / "share/man/man1/gighive-upload.1.gz").is_file() and (top / "share/doc/gighive-upload/LICENSE").is_file()
    assert not broken_links(top / "share/doc/gighive-upload")


@pytest.mark.parametrize("architecture", ["x86_64", *(pytest.param(name, marks=LONG) for name in ARCHITECTURES if name != "x86_64")])
def test_packing_again_gives_the_same_bytes(packages, reference, tmp_path, architecture):
    again = pack(tmp_path, reference, [architecture])
    for path in sorted(again.iterdir()):
        if path.name != "SHA256SUMS":
            assert path.read_bytes() == (packages / path.name).read_bytes(), path.name


def test_a_binary_with_this_machines_openssl_is_not_packed(reference, tmp_path):
    (tmp_path / "gighive-upload-x86_64").symlink_to(BINARY)
    text = re.sub("^openssl .*", "libssl-dev 3.0.17-1", (COMPONENTS / "x86_64").read_text(), flags=re.MULTILINE)
    (tmp_path / "x86_64").write_text(text)
    command = ["python3", "-B", PACKAGING / "packages", tmp_path, tmp_path, reference, "x86_64"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "libssl-dev 3.0.17-1" in result.stderr
    assert not list(tmp_path.glob("*.deb")) and not (tmp_path / "SHA256SUMS").exists()


# MARK: SPDX


def test_the_spdx_document_names_version_and_distribution(tmp_path, architecture):
    document = json.loads(output(PACKAGING / "sbom", DIST / f"gighive-upload-{architecture}", COMPONENTS / architecture))
    program, *parts = document["packages"]
    assert program["versionInfo"] == VERSION and "commit" in program["sourceInfo"]
    purls = {part["name"]: part["externalRefs"][0]["referenceLocator"] for part in parts if part["name"] != "swift"}
    assert re.fullmatch(r"pkg:deb/debian/openssl@[^?+:]+\?arch=source&distro=debian-13", purls["openssl"])
    release = {"2.36": "debian-12", "2.41": "debian-13"}[re.search(r"@([0-9.]+)-", purls["libc6-dev"]).group(1)]
    for name in purls.keys() - {"openssl"}:
        assert re.fullmatch(rf"pkg:deb/debian/{name}@[^?+:]+\?distro={release}", purls[name])


@pytest.mark.parametrize("version", ["2.39-1", "2.41-6ubuntu1"])
def test_there_is_no_spdx_document_for_an_unknown_distribution(tmp_path, version):
    text = re.sub("^libc6-dev .*", f"libc6-dev {version}", (COMPONENTS / "x86_64").read_text(), flags=re.MULTILINE)
    (tmp_path / "components").write_text(text)
    result = subprocess.run([PACKAGING / "sbom", BINARY, tmp_path / "components"], capture_output=True, text=True, check=False)
    assert result.returncode == 1 and version in result.stderr and not result.stdout


# MARK: make install


def test_make_install_and_uninstall(units, tmp_path):
    def make(target: str, *more: str) -> None:
        subprocess.run(["make", "-s", target, f"DESTDIR={tmp_path}", "PREFIX=/opt/tools", *more], cwd=ROOT, check=True)

    make("install", "SYSTEMD=no")
    installed = tmp_path / "opt/tools"
    assert not (installed / "lib").exists()
    make("install", "SYSTEMD=yes")
    for name in ("gighive-upload-watch.service", "gighive-upload-watch@.service"):
        unit = (installed / "lib/systemd/system" / name).read_text()
        assert unit == (units / name).read_text().replace("=/usr/bin/gighive", "=/opt/tools/bin/gighive")
    for kind in ("sysusers", "tmpfiles"):
        assert (installed / f"lib/{kind}.d/gighive-upload.conf").read_bytes() == (PACKAGING / f"systemd/{kind}.conf").read_bytes()
    assert (installed / "bin/gighive-upload").read_bytes() == BINARY.read_bytes()
    assert (installed / "share/man/man1/gighive-upload-send.1").is_file()
    make("uninstall")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_shells_find_completions_below_usr_local(packages, tmp_path):
    with tarfile.open(packages / f"gighive-upload-{VERSION}-x86_64.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    subprocess.run(["make", "-s", "install", f"DESTDIR={tmp_path}"], cwd=ROOT, check=True)
    names &= {str(path.relative_to(tmp_path / "usr/local")) for path in (tmp_path / "usr/local").rglob("*")}
    zsh = output("zsh", "-f", "-c", "print -l $fpath").splitlines()
    fish = output("fish", "-c", "string join \\n $fish_complete_path", env={"HOME": str(tmp_path), "XDG_DATA_DIRS": "/usr/local/share:/usr/share"})
    for directories, name in ((zsh, "_gighive-upload"), (fish.splitlines(), "gighive-upload.fish")):
        assert {f"{directory}/{name}" for directory in directories} & {f"/usr/local/{path}" for path in names}, name


def test_an_installation_without_a_binary_says_what_to_make(tmp_path):
    result = subprocess.run(
        [PACKAGING / "install", tmp_path, tmp_path, tmp_path, "/target"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1 and "make static" in result.stderr and "make build" in result.stderr


def test_whether_there_is_systemctl_decides_unless_something_else_does(tmp_path):
    (tmp_path / "gighive-upload-x86_64").symlink_to(BINARY)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "uname", "install", "sed", "dirname", "env", "mkdir", "chmod", "readlink"):
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


def check_installed(root: Path, units: Path, has_units: bool) -> None:
    assert (root / "usr/bin/gighive-upload").read_bytes() == BINARY.read_bytes()
    names = ["gighive-upload-watch.service", "gighive-upload-watch@.service"] if has_units else []
    assert sorted(path.name for path in root.rglob("*.service")) == names
    for name in names:
        # The same as in the Debian package.
        assert (root / "usr/lib/systemd/system" / name).read_bytes() == (units / name).read_bytes()
    assert (root / "usr/lib/tmpfiles.d/gighive-upload.conf").exists() == has_units


@pytest.mark.parametrize("systemd", [True, False])
def test_buildroots_recipe_installs_the_units_where_there_is_systemd(unpacked, units, tmp_path, systemd):
    makefile = tmp_path / "Makefile"
    makefile.write_text(BUILDROOT.format(recipe=PACKAGING / "buildroot/gighive-upload.mk", archive=unpacked))
    command = ["make", "-s", "-f", makefile, f"TARGET_DIR={tmp_path}/root", "BR2_x86_64=y", *(["BR2_INIT_SYSTEMD=y"] if systemd else [])]
    subprocess.run([*command, f"{unpacked}/.installed"], check=True, capture_output=True)
    check_installed(tmp_path / "root", units, systemd)
    users = subprocess.run([*command, "users"], check=True, capture_output=True, text=True).stdout.split()
    assert users[:6] == (["gighive-upload", "-1", "gighive-upload", "-1", "*", "/var/lib/gighive-upload"] if systemd else [])


@pytest.mark.parametrize("systemd", ["true", "false"])
def test_yoctos_recipe_installs_the_units_where_there_is_systemd(unpacked, units, tmp_path, systemd):
    recipe = (PACKAGING / f"yocto/gighive-upload_{VERSION}.bb").read_text()
    steps = re.search(r"^do_install\(\) \{\n(.*?)^\}", recipe, re.MULTILINE | re.DOTALL).group(1)
    values = {"S": unpacked, "D": tmp_path / "root", "bindir": "/usr/bin", "nonarch_libdir": "/usr/lib", "HAS_SYSTEMD": systemd}
    values["systemd_system_unitdir"] = "/usr/lib/systemd/system"
    for name, value in values.items():
        steps = steps.replace(f"${{{name}}}", str(value))
    assert "${" not in steps
    subprocess.run(["sh", "-euc", steps], check=True)
    check_installed(tmp_path / "root", units, systemd == "true")
    assert "inherit systemd useradd\n" in recipe


def test_every_recipe_has_this_version():
    assert f"PKG_VERSION:={VERSION}\n" in (PACKAGING / "openwrt/Makefile").read_text()
    assert f"GIGHIVE_UPLOAD_VERSION = {VERSION}\n" in (PACKAGING / "buildroot/gighive-upload.mk").read_text()
    assert (PACKAGING / f"yocto/gighive-upload_{VERSION}.bb").is_file()
