"""The service in a Debian that boots (systemd-nspawn): upgrade, reload, another user, another watcher, removal, purge. Needs root."""

import shutil
import subprocess
import time

import pytest
from test_packages import deb
from test_roots import debootstrap

pytestmark = pytest.mark.roots

UNIT, INSTANCE = "gighive-upload-watch.service", "gighive-upload-watch@venue.service"
CONFIGURATION = "server = http://127.0.0.1:9\nuser = u\npassword-file = gighive-password\n[watch /srv/{0}]\nlabel = x\n"


class Machine:
    """A container without a network."""

    def __init__(self, root):
        self.root = root
        command = ["systemd-nspawn", "--quiet", "-D", root, "--private-network", "--register=no", "--keep-unit", "--boot"]
        self.nspawn = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(lambda: self.said("systemctl", "is-system-running") in ("running", "degraded"))

    def call(self, *command: str) -> subprocess.CompletedProcess:
        children = subprocess.run(["pgrep", "-P", str(self.nspawn.pid)], capture_output=True, text=True, check=False).stdout.split()
        inside = ["nsenter", "-t", children[0] if children else "0", "-a", "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        return subprocess.run([*inside, *command], capture_output=True, text=True, check=False)

    def said(self, *command: str) -> str:
        return self.call(*command).stdout.strip()

    def run(self, *command: str) -> str:
        result = self.call(*command)
        assert result.returncode == 0, result
        return result.stdout

    def until(self, condition) -> None:
        end = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < end and self.nspawn.poll() is None
            time.sleep(0.5)

    def property(self, unit: str, name: str) -> str:
        return self.said("systemctl", "show", "-p", name, "--value", unit)

    def log(self, unit: str) -> str:
        return self.run("journalctl", "-u", unit, "--no-pager", "-o", "cat")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def owner(self, path: str) -> str:
        return self.said("stat", "-c", "%U", path)


@pytest.fixture(scope="module")
def machine(tmp_path_factory, packages, former):
    root = tmp_path_factory.mktemp("machine") / "root"
    # With neither procps nor anything else that a small system lacks.
    debootstrap(root, "amd64", "bookworm", "--include=systemd,systemd-sysv,dbus")
    shutil.copy(former("amd64"), root / "root/former.deb")
    shutil.copy(deb(packages, "x86_64"), root / "root/gighive-upload.deb")
    # Without /proc, as in a chroot that makes an image.
    assert not (root / "proc/self").exists()
    for arguments in (["-i", "/root/former.deb"], ["-i", "/root/gighive-upload.deb"], ["--purge", "gighive-upload"]):
        subprocess.run(["chroot", root, "dpkg", *arguments], check=True, capture_output=True)
    machine = Machine(root)
    yield machine
    machine.nspawn.terminate()
    machine.nspawn.wait(timeout=120)
    shutil.rmtree(root)


def test_an_installation_starts_nothing(machine):
    machine.run("dpkg", "-i", "/root/former.deb")
    assert machine.said("systemctl", "is-enabled", UNIT) == "disabled"
    assert machine.said("systemctl", "is-active", UNIT) == "inactive"
    assert machine.owner("/var/lib/gighive-upload") == "gighive-upload"


def test_an_upgrade_restarts_what_runs(machine):
    for directory in ("recordings", "other"):
        (machine.root / "srv" / directory).mkdir()
    machine.write("etc/gighive-upload.conf", CONFIGURATION.format("recordings"))
    machine.write("etc/gighive-upload/venue.conf", CONFIGURATION.format("other"))
    for name in ("gighive-password", "gighive-password-venue"):
        machine.write(f"etc/credstore/{name}", "secret\n")
        (machine.root / "etc/credstore" / name).chmod(0o600)
    machine.run("systemctl", "enable", "--now", UNIT, INSTANCE)
    before = [machine.property(unit, "MainPID") for unit in (UNIT, INSTANCE)]
    machine.run("dpkg", "-i", "/root/gighive-upload.deb")
    for unit, process in zip((UNIT, INSTANCE), before):
        assert machine.property(unit, "ActiveState") == "active"
        assert machine.property(unit, "MainPID") not in ("0", process)
        assert machine.said("systemctl", "is-enabled", unit) == "enabled"


def test_a_reload_reaches_the_watcher(machine):
    assert machine.call("sh", "-c", "command -v pkill").returncode != 0, "the system has procps"
    machine.write("etc/gighive-upload.conf", CONFIGURATION.format("recordings") + "[watch /srv/late]\nlabel = y\n")
    machine.run("systemctl", "reload", UNIT)
    machine.until(lambda: "configuration reloaded." in machine.log(UNIT))


def test_another_watcher_is_waited_for_and_a_mistake_is_not(machine):
    machine.write("etc/gighive-upload/venue.conf", CONFIGURATION.format("recordings"))
    machine.run("systemctl", "restart", INSTANCE)
    assert machine.property(INSTANCE, "ActiveState") == "active"
    assert machine.log(INSTANCE).count("is watched by another process") == 1
    machine.write("etc/gighive-upload/venue.conf", "mistake = 1\n")
    machine.call("systemctl", "restart", INSTANCE)
    assert (machine.property(INSTANCE, "ExecMainStatus"), machine.property(INSTANCE, "ActiveState")) == ("2", "failed")


def test_another_user_keeps_the_records(machine):
    machine.run("useradd", "-m", "pi")
    machine.write(f"etc/systemd/system/{UNIT}.d/override.conf", "[Service]\nUser=pi\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", UNIT)
    # At every boot, and at every upgrade: systemd itself gives the directory to the user only when the service starts.
    machine.run("systemd-tmpfiles", "--create")
    assert machine.owner("/var/lib/gighive-upload") == "pi"
    machine.run("dpkg", "-i", "/root/gighive-upload.deb")
    assert machine.owner("/var/lib/gighive-upload") == "pi"
    assert machine.property(UNIT, "ActiveState") == "active"
    # That says nothing about another watcher's.
    machine.write("etc/gighive-upload/venue.conf", CONFIGURATION.format("other"))
    machine.run("systemctl", "restart", INSTANCE)
    assert machine.owner("/var/lib/gighive-upload-venue") == "gighive-upload"
    assert machine.property(INSTANCE, "ActiveState") == "active"


def test_a_removal_stops_the_service_and_a_purge_disables_it(machine):
    machine.run("dpkg", "--remove", "gighive-upload")
    assert machine.said("systemctl", "is-active", UNIT) != "active"
    machine.run("dpkg", "-i", "/root/gighive-upload.deb")
    assert machine.said("systemctl", "is-enabled", UNIT) == "enabled"
    said = machine.run("dpkg", "--purge", "gighive-upload")
    for path in ("/etc/credstore/gighive-password", "/etc/gighive-upload.conf", f"/etc/systemd/system/{UNIT}.d"):
        assert f" {path}" in said
    assert not list((machine.root / "etc/systemd/system").glob("*.wants/gighive*"))
