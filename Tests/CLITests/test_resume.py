"""An interrupted upload resumes at the server's offset, with the options and only with the file it was started with."""

import os
import re
import shlex
import signal
import time

import pytest
from program import private
from records import only_record
from uploads import PASSWORD, TUS, WAYS, go_on, is_delivered, kinds, of_kind, rewrite, sent, sha256, stop

SIZE = 6_000_000
AT = 3_000_000


# How it ends, and how it continues.


def test_an_interruption_says_how_to_resume(hive, program, recording):
    """What it says can be typed as it is."""
    stub, file = hive(), recording(SIZE)
    result = stop(program, stub, file, "--state-dir", "some where", at=AT, number=signal.SIGINT)
    assert result.code == 130, result
    words = re.search(r"gighive-upload (resume [0-9a-f]{8}.*)", result.err).group(1)
    program.run(*shlex.split(words.rstrip(".")), env=PASSWORD).check()
    assert is_delivered(stub, file)


@pytest.mark.parametrize("way", WAYS)
def test_it_resumes_at_the_servers_offset(hive, program, recording, way):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT, number=signal.SIGKILL)
    result = go_on(program, stub, file, way).check()
    assert is_delivered(stub, file)
    assert kinds(stub) == ["options", "head", "patch", "finalize"]
    assert sent(stub) == SIZE - AT
    assert sha256(file) + " (verified)" in result.out
    assert only_record(program).phase == "delivered"


def test_an_upload_that_has_expired_starts_over(hive, program, recording):
    stub = hive(tus_extensions=("creation", "creation-with-upload", "expiration"), tus_expires_seconds=1.0)
    file = recording(SIZE)
    stop(program, stub, file, at=AT)
    assert "the server keeps it until" in program.run("list").out
    time.sleep(1.2)
    assert go_on(program, stub, file, "resume").code == 0
    assert is_delivered(stub, file)


def test_progress_counts_from_the_servers_offset(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    stub.set_faults("slow-read=2e6")
    result = go_on(program, stub, file, "resume", "--json")
    counts = [event["bytes"] for event in result.events if event["event"] == "progress"]
    assert counts and counts == sorted(counts) and counts[0] >= AT
    assert result.outcome["bytes"] == result.outcome["total"] == SIZE


# The options.


def test_the_options_are_those_that_it_was_begun_with_unless_others_are_given_now(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    given = ["--label", "🎸 a=b %41", "--org-name", "Die Löwen", "--event-type", "wedding", "--event-date", "2026-02-28"]
    stop(program, stub, file, *given, at=AT)
    assert go_on(program, stub, file, "resume", "--event-date", "2026-03-01").code == 0
    (item,) = stub.recordings
    assert (item.label, item.org_name, item.event_type, item.event_date) == (given[1], given[3], given[5], "2026-03-01")


TRANSIENT = [
    ["--limit-rate", "50M"], ["--set", "stall-timeout=20s"], ["--max-time", "1h"], ["--set", "retry-max-delay=1s"],
    ["--label", "now"], ["--header", "X-Now: yes"], ["--insecure"], ["--set", "congestion=reno"], ["--chunk-size", "1M"], ["-v"],
    ["--set", "shared-secrets=yes"], ["--proxy", ""], ["--max-memory", "64G"],
]


def test_options_that_are_given_now_count_for_this_time_only(program, interrupted):
    stub, record = interrupted("--set", "retry-max-delay=3s", "--header", "X-Then: yes")
    stub.set_faults("head/status=503")
    for options in TRANSIENT:
        assert program.run("resume", record.id, *options, env=PASSWORD).code == 9, options
        assert only_record(program).document["note"] == record.document["note"], options


def test_an_upload_that_starts_over_keeps_the_options_of_its_record(program, interrupted):
    stub, record = interrupted("--label", "then")
    stub.set_faults("head/gone=404@1", "patch/status=503")
    assert program.run("resume", "--all", "--label", "now", "--limit-rate", "90M", env=PASSWORD).code == 9
    changed = only_record(program)
    assert changed.upload_path != record.upload_path and changed.document["note"] == record.document["note"]
    stub.set_faults()
    program.run("resume", "--all", env=PASSWORD).check()
    assert stub.recordings[0].label == "then"


def test_options_of_a_later_version_stay_in_the_record(program, interrupted):
    stub, record = interrupted()
    note = record.document["note"] + " from-the-future=yes"
    record.write(note=note)
    stub.set_faults("head/status=503")
    private(program.directory / "password", "secret")
    assert program.run("resume", "--all", env=PASSWORD).code == 9
    assert only_record(program).document["note"] == note
    assert program.run("resume", "--all", "--user", "uploader", "--password-file", "password").code == 9
    assert "from-the-future=yes" in only_record(program).document["note"]


@pytest.mark.parametrize("options", [["--user", "uploader", "--password-file", "new"], ["--netrc=netrc"]], ids=" ".join)
def test_other_credentials_are_those_of_the_next_time_too(program, interrupted, tmp_path, options):
    private(tmp_path / "old", "wrong")
    stub, record = interrupted("--header-file", private(tmp_path / "headers", "X-Key: k"))
    before = record.document["note"].replace("user=uploader", f"user=somebody password-file={tmp_path}/old")
    record.write(note=before)
    assert program.run("resume", "--all").code == 6
    private(tmp_path / "new", "secret")
    private(tmp_path / "netrc", "machine 127.0.0.1 login uploader password secret")
    stub.set_faults("head/status=503")
    assert program.run("resume", record.id, *options, "--max-time", "1h").code == 9
    note = only_record(program).document["note"]
    assert "somebody" not in note and "/old" not in note and "max-time" not in note and "header-file=" in note
    assert f"{tmp_path}/{options[-1].removeprefix('--netrc=')}" in note
    stub.set_faults()
    program.run("resume", "--all", cwd="/").check()
    assert is_delivered(stub, tmp_path / "gig.mp4")


def test_a_permission_is_kept_with_the_credentials_that_need_it(program, interrupted, tmp_path):
    stub, record = interrupted()
    (tmp_path / "open").write_text("secret")
    (tmp_path / "open").chmod(0o644)
    stub.set_faults("head/status=503")
    options = ["--user", "uploader", "--password-file", "open"]
    assert program.run("resume", record.id, *options).code == 2
    assert program.run("resume", record.id, *options, "--set", "shared-secrets=yes").code == 9
    stub.set_faults()
    program.run("resume", "--all").check()


def test_the_way_of_requests_is_kept(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, "--set", "method-override=yes", "--chunk-size", "2M", at=1_500_000, creation=0)
    stub.set_faults("deny-patch")
    assert go_on(program, stub, file, "resume").code == 0
    assert [request.content_length for request in of_kind(stub, "patch")] == [2_000_000, 2_000_000, SIZE - 5_500_000]


def test_trust_is_kept_also_from_another_directory(hive, program, recording, certificates, tmp_path):
    (tmp_path / "ca.pem").write_bytes(open(certificates.cacert, "rb").read())
    stub, file = hive(tls=certificates), recording(SIZE)
    stop(program, stub, file, "--cacert", "ca.pem", at=AT)
    assert program.run("resume", "--all", env=PASSWORD, cwd="/").code == 0
    assert is_delivered(stub, file)


def test_a_password_from_the_environment_has_to_be_there_again(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    result = go_on(program, stub, file, "resume", env={})
    assert result.code == 2 and "GIGHIVE_PASSWORD" in result.err, result
    assert stub.requests == []
    assert go_on(program, stub, file, "resume", env={"GIGHIVE_PASSWORD": "wrong"}).code == 6
    assert go_on(program, stub, file, "resume").code == 0
    assert sent(stub) == SIZE - AT


# The file.


@pytest.mark.parametrize(("way", "change", "words"), [
    ("resume", lambda file: os.truncate(file, SIZE + 1), [str(SIZE), str(SIZE + 1)]),
    ("resume --all", lambda file: rewrite(file, SIZE - 7), ["last bytes differ"]),
], ids=["longer", "its end"])
def test_a_changed_recording_is_not_mixed_with_its_former_content(hive, program, recording, way, change, words):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    before = only_record(program)
    change(file)
    result = go_on(program, stub, file, way)
    assert result.code == 3, result
    for word in [*words, "gig.mp4", "To send the file as it is now, use gighive-upload send"]:
        assert word in result.err, result
    assert stub.requests == []
    result = program.send(stub, *TUS, file).check()
    for word in [*words, "gig.mp4", "has changed since its upload started"]:
        assert word in result.err, result
    assert result.err.count("warning:") == 1 and is_delivered(stub, file)
    assert only_record(program).id == before.id and only_record(program).phase == "delivered"


def test_a_change_without_other_traces_is_found_by_the_digest(hive, program, recording):
    """In the middle, with the times put back. After a SIGKILL, nothing is known of what was sent, and the server tells at the end."""
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT, number=signal.SIGKILL)
    rewrite(file, 500_000)
    result = go_on(program, stub, file, "resume")
    assert result.code == 10, result
    assert result.out == ""
    assert only_record(program).phase == "failed"


def test_a_file_of_any_name_can_be_resumed_from_another_directory(hive, program, recording, tmp_path):
    stub, file = hive(), recording(SIZE, b"-a b=c%2F%00 line\nend\r\xff.mp4")
    stop(program, stub, "--", os.path.basename(os.fsencode(file)), at=AT, cwd=tmp_path)
    assert go_on(program, stub, file, "resume", cwd="/").code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE - AT
    assert only_record(program).source == os.fsencode(file)
