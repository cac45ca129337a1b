"""The commands to copy on each page work as they are printed, one after the other, with the configuration that the page gives.

Each page has a root directory of its own. What is in a `sh` block, each line of a `cron` block, and the hook of a recorder in a `text` block,
is run there by bash, which stops at the first failure. Each configuration file or part of one, in an `ini` block, must select recordings. What is not there (systemd, package managers, other machines) does nothing, and GigHive is HiveStub over http, at another
address. `watch` gets --dry-run, because it would not end; a start of the service becomes that, too. `console` blocks show failures, too: test_documented_commands.py runs those
whose output is checked.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from dav import DAVStub
from immich import ImmichStub
from namespaces import alone, command
from program import HANGS_AFTER_SECONDS, private, root
from s3 import KEYS, S3Stub
from test_upload_url import create
from test_documented_commands import PAGES, ROOT, commands, configurations, lines, parts
from watching import write

pytestmark = [root, pytest.mark.native]

GUIDE = "docs/guide.md"
CONFIGURATION_FILE = "guide.md#keep-the-options-in-a-file"
"""A page whose commands need a configuration file has this link."""

ABSENT = """journalctl systemd-sysusers systemd-tmpfiles dpkg rpm chown tar scp ssh opkg make setfacl apt curl msmtp jq logger sleep modprobe sysctl
  /etc/init.d/gighive-upload"""
START = """sed -n 's/^\\[watch \\(.*\\)\\]/\\1/p' /etc/gighive-upload.conf | while read -r directory; do cp /srv/rec/one.wav "$directory/"; done &&
  exec gighive-upload watch --dry-run"""
"""A start of the service: its directories are there, and get a recording."""

SHIMS = {
    "sudo": 'if [ "$1" = -u ]; then shift 2; fi; exec "$@"',
    "systemd-ask-password": "echo secret",
    "systemctl": f'case "$*" in "enable --now gighive-upload-watch") {START} ;; esac',
    "editor": 'echo secret > "$1"',
    **{name: "[ -t 0 ] || cat > /dev/null" for name in ABSENT.split()},
}
SECRETS = {
    ".gighive-password": "secret\n",
    ".netrc": "machine 127.0.0.1 login uploader password secret\n",
    ".media-token": "media-token\n",
    ".media-password": "secret\n",
    ".cloud-password": "secret\n",
    ".aws/credentials": f"[default]\n{KEYS}[media]\n{KEYS}",
    ".s3-keys": f"[default]\n{KEYS}",
    ".signed-url": "https://media.example/bucket/talk.mkv?sig=secret\n",
    ".azure-url": "https://media.example/container/{name}?sv=2026&sig=secret\n",
    ".guest-token": "guest-token\n",
}
RECORDINGS = [
    "/srv/rec/one.wav", "/srv/rec/two.mp4", "/srv/rec/three.mkv", "/media/stick/gig.mp4", "/media/card/DCIM/100GOPRO/GX010001.MP4",
    "/volume1/rec/test.mp4", "/mnt/cam/TeslaCam/SavedClips/2026-11-20/front.mp4", "/mnt/cam/TeslaCam/SentryClips/2026-11-20/back.mp4",
]  # fmt: skip
CAMERA = "/mnt/cam"
"""teslausb's $CAM_MOUNT."""
CLIP = "/var/lib/motion/clip.mp4"
"""What a recorder passes to its hook."""
DIRECTORIES = [
    "etc", "etc/modules-load.d", "etc/sysctl.d", "var/lib", "root", "tmp", "srv/sent", "srv/rec", "volume1/tools", "mutable", "proc", "dev", "run", "usr", "shims",
]  # fmt: skip
BASIS = "server = https://gighive\nuser = uploader\npassword-file = gighive-password\n"
"""What precedes a part of a configuration file, such as a section."""


class Reader:
    """Somebody at a board who copies from a page; inside of `alone`."""

    def __init__(self, program, directory: Path, stubs: dict, certificates):
        self.root, self.stubs, self.server = directory, stubs, stubs["https://gighive"]
        self.count = 0
        for name in DIRECTORIES:
            (directory / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            if Path("/" + name).is_symlink():
                (directory / name).symlink_to(os.readlink("/" + name))
        command("mount", "--bind", "-o", "ro", "/usr", directory / "usr")
        command("mount", "--rbind", "/dev", directory / "dev")
        command("mount", "-t", "proc", "proc", directory / "proc")
        self.install(program, "/shims/gighive-upload")
        self.install(program, "/volume1/tools/gighive-upload-0.1.0-x86_64/bin/gighive-upload")
        for name, text in SHIMS.items():
            file = self.at(name if name.startswith("/") else "/shims/" + name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"#!/bin/sh\n{text}\n")
            file.chmod(0o755)
        for name, text in SECRETS.items():
            self.configure("/root/" + name, text)
        shutil.copy(certificates.cacert, self.at("/etc/gighive-ca.pem"))

    def at(self, path: str) -> Path:
        return self.root / path.replace("~/", "/root/").lstrip("/")

    def install(self, program, path: str):
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program.path, self.at(path))

    def configure(self, path: str, text: str):
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        private(self.at(path), self.localized(text))

    def localized(self, text: str) -> str:
        for host, stub in self.stubs.items():
            text = text.replace(host, stub.url)
        return text.replace("/usr/bin/gighive-upload", "gighive-upload")

    def follow(self, text: str):
        """Runs what a block says; fails the test if it fails."""
        for name in {*RECORDINGS, *re.findall(r"(?<![/*\w-])[\w-]+\.(?:mp4|wav|mkv|mov)\b", text)}:
            self.record(name)
        text = re.sub(r"(gighive-upload watch (?!--once).*)", r"\1 --dry-run", self.localized(text))
        # Nothing watches here.
        text = re.sub(r"(gighive-upload status.*)", r"\1 || test $? = 3", text)
        for example, make in (("5e1f0a77", self.delivered), ("7da9741e", self.pending)):
            if example in text:
                text = text.replace(example, make())
        done = self.run(text)
        assert done.returncode == 0, f"{text}\n{done.stdout.decode()}"

    def record(self, name: str) -> str:
        """A recording that was finished an hour ago."""
        file = self.at(name if name.startswith("/") else "/root/" + name)
        if not file.exists():
            self.count += 1
            write(file, 10_000 + self.count)
            os.utime(file, (time.time() - 3600,) * 2)
        return name

    def run(self, text: str) -> subprocess.CompletedProcess:
        environment = {"PATH": "/shims:/usr/bin:/bin", "HOME": "/root", "TZ": night(), "LC_ALL": "C.UTF-8", "CAM_MOUNT": CAMERA}

        def enter():
            os.chroot(self.root)
            os.chdir("/root")

        return subprocess.run(
            ["/bin/bash", "-e", "-o", "pipefail", "-c", text], env=environment, input=b"secret\n", preexec_fn=enter,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HANGS_AFTER_SECONDS, check=False)  # fmt: skip

    def delivered(self) -> str:
        """The ID of an upload that was delivered."""
        return self.upload(self.server.url, expected=0)

    def pending(self) -> str:
        """The ID of one that was not."""
        return self.upload("http://127.0.0.1:9", expected=4)

    def upload(self, server: str, expected: int) -> str:
        name = self.record(f"example-{self.count}.mp4")
        before = self.uploads()
        done = self.run(
            f"gighive-upload send {name} --config '' --server {server} --label L --user uploader --password-file ~/.gighive-password --retry 0")
        assert done.returncode == expected, done
        (made,) = self.uploads() - before
        return made

    def uploads(self) -> set[str]:
        files = self.at("/var/lib/gighive-upload").glob("*.*")
        return {file.stem for file in files if file.suffix in (".record", ".delivered")}


def night() -> str:
    """A time zone in which it is night, and not the one after Sunday: timetables on the pages pause uploads."""
    now = datetime.datetime.now(datetime.timezone.utc)
    for hours in range(-24, 25):
        local = now - datetime.timedelta(hours=hours)
        if local.hour in range(1, 6) and local.weekday() != 0:
            return f"NIGHT{hours:+d}"
    raise AssertionError(now)


def own_file(before: str) -> str | None:
    """The configuration file that a paragraph names."""
    named = re.findall(r"`([~/][^` ]*\.conf)`", before)
    return named[0] if named else None


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_the_commands_of_a_page_work_as_printed(page, program, hive, tmp_path, certificates):
    def test(reader: Reader):
        if CONFIGURATION_FILE in (ROOT / page).read_text():
            follow(reader, GUIDE, only_configuration=True)
        follow(reader, page)
        return [recording.asset_id for recording in reader.server.recordings]

    sent = at_a_board(test, program, hive, tmp_path, certificates)
    assert len(sent) == len(set(sent)), "a recording is in two events"


@pytest.mark.parametrize("page", [page for page in PAGES if configurations(page)])
def test_each_configuration_on_a_page_selects_recordings(page, program, hive, tmp_path, certificates):
    def test(reader: Reader):
        for text, before in configurations(page):
            check(reader, text, before)

    at_a_board(test, program, hive, tmp_path, certificates)


def at_a_board(test, program, hive, directory: Path, certificates):
    """What `test` returns for a reader."""
    if not program.is_static:
        pytest.skip("this build is not static")

    def in_namespaces():
        server, share, bucket = hive(upload_token="guest-token"), DAVStub(), S3Stub()
        stubs = {
            "https://media.example": hive(user=None), "https://cloud.example": share, "https://minio.example:9000": bucket,
            "https://immich.example": ImmichStub("secret"), "https://{bucket}.objects.example": bucket, "https://gighive.example": server, "https://gighive": server,
        }
        reader = Reader(program, directory / "root", stubs, certificates)
        reader.configure("/root/.upload-url", create(stubs["https://media.example"]) + "\n")
        return test(reader)

    return alone(in_namespaces)


def follow(reader: Reader, page: str, only_configuration: bool = False):
    for language, text, before in parts(page):
        if language == "ini" and not text.startswith("["):
            if file := own_file(before):
                reader.configure(file, text)
                if only_configuration:
                    private(reader.at(file).with_name("password"), "secret\n")
        elif only_configuration:
            continue
        elif language == "sh":
            # Where each line is a command, they are alternatives, each with all recordings.
            alternatives = all(line.startswith("gighive-upload ") for line in lines(text))
            for step in lines(text) if alternatives else [text]:
                reader.follow(step)
        elif language == "cron":
            for line in lines(text):
                if match := re.match(r"(?:@\w+|(?:\S+ +){5}) *(\S.*)", line):
                    if not re.match(r"#|\w+=", line):
                        reader.follow(match.group(1).replace("\\%", "%"))
        elif language == "text" and (hook := re.match(r"on_movie_end (.*)", text)):
            reader.follow(hook.group(1).replace("%f", reader.record(CLIP)))


def check(reader: Reader, text: str, before: str):
    """The program takes something from each directory, also with each named section."""
    if sidecar := re.search(r"`(\S+)\.upload`", before):
        reader.configure(reader.record(f"/srv/rec/{sidecar.group(1)}") + ".upload", text)
        return reader.follow(f"gighive-upload send --dry-run /srv/rec/{sidecar.group(1)} --server https://gighive")
    directories = re.findall(r"^\[watch (.*)\]$", text, re.MULTILINE)
    if not re.search(r"^(server|\S+-url|webdav|s3) = ", text.partition("[")[0], re.MULTILINE):
        text = BASIS + text
    if not directories:
        directories = ["/srv/rec"]
        text = re.sub(r"^(?=\[)|\Z", "\n[watch /srv/rec]\nlabel = {stem}\n", text, count=1, flags=re.MULTILINE)
    for file in re.findall(r"-file = (.*)", text):
        reader.configure(f"/etc/{file}", "secret\n" if "header" not in text else "x-api-key: secret\n")
    reader.configure("/etc/check.conf", text)
    for number, directory in enumerate(directories):
        for kind in ("wav", "mp4", "mov"):
            reader.record(f"{directory}/check-{number}.{kind}")
    sections = [name for name in re.findall(r"^\[(.*)\]$", text, re.MULTILINE) if not name.startswith("watch ")]
    for section in ["", *sections]:
        option = f" --to {section}" if section else ""
        done = reader.run(f"gighive-upload watch --dry-run --config /etc/check.conf{option}")
        printed = done.stdout.decode()
        assert done.returncode == 0 and all(f"check-{number}." in printed for number in range(len(directories))), f"{text}\n{printed}"
