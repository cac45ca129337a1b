"""`resume --all` as from cron: it skips what it cannot do now, chooses by destination, and does several at once."""

import base64
import os
import re
import shlex
import subprocess
import threading
from pathlib import Path

import pytest
from program import private, wait_until
from records import only_record, records
from uploads import PASSWORD, begin, is_delivered, kinds, of_kind, sent, sha256, stop

SIZE, AT = 6_000_000, 3_000_000
ROOT = Path(__file__).resolve().parents[2]
CRONTAB = "*/15 * * * *  /usr/bin/gighive-upload resume --all --quiet"


@pytest.fixture
def stopped(program, recording):
    """Interrupted uploads, oldest first."""

    def stopped(stub, *names, options=()):
        files = [recording(SIZE, f"{name}.mp4") for name in names]
        for file in files:
            stop(program, stub, file, *options, at=AT)
        return files

    return stopped


@pytest.fixture
def password(tmp_path):
    return ["--password-file", private(tmp_path / "password", "secret")]


# What another process is working on.


def test_skipped_uploads_are_reported_unless_quiet(program, hive, recording):
    stub = hive()
    running = begin(program, stub, recording(SIZE), at=AT)
    upload, before = only_record(program).id, only_record(program).file.read_bytes()
    count = len(stub.requests)
    for options, out, err in [
        ([], "skipped: 1 in progress in another process.\n", ""),
        (["--quiet"], "", ""),
        (["--json"], "", ""),
        (["-v"], "skipped: 1 in progress in another process.\n", f"* {upload}: another process is working on it; skipped.\n"),
    ]:
        result = program.run("resume", "--all", *options, env=PASSWORD).check()
        assert (result.out, result.err) == (out, err), options
    # Not even the password is asked for.
    assert program.run("resume", "--all").check().err == ""
    assert only_record(program).file.read_bytes() == before and len(stub.requests) == count
    running.end()


def cron(program):
    """Runs the line as cron does: with the home directory, and hardly any other variable."""
    command = CRONTAB.split(maxsplit=5)[5].replace("/usr/bin/gighive-upload", shlex.quote(str(program.path)))
    variables = {"HOME": str(program.directory), "PATH": "/usr/bin:/bin", "XDG_STATE_HOME": str(program.state_home)}
    return subprocess.run(
        ["/bin/sh", "-c", command], env=variables, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def test_the_documentation_has_the_line():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    lines = [line.strip() for page in pages for line in page.read_text().splitlines()
             if re.match(r"\s*(@reboot|[*0-9][*/0-9,-]*( +[*0-9][*/0-9,-]*){4}) +\S", line) and "resume --all" in line]
    assert CRONTAB in lines and all(line.endswith(" resume --all --quiet") for line in lines), lines


def test_cron_sends_no_mail_when_there_is_nothing_to_say(hive, program, recording, stopped, password):
    if program.emulator:
        pytest.skip("cron starts the program itself")
    silent = (0, b"", b"")
    result = cron(program)
    assert (result.returncode, result.stdout, result.stderr) == silent, "no upload at all"
    stub = hive()
    gone, kept = stopped(stub, "gone", "kept", options=password)
    gone.unlink()
    stick = program.directory / "stick"
    stick.mkdir()
    stop(program, stub, recording(SIZE, "away.mp4", directory=stick), *password, at=AT)
    stick.rename(program.directory / "pulled out")
    running = begin(program, stub, recording(SIZE), at=AT)
    for when in ("delivering", "passing over"):
        result = cron(program)
        assert (result.returncode, result.stdout, result.stderr) == silent, when
        assert is_delivered(stub, kept)
    running.end()
    stub.stop()
    result = cron(program)
    assert result.returncode == 2 and result.stdout == b"" and b"GIGHIVE_PASSWORD" in result.stderr


def test_the_only_failure_names_its_file(hive, program, stopped):
    stopped(hive(), "a")
    result = program.run("resume", "--all", "--quiet", env={"GIGHIVE_PASSWORD": "wrong"})
    assert result.code == 6 and result.err.startswith("gighive-upload: a.mp4: "), result


# One destination.


def test_a_destination_chooses_uploads(hive, program, stopped, password):
    one, two = hive(), hive()
    (first,), (second,) = stopped(one, "a", options=password), stopped(two, "b", options=password)
    result = program.run("resume", "--all", "--server", one.url.replace("http", "HTTP") + "/").check()
    assert "a.mp4: delivered" in result.out and "b.mp4" not in result.out + result.err
    assert is_delivered(one, first) and two.requests == []
    program.run("resume", "--all", "--server", one.url).check()
    assert two.requests == []
    program.run("resume", "--all").check()
    assert is_delivered(two, second)


def test_the_kind_of_the_destination_counts(hive, program, recording):
    """A GigHive and a tus server can have the same URL."""
    stub, file = hive("PATCH/stall-after=1000000"), recording(SIZE)
    running = program.start("send", "--tus-url", stub.url + "/tus/", file)
    wait_until(lambda: of_kind(stub, "patch") and of_kind(stub, "patch")[0].body_bytes == 1_000_000)
    running.end()
    stub.set_faults()
    for option in ("--server", "--multipart-url"):
        result = program.run("resume", "--all", option, stub.url + "/tus/").check()
        assert result.out == f"nothing to resume in {program.state}.\n"
    assert program.run("resume", "--all", "--tus-url", stub.url + "/tus/").check().out.count("delivered") == 1


def test_wrong_choices_are_usage_errors(run):
    for arguments, words in (
        (["12345678", "--strict"], "--strict needs --all"),
        (["12345678", "--server", "http://x"], "--server works only with --all"),
        (["12345678", "--tus-url=http://x"], "--tus-url works only with --all"),
        (["--all", "--server", "http://x", "--tus-url", "http://x"], "one destination"),
        (["--all", "--server", "x"], "--server"),
        (["--all", "-j", "0"], "1 to 16"), (["--all", "-j", "17"], "1 to 16"), (["--all", "--jobs", "x"], "1 to 16"),
    ):
        result = run("resume", *arguments)
        assert result.code == 2 and words in result.err and len(result.err.splitlines()) == 2, result


# Several at once.


@pytest.mark.parametrize(("which", "jobs"), [("--all", 16), ("IDs", 2)])
def test_all_are_delivered_with_any_number_of_jobs(hive, program, stopped, certificates, which, jobs):
    stub = hive(tls=certificates if which == "--all" else None)
    files = stopped(stub, *"abcd")
    chosen = ["--all"] if which == "--all" else [record.id for record in records(program)]
    result = program.run("resume", *chosen, "-j", jobs, "--json", env=PASSWORD).check()
    assert [event["event"] for event in result.events].count("delivered") == 4
    assert {item.sha256 for item in stub.recordings} == set(map(sha256, files)) and sent(stub) == 4 * (SIZE - AT)
    assert kinds(stub).count("create") == 0
    assert program.run("resume", "--all", env=PASSWORD).out == f"nothing to resume in {program.state}.\n"


def test_credentials_are_read_once_for_uploads_that_share_them(hive, program, stopped, tmp_path):
    stub = hive()
    files = stopped(stub, *"abc")
    os.mkfifo(tmp_path / "pipe", 0o600)
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("secret\n"), daemon=True)
    writer.start()
    program.run("resume", "--all", "-j2", "--user", "uploader", "--password-file", tmp_path / "pipe").check()
    writer.join()
    assert len(stub.recordings) == len(files)


def test_each_has_its_own_credentials_and_destination(hive, program, stopped, tmp_path):
    stubs = [hive(user="uploader", password="secret"), hive(user="uploader", password="another")]
    words = ["secret", "another"]
    for number in (0, 1, 0, 1):
        name = f"{number}-{len(records(program))}"
        private(tmp_path / words[number], words[number])
        stopped(stubs[number], name, options=["--password-file", words[number]])
    program.run("resume", "--all", "-j4").check()
    assert [len(stub.recordings) for stub in stubs] == [2, 2]
    for stub, word in zip(stubs, words):
        expected = "Basic " + base64.b64encode(f"uploader:{word}".encode()).decode()
        assert {request.header("Authorization") for request in of_kind(stub, "patch")} == {expected}
