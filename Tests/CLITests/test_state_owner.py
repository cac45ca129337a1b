"""Root's commands beside the service: as the owner of its state directory, with the password that root keeps for it."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
from pathlib import Path

import pytest
from namespaces import alone, command
from program import NOBODY, private, root, wait_until
from uploads import sha256
from watching import write

pytestmark = root

USER, GROUP, SOUND = 48123, 48124, 48125
SERVICE = {"user": USER, "group": GROUP, "extra_groups": [SOUND]}
CAP_SETUID, CAP_LEASE = 7, 28
STATE = Path("/var/lib/gighive-upload")
RUN = Path("/run/credentials/gighive-upload-watch.service")
PORT = 8080

CONFIGURATION = f"""server = http://127.0.0.1:{PORT}
user = uploader
password-file = gighive-password

[watch /srv/recordings]
label = {{stem}}
"""


class Board:
    """A machine with the package, set up as docs/watch.md says; inside of `alone`."""

    def __init__(self, program, directory: Path, hive):
        self.program, self.hive = program, hive
        for place in ("etc", "var/lib", "run", "srv"):
            (directory / place).mkdir(parents=True)
            (directory / place).chmod(0o755)
        etc = directory / "etc"
        (etc / "passwd").write_text(
            f"root:x:0:0:root:/root:/bin/sh\ngighive-upload:x:{USER}:{GROUP}::/var/lib/gighive-upload:/sbin/nologin\n")
        (etc / "group").write_text(
            f"root:x:0:gighive-upload2\ngighive-upload:x:{GROUP}:\naudio:x:9:root\nsound:x:{SOUND}:ann,gighive-upload\n")
        shutil.copy("/etc/ld.so.cache", etc)
        for place in ("etc", "var/lib", "run", "srv"):
            command("mount", "--bind", directory / place, "/" + place)
        Path("/etc/gighive-upload.conf").write_text(CONFIGURATION)
        Path("/etc/gighive-upload.conf").chmod(0o644)
        self.password(Path("/etc/credstore"), "gighive-password")
        STATE.mkdir(mode=0o700)
        os.chown(STATE, USER, GROUP)
        Path("/srv/recordings").mkdir(mode=0o755)

    def password(self, directory: Path, name: str, text: str = "secret") -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o700)
        return private(directory / name, text)

    def serve(self, *faults, **options):
        return self.hive(*faults, port=PORT, **options)

    def recording(self, name: str, owner: int = USER, group: int = GROUP, mode: int = 0o644) -> Path:
        file = write(Path("/srv/recordings") / name, 100_000)
        os.chown(file, owner, group)
        file.chmod(mode)
        return file

    def run(self, *arguments, env=None, **options):
        """As root, in a shell of sudo."""
        return self.program.run(*arguments, env={"HOME": "/root", "XDG_STATE_HOME": None, **(env or {})}, cwd="/", **options)

    def start(self, *arguments, **options):
        return self.program.start(*arguments, env={"HOME": "/root", "XDG_STATE_HOME": None}, cwd="/", **options)

    def start_service(self, *arguments, directory=RUN, **options):
        """A process of the service, with the copy of the password that systemd passes: one that was corrected since."""
        copy = self.password(Path(directory), "gighive-password", "an old one")
        for path in (directory, copy):
            os.chown(path, USER, GROUP)
        env = {"STATE_DIRECTORY": str(STATE), "CREDENTIALS_DIRECTORY": str(directory), "HOME": str(STATE)}
        return self.program.start(*arguments, env={**env, "XDG_STATE_HOME": None}, cwd="/", **SERVICE, **options)


@pytest.fixture
def board(program, tmp_path, hive):
    """Runs a function with a board of its own."""
    return lambda function: alone(lambda: function(Board(program, tmp_path / "board", hive)))


def owners(directory: Path) -> set[tuple[int, int]]:
    return {(status.st_uid, status.st_gid) for status in map(os.lstat, [directory, *directory.rglob("*")])}


def test_commands_work_without_options_beside_the_service(board):
    def test(board):
        files = [board.recording(name) for name in ("a.wav", "b.wav")]
        assert board.start_service("send", *files, "--label", "L").wait().code == 4  # there is no server yet
        shutil.rmtree(RUN)  # the service ends
        delivered, cancelled = [path.stem for path in STATE.glob("*.record")]
        stub = board.serve()
        assert f"this runs as the user gighive-upload (UID {USER})" in board.run("doctor").check().out
        board.run("cancel", cancelled).check()
        board.run("resume", "--all").check()
        assert delivered in board.run("list").check().out
        assert board.run("status").code == 3
        board.run("delete", delivered).check()
        sent = {request.header("Authorization") for request in stub.requests}
        return stub, sent, owners(STATE)

    stub, sent, found = board(test)
    assert len(sent) == 1 and "" not in sent and stub.recordings == []
    assert found == {(USER, GROUP)}


def test_a_file_that_only_root_can_read_is_not_sent_just_because_a_record_names_it(board):
    def test(board):
        secret = board.recording("secret.wav", owner=0, group=0, mode=0o600)
        os.chown(STATE, 0, 0)
        assert board.run("send", secret, "--label", "L").code == 4
        # The record that the owner of the directory could have written himself.
        for path in (STATE, *STATE.rglob("*")):
            os.chown(path, USER, GROUP)
        stub = board.serve()
        return board.run("resume", "--all"), board.run("send", secret, "--label", "L"), stub

    *outcomes, stub = board(test)
    for outcome in outcomes:
        assert outcome.code == 3 and "Permission denied" in outcome.err, outcome
        assert f"This runs as the user gighive-upload (UID {USER}), to whom the state directory {STATE} belongs; " in outcome.err
    assert stub.recordings == [] and stub.uploads == []


def test_a_state_directory_that_another_user_can_replace_counts_as_that_users(board):
    """Even if it is root's at this moment: a link in the service's directory, or what root made there."""

    def test(board):
        board.serve()
        (STATE / "made").mkdir(mode=0o700)
        Path("/srv/roots").mkdir(mode=0o700)
        (STATE / "link").symlink_to("/srv/roots")
        board.run("send", board.recording("a.wav"), "--label", "L", "--state-dir", STATE / "new").check()
        places = [STATE / "made", STATE / "link"]
        return [board.run("list", "--state-dir", place) for place in places], owners(STATE / "new")

    outcomes, made = board(test)
    for outcome in outcomes:
        assert outcome.code == 13, outcome
        assert f"This runs as the user gighive-upload (UID {USER}), to whom {STATE} belongs" in outcome.err
    assert made == {(USER, GROUP)}


def test_it_has_the_identity_of_the_service(board):
    def test(board):
        stub = board.serve("stall-after=0")
        file = board.recording("a.wav", owner=0, group=SOUND, mode=0o640)
        running = board.start("send", file, "--label", "L")
        wait_until(lambda: stub.requests, what="a request")
        status = Path(f"/proc/{running.pid}/status").read_text()
        running.signal(signal.SIGTERM)
        running.wait()
        return dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)

    status = board(test)
    assert status["Uid"].split() == [str(USER)] * 4 and status["Gid"].split() == [str(GROUP)] * 4
    assert set(status["Groups"].split()) == {str(GROUP), str(SOUND)}
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapAmb")} == {1 << CAP_LEASE}


def test_a_user_without_a_line_in_etc_has_the_group_of_the_directory(board):
    def test(board):
        os.chown(STATE, 48200, SOUND)
        board.serve()
        file = board.recording("a.wav", owner=0, group=SOUND, mode=0o640)
        board.run("send", file, "--label", "L").check()
        Path("/etc/passwd").unlink()
        Path("/etc/group").unlink()
        refused = board.run("send", board.recording("b.wav", owner=0, group=GROUP, mode=0o640), "--label", "L")
        return refused, owners(STATE)

    refused, found = board(test)
    assert refused.code == 3 and "This runs as the user (UID 48200)" in refused.err, refused
    assert found == {(48200, SOUND)}


def test_a_process_that_cannot_become_the_owner_opens_nothing(board):
    def test(board):
        def keep_the_user():
            ctypes.CDLL(None).prctl(24, CAP_SETUID, 0, 0, 0)  # PR_CAPBSET_DROP

        stub = board.serve()
        file = board.recording("a.wav")
        outcomes = [
            board.run("send", file, "--label", "L", preexec_fn=keep_the_user),
            board.run("list", "--json", preexec_fn=keep_the_user),
        ]
        return outcomes, stub.requests, list(STATE.iterdir())

    outcomes, requests, left = board(test)
    for outcome in outcomes:
        assert outcome.code == 13, outcome
    assert "cannot work as the user gighive-upload" in outcomes[0].err
    assert "Operation not permitted" in outcomes[1].outcome["message"]
    assert requests == [] and left == []


def test_a_watcher_works_as_the_owner_too_and_cannot_pass_the_password_on(board):
    def test(board):
        refused = board.run("watch")
        private(Path("/etc/own-password"), "secret")
        os.chown("/etc/own-password", USER, GROUP)
        text = CONFIGURATION.replace("gighive-password", "own-password")
        Path("/etc/gighive-upload.conf").write_text(text + "settle = 300ms\n")
        stub = board.serve()
        file = board.recording("a.wav")
        digest = sha256(file)
        watching = board.start("watch")
        wait_until(lambda: stub.recordings, 30, what="the delivery")
        watching.signal(signal.SIGTERM)
        assert watching.wait().code == 0
        assert [recording.sha256 for recording in stub.recordings] == [digest]
        return refused, owners(STATE)

    refused, found = board(test)
    assert refused.code == 2 and "/etc/gighive-upload.conf:3: password-file: /etc/credstore/gighive-password" in refused.err
    assert f"(UID {USER})" in refused.err
    assert found == {(USER, GROUP)}


@pytest.mark.parametrize(
    "directory, restart",
    [
        (RUN, "systemctl restart gighive-upload-watch"),
        ("/run/user/48123/credentials/uploads@venue.service", "systemctl --user restart uploads@venue"),
    ],
)
def test_after_a_refused_password_the_log_names_the_restart(board, directory, restart):
    """systemd's copy of the password does not change before."""
    hint = f"After a correction, run {restart}: systemd passes secrets on only when the service starts."

    def test(board):
        board.serve()
        board.recording("a.wav")
        with open("/etc/gighive-upload.conf", "a") as file:
            file.write("settle = 300ms\n")
        log = Path("/run/log")
        with open(log, "wb") as stream:
            running = board.start_service("watch", directory=directory, stdout=stream, stderr=stream)
        wait_until(lambda: hint in log.read_text() or running.process.poll() is not None, 30, what="the hint in the log")
        running.signal(signal.SIGTERM)
        running.wait()
        return log.read_text()

    text = board(test)
    assert hint in text and "when a credentials file changes" not in text


def test_an_additional_service_has_a_password_of_its_own(board):
    def test(board):
        place = Path("/etc/gighive-upload")
        place.mkdir()
        shutil.move("/etc/gighive-upload.conf", place / "venue.conf")
        board.password(Path("/etc/credstore"), "gighive-password", "of another server")
        board.password(Path("/etc/credstore"), "gighive-password-venue")
        board.serve()
        board.run("doctor", "--config", place / "venue.conf").check()
        shutil.copy(place / "venue.conf", "/etc/other.conf")
        return board.run("doctor", "--config", "/etc/other.conf")

    other = board(test)
    # Only the configurations of services name files in the store.
    assert other.code == 2 and "/etc/other.conf:3: password-file: there is no such file" in other.err


@pytest.mark.parametrize("arguments", [["doctor"], ["send", "/srv/recordings/a.wav", "--label", "L"]])
def test_other_users_are_told_which_line_names_what_they_cannot_read(board, arguments):
    def test(board):
        stub = board.serve()
        board.recording("a.wav")
        outcome = board.run(*arguments, env={"HOME": "/nonexistent"}, **NOBODY)
        # It is theirs again if they give what the line gives.
        own = board.run(*arguments, "--user", "uploader", env={"HOME": "/nonexistent", "GIGHIVE_PASSWORD": "secret"}, **NOBODY)
        return outcome, own, stub

    outcome, own, stub = board(test)
    assert outcome.code == 2, outcome
    assert (
        "/etc/gighive-upload.conf:3: password-file: /etc/credstore/gighive-password: Permission denied."
        " It is another user's, such as a service's: use sudo." in outcome.err)
    assert own.code != 2, own


def test_other_users_are_told_which_line_names_the_state_directory(board):
    def test(board):
        with open("/etc/gighive-upload.conf", "w") as file:
            file.write(f"state-dir = {STATE}\n")
        board.run("list").check()
        return board.run("list", **NOBODY)

    outcome = board(test)
    assert outcome.code == 13, outcome
    assert "/etc/gighive-upload.conf:1: state-dir names it. Use sudo, or choose another one with --state-dir." in outcome.err


def test_a_file_beside_the_configuration_serves_where_there_is_no_store(board):
    """systemd before 251: docs/watch.md."""

    def test(board):
        Path("/etc/credstore/gighive-password").unlink()
        file = private(Path("/etc/gighive-password"), "secret")
        os.chown(file, USER, GROUP)
        board.serve()
        board.run("doctor").check()
        return board.run("doctor", env={"HOME": "/nonexistent", "STATE_DIRECTORY": str(STATE)}, **SERVICE)

    board(test).check()
