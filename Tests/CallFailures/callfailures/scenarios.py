"""What the program does while its calls fail, and what must be true afterwards."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from hivestub import HiveStub

PASSWORD = "call-failures-password"
TOKEN = "call-failures-bearer-token"
USER = "uploader"
SIZE = 1 << 20
"""Beyond a run of the ring (512 KiB), and from here on a multipart request expects 100 (Continue)."""

CHUNK = "256Ki"
CHUNK_BYTES = 256 << 10
PREPARED_WITHIN_SECONDS = 20
KEPT_FREE = (1 << 30) - SIZE // 2
"""Of the disk in failing_system.c, which has a GiB: so much is free once the recording is gone."""


class Broken(Exception):
    """A scenario could not be prepared: without any fault, the program does not do what it should."""


@dataclass
class Stage:
    """The place of one run: its own directory, its own recording, and the stub."""

    folder: Path
    hive: HiveStub
    program: Path
    certificates: object
    host: str = "127.0.0.1"
    recording: Path = field(init=False)
    sha256: str = field(init=False)
    command: list[str] = field(init=False, default_factory=list)
    """What is run with a fault, and then without."""
    upload: str = ""
    """The ID of the record, where there was one before the run."""
    asset: int = 0
    target: Path | None = None
    """Where it is moved after its delivery."""

    def __post_init__(self):
        self.recording = self.folder / f"{self.folder.name}.mp4"
        content = os.urandom(4096) + BULK
        self.recording.write_bytes(content)
        self.sha256 = hashlib.sha256(content).hexdigest()

    @property
    def state(self) -> Path:
        return self.folder / "state" / "gighive"

    @property
    def records(self) -> list[Path]:
        if not self.state.is_dir():
            return []
        return [path for path in self.state.iterdir() if path.suffix in (".record", ".delivered")]

    @property
    def hidden(self) -> list[Path]:
        """Recordings under their private names, during a removal."""
        return list(self.recording.parent.glob(".gighive-upload-*"))

    @property
    def copies(self) -> list[Path]:
        """The recording, whatever its name is now."""
        moved = self.target.glob(f"{self.recording.stem}*") if self.target else ()
        return [path for path in (self.recording, *self.hidden, *moved) if path.exists()]

    @property
    def url(self) -> str:
        scheme = "https" if self.hive.is_tls else "http"
        return f"{scheme}://{self.host}:{self.hive.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    # What the server has.

    @property
    def recordings(self) -> list:
        return [recording for recording in self.hive.recordings if recording.sha256 == self.sha256]

    @property
    def uploads(self) -> list:
        """tus uploads of this recording that are not finalized."""
        return [one for one in self.hive.uploads if one.metadata.get("filename") == self.recording.name]

    @property
    def posts(self) -> list:
        """Whole multipart requests of this recording."""
        return [
            request for request in self.hive.requests
            if request.kind == "other" and any(file.sha256 == self.sha256 for file in request.files)]

    def run_well(self, *arguments: str) -> None:
        done = subprocess.run(
            [self.program, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PREPARED_WITHIN_SECONDS)
        if done.returncode != 0:
            raise Broken(f"{' '.join(arguments)}: exit code {done.returncode}: {done.stderr.strip()}")


BULK = os.urandom(SIZE - 4096)


def _arguments(stage: Stage) -> list[str]:
    """Credentials, trust, state: what all commands take."""
    secret = stage.folder / "password"
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(PASSWORD + "\n")
    options = ["--state-dir", str(stage.state), "--user", USER, "--password-file", str(secret)]
    if stage.hive.is_tls:
        options += ["--cacert", stage.certificates.cacert]
    return options


def _send(stage: Stage, *options: str) -> list[str]:
    return ["send", str(stage.recording), "--server", stage.url, "--label", "L", *_arguments(stage), *options]


def _multipart(stage: Stage) -> None:
    # A client certificate and a directory of trust are further files that can fail.
    more = []
    if stage.hive.is_tls:
        own = stage.certificates
        more = ["--cacert", own.capath, "--cert", own.client_certificate, "--key", own.client_key, "--set", f"pin={own.pin}"]
    stage.command = _send(stage, "--protocol", "multipart", *more)


def _plain_post(stage: Stage) -> None:
    secret = stage.folder / "token"
    secret.touch(mode=0o600)
    secret.write_text(TOKEN + "\n")
    more = ["--cacert", stage.certificates.cacert] if stage.hive.is_tls else []
    stage.command = [
        "send", str(stage.recording), "--multipart-url", stage.url + "/upload", "--bearer-file", str(secret),
        "--state-dir", str(stage.state), *more]


def _tus(stage: Stage) -> None:
    stage.command = _send(stage, "--protocol", "tus", "--chunk-size", CHUNK)


def _plain_tus(stage: Stage) -> None:
    stage.command = [
        "send", str(stage.recording), "--tus-url", stage.url + "/tus/", "--state-dir", str(stage.state),
        "--chunk-size", CHUNK, "--set", "congestion=reno"]


def _interrupted(stage: Stage) -> None:
    """An upload of which the server has two chunks, and which has a record."""
    stage.hive.set_faults("PATCH/early-status=400:fin@2-")
    done = subprocess.run(
        [stage.program, *_send(stage, "--protocol", "tus", "--chunk-size", CHUNK, "--retry", "0")],
        env=stage.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PREPARED_WITHIN_SECONDS)
    stage.hive.set_faults()
    if done.returncode == 0 or len(stage.uploads) != 1 or len(stage.records) != 1:
        raise Broken(f"the upload was not interrupted: exit code {done.returncode}: {done.stderr.strip()}")
    stage.upload = stage.records[0].stem


def _resume(stage: Stage) -> None:
    _interrupted(stage)
    # The credentials and the server are in the record.
    stage.command = ["resume", stage.upload, "--state-dir", str(stage.state)]


def _cancel(stage: Stage) -> None:
    _interrupted(stage)
    stage.command = ["cancel", stage.upload, "--state-dir", str(stage.state)]


def _delivered(stage: Stage) -> None:
    stage.run_well(*_send(stage, "--protocol", "multipart"))
    stage.upload = stage.records[0].stem
    stage.asset = stage.recordings[0].asset_id


def _delete(stage: Stage) -> None:
    _delivered(stage)
    stage.command = ["delete", stage.upload, "--state-dir", str(stage.state)]


def _list(stage: Stage) -> None:
    _delivered(stage)
    stage.command = ["list", "--state-dir", str(stage.state)]


def _alone(stage: Stage) -> str:
    """Puts the recording into a directory of its own."""
    place = stage.folder / "recordings"
    place.mkdir()
    stage.recording = stage.recording.rename(place / stage.recording.name)
    return str(place)


def _send_and_remove(stage: Stage, after: str) -> None:
    place = _alone(stage)
    # `clean` makes the ballast where there is a state directory, so that it is there when a call fails.
    stage.state.mkdir(parents=True)
    stage.run_well("clean", place, "--keep-free", "1", "--state-dir", str(stage.state))
    # The next run finds what this one has not removed.
    stage.command = _send(stage, "-r", "--protocol", "multipart", "--after", after)
    stage.command[1] = place


def _after_delete(stage: Stage) -> None:
    _send_and_remove(stage, "remove")


def _after_move(stage: Stage) -> None:
    stage.target = stage.folder / "sent"
    stage.target.mkdir()
    _send_and_remove(stage, f"move={stage.target}")


def _clean(stage: Stage) -> None:
    """Of a recording that was delivered without `--after`, so the ballast is made, too."""
    place = _alone(stage)
    _delivered(stage)
    stage.command = ["clean", place, "--keep-free", str(KEPT_FREE), "--state-dir", str(stage.state)]


# What a success means.


def _is_recorded(stage: Stage) -> str | None:
    count = len(stage.recordings)
    return None if count == 1 else f"the server has {count} recordings of it"


def _is_posted(stage: Stage) -> str | None:
    return None if stage.posts else "the server has not received it"


def _is_with_the_tus_server(stage: Stage) -> str | None:
    whole = [one for one in stage.uploads if one.is_complete and one.sha256 == stage.sha256]
    return None if len(whole) == 1 else f"the server has it {len(whole)} times"


def _is_cancelled(stage: Stage) -> str | None:
    if stage.uploads:
        return "the server still has the upload"
    return "its record is still there" if stage.records else None


def _is_deleted(stage: Stage) -> str | None:
    if stage.recordings:
        return "the server still has the recording"
    # It stays while its file seems to be there.
    is_noted = all('"deletion":"done"' in record.read_text() for record in stage.records)
    return None if is_noted else "its record does not say that it is deleted"


def _is_removed(stage: Stage) -> str | None:
    return "the recording is still there" if stage.recording.exists() else _is_recorded(stage)


def _is_listed(stage: Stage) -> str | None:
    return None if stage.records else "its record is gone"


@dataclass(frozen=True)
class Scenario:
    name: str
    prepare: Callable[[Stage], None]
    check: Callable[[Stage], str | None]
    """What is wrong after a success, or None."""
    is_tls: bool = False
    host: str = "127.0.0.1"
    faults: tuple[str, ...] = ()
    """The stub's."""
    is_recorded: bool = True
    """Whether it depends on the state directory."""
    may_repeat: bool = True
    """Whether a retry after a lost connection is safe, so that --retry helps."""
    is_transfer: bool = True
    has_digest: bool = True
    """Whether the program knows the SHA-256 of what it sends."""
    names_congestion: bool = False
    """Whether it asks for a congestion control, so that a kernel that refuses it ends the run."""
    begins_with_upload: bool = False
    """Whether there is an unfinished upload before the run."""
    ends_with_upload: bool = False
    """Whether the run delivers that upload."""
    removes: bool = False
    """Whether the recording is to be removed here."""


SCENARIOS = [
    Scenario("multipart-http", _multipart, _is_recorded, faults=("gzip",), host="hive.test", is_recorded=False),
    Scenario("multipart-https", _multipart, _is_recorded, is_tls=True, host="localhost", is_recorded=False),
    Scenario("post-http", _plain_post, _is_posted, is_recorded=False, may_repeat=False, has_digest=False),
    Scenario("post-local", _plain_post, _is_posted, host="hive.local", is_recorded=False, may_repeat=False, has_digest=False),
    Scenario("tus-http", _tus, _is_recorded),
    Scenario("tus-https", _tus, _is_recorded, is_tls=True),
    Scenario("tus-url-http", _plain_tus, _is_with_the_tus_server, ends_with_upload=True, has_digest=False,
             names_congestion=True),
    Scenario("resume-http", _resume, _is_recorded, begins_with_upload=True),
    Scenario("resume-https", _resume, _is_recorded, is_tls=True, begins_with_upload=True),
    Scenario("list", _list, _is_listed, is_transfer=False),
    Scenario("cancel-http", _cancel, _is_cancelled, begins_with_upload=True),
    Scenario("delete-http", _delete, _is_deleted),
    Scenario("delete-https", _delete, _is_deleted, is_tls=True),
    Scenario("after-delete", _after_delete, _is_recorded, is_recorded=False, removes=True),
    Scenario("after-move", _after_move, _is_recorded, is_recorded=False, removes=True),
    Scenario("clean", _clean, _is_removed, is_transfer=False, removes=True),
]
