"""The services: systemd's own tools read the units, and the script for OpenWrt runs with procd's functions replaced."""

import os
import pwd
import re
import shutil
import subprocess
import tarfile

import pytest
from conftest import BINARY, PACKAGING
from test_packages import VERSION, deb

SYSTEMD = PACKAGING / "systemd"
UNITS = ["gighive-upload-watch.service", "gighive-upload-watch@.service"]
OPENWRT = PACKAGING / "openwrt"


def run(*command: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)


def settings(unit) -> list[str]:
    """The lines that count."""
    return [line for line in unit.read_text().splitlines() if line and not line.startswith("#")]


def test_there_are_two_units(units):
    assert sorted(path.name for path in units.iterdir()) == UNITS


@pytest.fixture
def installed(packages, tmp_path):
    """The files of the Debian package."""
    subprocess.run(["dpkg-deb", "-x", deb(packages, "x86_64"), tmp_path], check=True)
    return tmp_path


def test_systemd_finds_no_mistake(installed, tmp_path):
    """With the program where it is, because the check also looks for it."""
    directory = tmp_path / "units"
    directory.mkdir()
    for name in UNITS:
        text = (installed / "usr/lib/systemd/system" / name).read_text()
        assert "\nExecStart=/usr/bin/gighive-upload watch" in text
        (directory / name.replace("@", "@venue")).write_text(text.replace("/usr/bin/gighive-upload", str(BINARY)))
    for unit in sorted(directory.iterdir()):
        result = run("systemd-analyze", "verify", "--man=no", unit)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), unit


def test_systemd_would_find_a_mistake(tmp_path):
    unit = tmp_path / "wrong.service"
    unit.write_text((SYSTEMD / UNITS[0]).read_text().replace("/usr/bin/gighive-upload", str(BINARY)) + "\n[Service]\nTypo=yes\n")
    assert "Typo" in run("systemd-analyze", "verify", "--man=no", unit).stderr


@pytest.mark.parametrize("name", UNITS)
def test_the_exposure_is_low(units, name):
    result = run("systemd-analyze", "security", "--offline=true", "--threshold=17", units / name)
    assert result.returncode == 0, result.stdout + result.stderr
    assert float(re.search(r"exposure level for .*: ([0-9.]+)", result.stdout).group(1)) <= 1.7


def test_the_units_differ_in_what_is_the_instances(units):
    one, other = (settings(units / name) for name in UNITS)
    names = {line.split("=")[0] for line in set(one) ^ set(other)}
    assert names == {"Description", "ExecStart", "StateDirectory", "RuntimeDirectory", "LoadCredential"}
    assert all("%i" in line for line in set(other) - set(one))
    # When the one ends, systemd removes its runtime directory with all that is in it.
    assert "RuntimeDirectory=gighive-upload" in one and "RuntimeDirectory=gighive-upload-%i" in other


def test_the_watcher_outlives_its_worker(units):
    """An upload that the kernel ends for want of memory must not end the service."""
    for name in UNITS:
        assert {"OOMPolicy=continue", "MemoryMax=16M", "Type=notify", "Restart=on-failure"} <= set(settings(units / name))


def test_only_a_mistake_in_the_configuration_ends_the_service_for_good(units):
    """Another watcher (11) may end."""
    for name in UNITS:
        assert {"RestartPreventExitStatus=2", "RestartSec=30s"} <= set(settings(units / name))


def test_a_reload_needs_nothing_but_a_shell(units):
    (command,) = [line.partition("=")[2] for line in settings(units / UNITS[0]) if line.startswith("ExecReload=")]
    busybox = shutil.which("busybox")
    waiting = subprocess.Popen([busybox, "sh", "-c", "trap 'echo hup; exit' HUP; echo ready; while :; do sleep 0.1; done"], stdout=subprocess.PIPE, text=True)
    assert waiting.stdout.readline() == "ready\n"
    shell, _, words = command.partition(" -c ")
    assert shell == "/bin/sh"
    # An empty $PATH: only what is built in.
    subprocess.run(["/bin/sh", "-c", words.strip('"')], env={"MAINPID": str(waiting.pid), "PATH": ""}, check=True)
    assert waiting.communicate(timeout=30)[0] == "hup\n"


def test_the_user_and_the_directories_are_made(installed, tmp_path):
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    sysusers, tmpfiles = (installed / f"usr/lib/{kind}.d/gighive-upload.conf" for kind in ("sysusers", "tmpfiles"))
    assert run("systemd-sysusers", f"--root={root}", sysusers).returncode == 0
    account = re.search("^gighive-upload:x:([0-9]+):([0-9]+):.*$", (root / "etc/passwd").read_text(), re.MULTILINE)
    assert account and account.group(0).endswith(":/var/lib/gighive-upload:/usr/sbin/nologin")
    result = run("systemd-tmpfiles", f"--root={root}", "--create", tmpfiles)
    assert result.returncode == 0, result.stderr
    status = (root / "var/lib/gighive-upload").stat()
    assert status.st_mode & 0o777 == 0o700
    if os.geteuid() == 0:
        assert (status.st_uid, status.st_gid) == (int(account.group(1)), int(account.group(2)))
        # Another user's, as with User=: left alone.
        os.chown(root / "var/lib/gighive-upload", 12345, 12345)
        assert run("systemd-tmpfiles", f"--root={root}", "--create", tmpfiles).returncode == 0
        assert (root / "var/lib/gighive-upload").stat().st_uid == 12345


def test_the_archive_has_units_for_its_own_place(packages):
    with tarfile.open(packages / f"gighive-upload-{VERSION}-x86_64.tar.gz") as archive:
        for name in UNITS:
            unit = archive.extractfile(f"gighive-upload-{VERSION}-x86_64/lib/systemd/system/{name}").read().decode()
            assert "\nExecStart=/usr/local/bin/gighive-upload watch" in unit and "/usr/bin" not in unit


@pytest.mark.parametrize("script", ["postinst", "prerm", "postrm"])
def test_the_debian_scripts_are_shell(script):
    check_shell(PACKAGING / f"packages/debian/gighive-upload.{script}")


# MARK: OpenWrt

PROCD = """
procd_open_instance() { echo open; }
procd_set_param() { echo "$@"; }
procd_close_instance() { echo close; }
procd_add_jail() { echo "jail $*"; }
procd_send_signal() { echo "signal <$1> <$2> <$3>"; }
logger() { echo "logger $*"; }
"""


def check_shell(script) -> None:
    assert run("sh", "-n", script).returncode == 0
    # Where it is installed; elsewhere the shell's own check and the run below have to do.
    if shutil.which("shellcheck"):
        result = run("shellcheck", "--shell=dash", "--exclude=SC2034,SC1091,SC3043", script)
        assert result.returncode == 0, result.stdout


USER = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def service(tmp_path, function: str, configuration: str | None, *, ujail=BINARY, user=USER) -> list[str]:
    """What a function of the init script says to procd."""
    path = tmp_path / "gighive-upload.conf"
    if configuration is not None:
        path.write_text(configuration)
    script = (OPENWRT / "gighive-upload.init").read_text()
    replaced = {"CONFIGURATION": path, "RUNTIME": tmp_path / "run", "RUN_AS": user, "UJAIL": ujail}
    replaced["CAPABILITIES"] = OPENWRT / "gighive-upload.json"
    for variable, value in replaced.items():
        script, count = re.subn(f"^{variable}=.*$", f"{variable}={value}", script, flags=re.MULTILINE)
        assert count == 1
    result = run("sh", "-eu", "-c", f"{PROCD}\n{script}\n{function}")
    assert result.returncode == 0 and not result.stderr, result.stderr
    return result.stdout.splitlines()


def test_the_openwrt_script_is_shell():
    check_shell(OPENWRT / "gighive-upload.init")


def test_openwrt_starts_a_watcher(tmp_path):
    said = service(tmp_path, "start_service", "server = https://gighive\n[watch /mnt/sda1]\nlabel = x\n")
    assert said[0] == "open" and said[-1] == "close"
    assert "command /usr/bin/gighive-upload watch" in said
    assert f"env RUNTIME_DIRECTORY={tmp_path}/run" in said and (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    assert service(tmp_path, "start_service", None) == said  # Again, with the directory there.


WATCHING = "state-dir = {0}/records\nserver = https://gighive\n[watch /mnt/sda1]\nlabel = x\n"


def test_openwrts_watcher_has_a_user_and_one_capability(tmp_path):
    said = service(tmp_path, "start_service", WATCHING.format(tmp_path))
    assert {f"user {USER}", f"group {USER}", "no_new_privs 1", f"capabilities {OPENWRT}/gighive-upload.json"} <= set(said)
    # Without any of procd's mounts, it sees the recordings wherever they are.
    assert "jail gighive-upload" in said
    for name in ("run", "records"):
        status = (tmp_path / name).stat()
        assert (pwd.getpwuid(status.st_uid).pw_name, status.st_mode & 0o777) == (USER, 0o700)


def test_openwrts_watcher_has_no_capability_without_ujail(tmp_path):
    said = service(tmp_path, "start_service", WATCHING.format(tmp_path), ujail="/nonexistent")
    assert f"user {USER}" in said and not [line for line in said if line.startswith(("jail", "capabilities"))]


@pytest.mark.parametrize("state", ["state-dir = records", "  state-dir\t=\t{0}/records  "])
@pytest.mark.parametrize("section", ["  [watch /mnt/sda1]", "[ watch\t/mnt/sda1 ]"])
def test_openwrt_reads_the_configuration_as_the_program_does(tmp_path, state, section):
    said = service(tmp_path, "start_service", f"{state.format(tmp_path)}\nserver = https://gighive\n{section}\nlabel = x\n")
    assert said[0] == "open" and (tmp_path / "records").is_dir(), said


def test_openwrt_takes_no_directory_from_its_owner(tmp_path):
    (tmp_path / "records").mkdir(mode=0o750)
    owner = (tmp_path / "records").stat().st_uid
    service(tmp_path, "start_service", WATCHING.format(tmp_path))
    assert ((tmp_path / "records").stat().st_uid, (tmp_path / "records").stat().st_mode & 0o777) == (owner, 0o750)


@pytest.mark.parametrize("configuration", [None, "", "# [watch /mnt/sda1]\n", "[venue]\n"])
def test_openwrt_starts_nothing_without_a_directory(tmp_path, configuration):
    (said,) = service(tmp_path, "start_service", configuration)
    assert said.startswith("logger ") and "[watch DIR]" in said


def test_the_configuration_that_comes_with_openwrts_package_watches_nothing(tmp_path):
    (said,) = service(tmp_path, "start_service", (OPENWRT / "gighive-upload.conf").read_text())
    assert said.startswith("logger ")


def test_openwrt_reloads_with_a_signal(tmp_path):
    assert service(tmp_path, "reload_service", None) == ["signal <gighive-upload> <> <HUP>"]
