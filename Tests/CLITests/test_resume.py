"""An upload that was interrupted goes on where the server stands, with the options it was begun with."""

import datetime
import os
import re
import shlex
import signal
import time

import pytest
from program import private, wait_until
from records import only_record, records
from uploads import CHUNK, CREATION, PASSWORD, TUS, begin, is_delivered, kinds, of_kind, sent, sha256, stop

SIZE = 6_000_000
LARGE = 30_000_000
AT = 3_000_000

WAYS = ["send", "resume", "resume --all"]


def go_on(program, hive, file, way, *options, **more):
    """The same command again, `resume` with the ID, or `resume --all`."""
    if way == "send":
        return program.send(hive, *TUS, file, *options, **more)
    which = "--all" if way == "resume --all" else only_record(program).id
    return program.run("resume", which, "--progress=none", *options, **{"env": PASSWORD, **more})


# How it ends, and how it goes on.


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_an_interruption_says_how_to_go_on(any_hive, program, recording, number, code):
    hive, file = any_hive(), recording(SIZE)
    result = stop(program, hive, file, at=AT, number=number)
    assert result.code == code, result
    match = re.search(r"gighive-upload (resume [0-9a-f]{8})", result.err)
    assert match, result
    again = program.run(*match.group(1).split(), env=PASSWORD)
    assert again.code == 0, again
    assert is_delivered(hive, file)


def test_the_hint_leads_to_the_directory_of_the_records(hive, program, recording, tmp_path):
    """What it says can be typed as it is."""
    stub, file = hive(), recording(SIZE)
    result = stop(program, stub, file, "--state-dir", tmp_path / "some where", at=AT)
    words = re.search(r"gighive-upload (resume .*)", result.err).group(1)
    again = program.run(*shlex.split(words.rstrip(".")), env=PASSWORD)
    assert again.code == 0, again
    assert is_delivered(stub, file)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_goes_on_where_the_server_stands(any_hive, program, recording, way, number):
    hive, file = any_hive(), recording(SIZE)
    stop(program, hive, file, at=AT, number=number)
    result = go_on(program, hive, file, way)
    assert result.code == 0, result
    assert is_delivered(hive, file)
    assert kinds(hive) == ["options", "head", "patch", "finalize"]
    assert sent(hive) == SIZE - AT
    assert sha256(file) + " (verified)" in result.out
    assert only_record(program).phase == "delivered"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_behind_a_proxy_that_spools_8_mebibytes_are_sent_again_at_most(hive, program, recording, number):
    stub, file = hive(), recording(LARGE)
    stub.set_faults("spool", "PATCH/stall-after=5000000@2-2")
    running = program.start_sending(stub, *TUS, file)
    wait_until(lambda: len(of_kind(stub, "patch")) == 2 and of_kind(stub, "patch")[1].body_bytes == 5_000_000)
    running.signal(number)
    running.wait()
    stub.set_faults("spool")
    assert go_on(program, stub, file, "resume").code == 0
    assert is_delivered(stub, file)
    assert sent(stub) <= LARGE + CHUNK


@pytest.mark.parametrize("after", [0, 100, 65_536, 1_000_000])
def test_a_crash_at_any_byte_of_the_first_request_loses_nothing(hive, program, recording, after):
    """The creation carries data; the server may or may not have made an upload of it."""
    stub, file = hive("create/stall-after=" + str(after)), recording(SIZE)
    running = program.start_sending(stub, *TUS, file)
    wait_until(lambda: of_kind(stub, "create") and of_kind(stub, "create")[0].body_bytes >= after)
    running.end()
    stub.set_faults()
    stub._requests.clear()
    assert go_on(program, stub, file, "send").code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE


def test_many_crashes_in_a_row_do_not_add_up(hive, program, recording):
    stub, file = hive(), recording(LARGE)
    for at in range(2_000_000, LARGE, 4_000_000):
        known = bool(stub.uploads)
        stub.set_faults(f"PATCH/stall-after={4_000_000 if known else at - CREATION}")
        running = program.start_sending(stub, *TUS, file)
        wait_until(lambda: stub.uploads and stub.uploads[0].offset == at)
        running.signal(signal.SIGKILL)
        running.wait()
    stub.set_faults()
    assert go_on(program, stub, file, "resume --all").code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == LARGE
    assert len(of_kind(stub, "create")) == 1


def test_an_upload_to_any_tus_server_goes_on_too(hive, program, recording):
    stub, file = hive("PATCH/stall-after=2000000"), recording(SIZE)
    running = program.start("send", "--tus-url", stub.url + "/tus/", file, "--digest")
    wait_until(lambda: stub.uploads and stub.uploads[0].offset == CREATION + 2_000_000)
    running.end()
    stub.set_faults()
    stub._requests.clear()
    result = program.run("resume", "--all", "--json")
    assert result.code == 0, result
    assert stub.uploads[0].is_complete and stub.uploads[0].sha256 == sha256(file)
    assert result.outcome["checksum_sha256"] == sha256(file)
    assert sent(stub) == SIZE - CREATION - 2_000_000


def test_a_server_that_was_killed_goes_on_as_well(hive, program, recording, tmp_path):
    first = hive(store=str(tmp_path))
    file = recording(SIZE)
    running = begin(program, first, file, at=AT, retries=0)
    first.stop()
    assert running.wait().code == 4
    second = hive(store=str(tmp_path), port=first.port)
    result = go_on(program, second, file, "resume --all")
    assert result.code == 0, result
    assert is_delivered(second, file)
    assert sent(second) == SIZE - AT


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize("way", WAYS)
def test_an_upload_that_the_server_has_given_up_begins_anew(hive, program, recording, way, status):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    stub.set_faults(f"head/gone={status}@1")
    result = go_on(program, stub, file, way)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE


def test_an_upload_that_has_expired_begins_anew(hive, program, recording):
    stub = hive(tus_extensions=("creation", "creation-with-upload", "expiration"), tus_expires_seconds=1.0)
    file = recording(SIZE)
    stop(program, stub, file, at=AT)
    assert "the server keeps it until" in program.run("list").out
    time.sleep(1.2)
    assert go_on(program, stub, file, "resume").code == 0
    assert is_delivered(stub, file)


def test_a_server_that_has_lost_some_bytes_gets_them_again(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    stub.set_faults("offset-back=1000000@1")
    assert go_on(program, stub, file, "resume").code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE - AT + 1_000_000


def test_an_upload_is_given_up_for_a_form_only_if_the_user_says_so(hive, program, recording):
    """A 404 of whoever answers in the place of a tus server proves nothing."""
    first, file = hive(), recording(SIZE)
    stop(program, first, file, at=AT)
    first.stop()
    location = only_record(program).document["upload_url"]
    second = hive(tus=False, port=first.port)
    result = program.send(second, file, "--threshold", "1", "--protocol", "auto", "--retries", "1")
    assert result.code == 7 and "did not come from the server" in result.err, result
    assert only_record(program).document["upload_url"] == location
    result = program.send(second, file, "--protocol", "multipart")
    assert result.code == 0, result
    assert is_delivered(second, file) and second.recordings[0].via == "multipart"


def test_an_interrupted_multipart_upload_can_be_resumed_from_its_start(hive, program, recording):
    stub, file = hive("stall-after=1000000"), recording(SIZE)
    running = program.start_sending(stub, file)
    wait_until(lambda: stub.requests and stub.requests[0].body_bytes == 1_000_000)
    running.signal(signal.SIGTERM)
    assert running.wait().code == 143
    stub.set_faults()
    assert go_on(program, stub, file, "resume --all").code == 0
    assert is_delivered(stub, file) and stub.recordings[0].via == "multipart"


def test_progress_counts_from_where_the_server_stands(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    stub.set_faults("slow-read=2e6")
    result = go_on(program, stub, file, "resume", "--json")
    counts = [event["bytes"] for event in result.events if event["event"] == "progress"]
    assert counts and counts == sorted(counts) and counts[0] >= AT
    assert result.outcome["bytes"] == result.outcome["total"] == SIZE


# The file.


def keep_times(file, change):
    status = os.stat(file)
    change()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def write(file, position, data=b"changed"):
    with open(file, "r+b") as stream:
        stream.seek(position)
        stream.write(data)


CHANGES = {
    "longer": (lambda file: write(file, SIZE, b"x"), [str(SIZE), str(SIZE + 1)]),
    "shorter": (lambda file: os.truncate(file, SIZE - 1), [str(SIZE), str(SIZE - 1)]),
    "its beginning": (lambda file: keep_times(file, lambda: write(file, 0)), ["bytes have changed"]),
    "its end": (lambda file: keep_times(file, lambda: write(file, SIZE - 7)), ["bytes have changed"]),
    "written to": (lambda file: os.utime(file, (1, 1)), ["modification time"]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_recording_that_has_changed_is_not_mixed_with_what_it_was(hive, program, recording, change, way):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    change, words = CHANGES[change]
    change(file)
    result = go_on(program, stub, file, way)
    assert result.code == 3, result
    for word in [*words, "gig.mp4", "gighive-upload cancel " + only_record(program).id]:
        assert word in result.err, result
    assert stub.requests == []
    # The way out that the message names:
    assert program.run("cancel", only_record(program).id, env=PASSWORD).code == 0
    assert program.send(stub, *TUS, file).code == 0
    assert is_delivered(stub, file)


def test_a_change_that_nothing_shows_is_found_by_the_digest(hive, program, recording):
    """In the middle, with the times put back. What was sent before is part of the digest."""
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    keep_times(file, lambda: write(file, 500_000))
    result = go_on(program, stub, file, "resume")
    assert result.code == 10, result
    assert result.out == ""
    assert only_record(program).phase == "failed"


def test_a_recording_that_only_begins_like_another_one_is_another_one(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    other = recording(name="other.mp4", content=file.read_bytes()[:-1] + b"x")
    assert program.send(stub, *TUS, other).code == 0
    assert is_delivered(stub, other)
    assert len(records(program)) == 2


@pytest.mark.parametrize("size", [1, 1000, 100_000, 200_000])
def test_short_recordings_have_an_identity_too(hive, program, recording, size):
    stub, file = hive("finalize/status=503"), recording(size)
    assert program.send(stub, *TUS, file).code == 9
    keep_times(file, lambda: write(file, 0, b"\0"))
    stub.set_faults()
    assert go_on(program, stub, file, "resume").code == 3


def test_a_recording_goes_on_under_a_new_name(hive, program, recording, tmp_path):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    renamed = tmp_path / "renamed.mp4"
    file.rename(renamed)
    assert go_on(program, stub, renamed, "send").code == 0
    assert is_delivered(stub, renamed)
    assert sent(stub) == SIZE - AT
    assert only_record(program).source == os.fsencode(renamed)


def test_a_recording_that_was_moved_away_is_missing(hive, program, recording, tmp_path):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    file.rename(tmp_path / "renamed.mp4")
    result = go_on(program, stub, file, "resume")
    assert result.code == 3 and "gig.mp4" in result.err, result
    assert only_record(program).phase == "pending"


def test_a_recording_on_a_stick_that_was_put_back_goes_on(hive, program, recording, tmp_path):
    """The same path, size, times and content; another inode."""
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    copy = recording(name="copy.mp4", content=file.read_bytes())
    status = os.stat(file)
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(copy, file)
    assert go_on(program, stub, file, "resume").code == 0
    assert sent(stub) == SIZE - AT


def test_the_path_is_kept_as_a_whole(hive, program, recording, tmp_path):
    stub = hive()
    recording(SIZE)
    stop(program, stub, "gig.mp4", at=AT, cwd=tmp_path)
    assert program.run("resume", "--all", env=PASSWORD, cwd="/").code == 0
    assert is_delivered(stub, tmp_path / "gig.mp4")


NAMES = ["a b=c.mp4", "100%.mp4", "%2F%00.mp4", "line\nend\r.mp4", b"caf\xe9\xff.mp4", "ü🎸.mp4", "'\"\\.mp4", "-x.mp4", "..mp4"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_file_of_any_name_can_be_resumed(hive, program, recording, name):
    stub, file = hive(), recording(SIZE, name)
    stop(program, stub, file, at=AT)
    assert go_on(program, stub, file, "resume").code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE - AT
    assert only_record(program).source == os.fsencode(file)


# Two processes.


@pytest.mark.parametrize("way", [*WAYS, "cancel"])
def test_two_processes_never_work_on_one_upload(hive, program, recording, way):
    stub, file = hive(), recording(SIZE)
    running = begin(program, stub, file, at=AT)
    upload = only_record(program).id
    if way == "cancel":
        result = program.run("cancel", upload, env=PASSWORD)
    else:
        result = go_on(program, stub, file, way)
    assert result.code == 11, result
    assert upload in result.err
    assert running.process.poll() is None
    running.end()
    assert go_on(program, stub, file, "send").code == 0
    assert is_delivered(stub, file)


def test_many_processes_at_once_make_one_upload(hive, program, recording):
    stub, file = hive("slow-read=4e6"), recording(SIZE)
    runs = [program.start_sending(stub, *TUS, file) for _ in range(6)]
    codes = sorted(run.wait().code for run in runs)
    assert codes == [0] + [11] * 5
    assert is_delivered(stub, file)
    assert len(of_kind(stub, "create")) == 1 and len(records(program)) == 1


def test_other_recordings_are_not_held_up(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    running = begin(program, stub, file, at=AT)
    assert program.send(stub, *TUS, recording(name="other.mp4")).code == 0
    running.end()


def test_what_another_process_has_delivered_meanwhile_is_not_sent_again(hive, program, recording):
    """Two `resume --all`, as from cron: the one comes to an upload that the other has just delivered."""
    stub, first, second = hive(), recording(SIZE, "a.mp4"), recording(SIZE, "b.mp4")
    stop(program, stub, first, at=AT)
    time.sleep(1.1)  # records are in the order of their seconds
    stop(program, stub, second, at=AT)
    stub.set_faults("PATCH/slow-read=1.5e6@1")
    slow = program.start("resume", "--all", env=PASSWORD)
    wait_until(lambda: of_kind(stub, "patch"))
    assert program.run("resume", "--all", env=PASSWORD).code == 11
    assert slow.wait().code == 0
    assert sent(stub) == 2 * (SIZE - AT)
    assert {recording.sha256 for recording in stub.recordings} == {sha256(first), sha256(second)}


# The options.


def test_the_options_are_those_that_it_was_begun_with(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    given = ["--label", "🎸 a=b %41", "--org-name", "Die Löwen", "--event-type", "wedding", "--event-date", "2026-02-28"]
    stop(program, stub, file, *given, at=AT)
    assert go_on(program, stub, file, "resume").code == 0
    (item,) = stub.recordings
    assert (item.label, item.org_name, item.event_type, item.event_date) == (given[1], given[3], given[5], given[7])


def test_the_event_stays_that_of_the_day_on_which_it_was_begun(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT, env={"TZ": "XST+12"})
    day = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=-12))).date().isoformat()
    assert go_on(program, stub, file, "resume", env={**PASSWORD, "TZ": "XST-14"}).code == 0
    assert stub.recordings[0].event_date == day


def test_options_that_are_given_now_count(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, "--label", "wrong", at=AT)
    assert go_on(program, stub, file, "resume", "--label", "right", "--event-date", "2026-02-28").code == 0
    assert (stub.recordings[0].label, stub.recordings[0].event_date) == ("right", "2026-02-28")


def test_the_way_of_requests_is_kept(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, "--method-override", "--chunk-size", "2M", at=2_500_000)
    stub.set_faults("deny-patch")
    assert go_on(program, stub, file, "resume").code == 0
    assert [request.content_length for request in of_kind(stub, "patch")] == [2_000_000, SIZE - 4_500_000]


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


def test_a_password_file_is_found_again_and_read_anew(hive, program, recording, tmp_path):
    stub, file = hive(), recording(SIZE)
    private(tmp_path / "password", "secret")
    running = program.start(
        "send", "--server", stub.url, "--label", "L", "--user", "uploader", "--password-file", "password", *TUS, file)
    wait_until(lambda: stub.uploads)
    running.end()
    result = program.run("resume", "--all", cwd="/")
    assert result.code == 0, result
    assert is_delivered(stub, file)


CREDENTIALS = {
    "another user": ["--user", "uploader", "--password-file", "good"],
    "netrc": ["--netrc-file", "netrc"],
    "bearer": ["--bearer-file", "good"],
    "guest": ["--upload-token-file", "good"],
}


@pytest.mark.parametrize("command", ["resume", "cancel"])
@pytest.mark.parametrize("kind", CREDENTIALS)
def test_other_credentials_replace_those_of_before(hive, program, recording, tmp_path, kind, command):
    stub, file = hive(), recording(SIZE)
    private(tmp_path / "bad", "wrong")
    private(tmp_path / "good", "secret")
    private(tmp_path / "netrc", "machine 127.0.0.1 login uploader password secret")
    stop(program, stub, file, at=AT)
    record = only_record(program)
    note = record.document["note"].replace("user=uploader", f"user=somebody password-file={tmp_path}/bad")
    record.write(note=note)
    result = program.run(command, record.id, *CREDENTIALS[kind])
    if kind == "guest" and command == "resume":
        assert result.code == 6 and "tos_accepted" in result.err, result
    elif kind in ("bearer", "guest"):
        # The stub takes neither; what counts is that they were sent.
        assert result.code == 6, result
        head = stub.requests[0].head.decode()
        assert "Bearer secret" in head or "X-Upload-Token: secret" in head
        assert "Basic" not in head
    else:
        assert result.code == 0, result


# Several.


@pytest.fixture
def three(hive, program, recording):
    """Three interrupted uploads to one stub."""

    def three(*options_of_second):
        stub = hive()
        files = [recording(SIZE, f"{name}.mp4") for name in "abc"]
        for index, file in enumerate(files):
            stop(program, stub, file, *(options_of_second if index == 1 else ()), at=AT)
        return stub, files

    return three


def test_all_interrupted_uploads_go_on_with_one_command(program, three):
    stub, files = three()
    result = program.run("resume", "--all", env=PASSWORD)
    assert result.code == 0, result
    assert "3 of 3 delivered." in result.out
    assert {recording.sha256 for recording in stub.recordings} == set(map(sha256, files))
    assert program.run("resume", "--all", env=PASSWORD).out == "nothing to resume.\n"


def test_one_that_cannot_go_on_does_not_stop_the_others(program, three):
    stub, files = three()
    files[1].unlink()
    result = program.run("resume", "--all", "--json", env=PASSWORD)
    assert result.code == 3, result
    outcomes = {event["file"]: event["exit_code"] for event in result.events if "exit_code" in event}
    assert outcomes == {str(files[0]): 0, str(files[1]): 3, str(files[2]): 0}


def test_one_that_lacks_its_password_does_not_stop_the_others(hive, program, recording, tmp_path):
    stub = hive()
    private(tmp_path / "password", "secret")
    files = [recording(SIZE, f"{name}.mp4") for name in "abc"]
    for index, file in enumerate(files):
        stop(program, stub, file, *([] if index == 1 else ["--password-file", "password"]), at=AT)
    result = program.run("resume", "--all", "--json")
    assert result.code == 2, result
    outcomes = {event["file"]: event["exit_code"] for event in result.events if "exit_code" in event}
    assert outcomes == {str(files[0]): 0, str(files[1]): 2, str(files[2]): 0}


def test_uploads_can_be_chosen_by_the_beginnings_of_their_ids(program, three):
    stub, _ = three()
    chosen = records(program)[1]
    result = program.run("resume", chosen.id[:7], env=PASSWORD)
    assert result.code == 0, result
    assert [record.phase for record in records(program)].count("delivered") == 1
    assert len(stub.recordings) == 1


def test_a_beginning_that_several_have_is_a_usage_error(program, three):
    stub, _ = three()
    for index, record in enumerate(records(program)):
        record.file.unlink()
        record.write(id=f"abcdef0{index}")
    for record in records(program):
        assert record.id.startswith("abcdef")
    result = program.run("resume", "abcdef", env=PASSWORD)
    assert result.code == 2 and "abcdef" in result.err, result
    assert stub.requests == []


def test_a_signal_ends_all_of_them(program, three):
    stub, _ = three()
    stub.set_faults("PATCH/stall-after=1000")
    running = program.start("resume", "--all", env=PASSWORD)
    wait_until(lambda: of_kind(stub, "patch") and of_kind(stub, "patch")[0].body_bytes == 1000)
    running.signal(signal.SIGTERM)
    assert running.wait(10).code == 143
    assert len(of_kind(stub, "patch")) == 1
    assert [record.phase for record in records(program)] == ["pending"] * 3


def test_what_is_delivered_is_not_sent_again(hive, program, recording):
    stub, file = hive(), recording()
    assert program.send(stub, *TUS, file).code == 0
    stub._requests.clear()
    result = go_on(program, stub, file, "resume")
    assert result.code == 0 and "already delivered" in result.out, result
    assert stub.requests == []


def test_memory_does_not_add_up(program, three):
    three()
    result = program.run("resume", "--all", env=PASSWORD, measure=True)
    assert result.code == 0, result
    if program.keeps_the_promise:
        assert result.peak_kib <= 6_000_000 // 1024, result.peak_kib


# What can be typed wrong.


WRONG = ["../x", "/etc/passwd", "", ".", "..", "*", "zzzzzzzz", "0000000000", "ABCDEF01", "\x1b[31m", "a\nb", b"\xff", "%41"]


@pytest.mark.parametrize("command", ["resume", "cancel", "delete", "list --forget"])
@pytest.mark.parametrize("word", WRONG, ids=ascii)
def test_an_id_that_nobody_has_is_a_usage_error(hive, program, recording, command, word):
    stub, file = hive(), recording(SIZE)
    stop(program, stub, file, at=AT)
    before = sorted(path.name for path in program.state.iterdir())
    result = program.run(*command.split(), word, env=PASSWORD)
    assert result.code == 2, result
    assert result.out == "" and len(result.err.splitlines()) == 1 and "\x1b" not in result.err
    assert stub.requests == []
    assert sorted(path.name for path in program.state.iterdir()) == before


@pytest.mark.parametrize("arguments", [["resume"], ["resume", "--all", "abc"], ["cancel"], ["delete"], ["list", "abc"]])
def test_a_command_without_what_it_is_about_is_a_usage_error(run, arguments):
    result = run(*arguments)
    assert result.code == 2 and len(result.err.splitlines()) == 1, result


@pytest.mark.parametrize(
    "arguments",
    [["resume", "--all", "--server", "http://x"], ["resume", "--all", "--tus-url", "http://x"],
     ["resume", "--all", "--multipart-url", "http://x"], ["resume", "--all", "--forget"], ["resume", "--all", "-j", "2"],
     ["cancel", "x", "--label", "L"], ["cancel", "x", "--all"], ["delete", "x", "--all"], ["list", "--all"],
     ["list", "--user", "x"], ["send", "x", "--all"], ["send", "x", "--forget"]],
    ids=" ".join,
)
def test_an_option_of_another_command_is_a_usage_error(run, arguments):
    result = run(*arguments)
    assert result.code == 2 and "has no option" in result.err, result
