"""What is said about each recording: templates, dates, and files beside recordings."""

import calendar
import datetime
import json
import os

import pytest
from program import strace
from records import only_record
from test_batches import rec, sent  # noqa: F401
from uploads import PASSWORD, of_kind, stop

EVENING = calendar.timegm((2027, 1, 15, 22, 30, 0))
NIGHT = calendar.timegm((2027, 1, 16, 3, 5, 0))
UTC = {"env": {"TZ": "UTC0"}}


def at(path, seconds):
    os.utime(path, (seconds, seconds))
    return path


def fields(request) -> dict:
    return {part.name: bytes(part.value).decode() for part in request.parts if part.name != "file"}


def forms(stub) -> list[dict]:
    return [fields(request) for request in stub.requests if request.file]


def finalized(stub) -> dict:
    (request,) = of_kind(stub, "finalize")
    return json.loads(request.body)


# MARK: Templates


def test_a_template_says_what_is_known_of_each_file(hive, run, rec):
    stub = hive(user=None)
    root = rec("b.final.wav", "night/a.wav")
    at(root / "b.final.wav", EVENING), at(root / "night" / "a.wav", NIGHT)
    options = ["--label", "{stem} of {date}", "--field", "notes={name} {{{dir}}} {time}", "--field", "host={host}"]
    run("send", "-r", "rec", "--server", stub.url, *options, **UTC).check()
    first, second = forms(stub)
    assert first["label"] == "b.final of 2027-01-15" and first["notes"] == "b.final.wav {rec} 22-30"
    assert second["label"] == "a of 2027-01-16" and second["notes"] == "a.wav {night} 03-05"
    assert first["host"] == os.uname().nodename


def test_the_name_on_the_server_can_be_a_template(hive, run, rec):
    stub = hive(user=None)
    rec("a.wav", b"caf\xe9.wav")
    url = stub.url + "/upload"
    run("send", "-r", "rec", "--multipart-url", url, "--file-name", "{dir}-{name}", "--field", "l={stem}").check()
    assert sent(stub) == [b"rec-a.wav", b"rec-caf\xe9.wav"]
    assert forms(stub)[1]["l"] == "caf\N{REPLACEMENT CHARACTER}"
    assert run("send", "-r", "rec", "--multipart-url", url, "--file-name", "{{x}}").code == 2


def test_the_name_of_the_directory_is_found_whatever_the_path(hive, run, rec):
    """Also where the path does not have it."""
    stub, root = hive(user=None), rec("a.wav", "night/b.wav")
    label = ["--server", stub.url, "--label", "{dir}", "--again"]
    run("send", "-r", ".", *label, cwd=root).check()
    run("send", "b.wav", "../a.wav", ".././night/../a.wav", *label, cwd=root / "night").check()
    assert [form["label"] for form in forms(stub)] == ["rec", "night", "night", "rec", "rec"]


def test_a_malformed_template_is_a_usage_error(hive, send, recording):
    stub = hive()
    result = send(stub, recording(), "--label", "{stme}")
    words = "--label: unknown placeholder {stme}; use {name}, {stem}, {path}, {dir}, {date}, {time}, {mtime:rfc3339}, {host}"
    assert result.code == 2 and words in result.err and stub.requests == [], result


def test_resuming_sends_the_same_values(hive, program, recording):
    stub = hive(keep_body=1 << 16)
    file = at(recording(6_000_000), EVENING)
    # A change of the name or the time afterwards makes no difference.
    options = ["--label", "{stem} {{x}} {date}", "--field", "tag={name}", "--set", "day-starts=06:00"]
    stop(program, stub, file, *options, at=3_000_000)
    note = only_record(program).document["note"]
    assert "day-starts" not in note and "%7B%7Bx%7D%7D" in note
    program.run("resume", "--all", env=PASSWORD).check()
    form = finalized(stub)
    assert form["label"] == "gig {x} 2027-01-15" and form["tag"] == "gig.mp4"


@pytest.mark.native
def test_a_file_that_cannot_be_examined_for_a_moment_is_not_sent_without_its_description(hive, program, rec):
    stub, root = hive(user=None), rec("a.wav", "b.wav")
    (root / "a.wav.upload").write_text("label = Encore\n")
    arguments = ["send", "-r", str(root), "--server", stub.url, "--label", "{stem}"]
    fault = strace("-P", root / "a.wav", "-e", "inject=stat,newfstatat,statx:error=EIO:when=1")
    ended = program.run(*arguments, under=fault)
    assert ended.code == 3 and "a.wav cannot be read: Input/output error" in ended.err, ended
    assert [fields["label"] for fields in forms(stub)] == ["b"]
    program.run(*arguments).check()
    assert [fields["label"] for fields in forms(stub)] == ["b", "Encore"]


# MARK: Dates


def test_files_of_directories_get_the_date_of_their_modification(hive, run, rec):
    stub = hive(user=None)
    root = rec("a.wav", "b.wav")
    at(root / "a.wav", EVENING), at(root / "b.wav", NIGHT)
    base = ["send", "-r", "rec", "--server", stub.url, "--label", "x", "--again"]
    run(*base, **UTC).check()
    run(*base, "--set", "day-starts=06:00", **UTC).check()
    run(*base, "--event-date", "2026-01-02", **UTC).check()
    assert [form["event_date"] for form in forms(stub)] == [
        "2027-01-15", "2027-01-16", "2027-01-15", "2027-01-15", "2026-01-02", "2026-01-02"]


def test_the_default_date_does_not_make_another_upload_of_it(hive, run, rec):
    stub = hive(user=None)
    at(rec("a.wav") / "a.wav", NIGHT)
    base = ["send", "-r", "rec", "--server", stub.url, "--label", "x"]
    run(*base, **UTC).check()
    for more in (["--set", "day-starts=06:00"], ["--event-date", "mtime"], ["--event-date", "today"]):
        run(*base, *more, **UTC).check()
        assert len(forms(stub)) == 1
    run(*base, "--event-date", "2026-01-02", **UTC).check()
    assert len(forms(stub)) == 2


@pytest.mark.parametrize("time, said", [
    (86400, "was modified on 1970-01-02, when the clock was not set"),
    (calendar.timegm((2099, 6, 1, 0, 0, 0)), "was modified on 2099-06-01, more than a year from now: the clock of this machine says 20")])
def test_a_date_from_a_wrong_clock_is_refused(hive, run, rec, time, said):
    stub = hive(user=None)
    root = rec("old.wav", "new.wav")
    at(root / "old.wav", time), at(root / "new.wav", EVENING)
    base = ["send", "--server", stub.url, "--label", "x", "--event-date", "mtime"]
    result = run(*base, "rec/old.wav", "rec/new.wav", **UTC)
    assert result.code == 2 and "old.wav: " + said in result.err, result
    assert "give the date with --event-date YYYY-MM-DD" in result.err.replace("Give", "give")
    assert sent(stub) == [b"new.wav"]
    run(*base, "-r", "rec", "--event-date", "1970-01-02", **UTC).check()
    run("send", "--multipart-url", stub.url + "/upload", "-r", "rec").check()


def test_a_camera_without_a_clock_gets_todays_date(hive, run, rec):
    stub = hive(user=None)
    at(rec("a.wav") / "a.wav", calendar.timegm((1980, 1, 1, 0, 0, 0)))
    days = [datetime.datetime.now(datetime.timezone.utc).date()]
    run("send", "-r", "rec", "--server", stub.url, "--label", "x", **UTC).check()
    days.append(datetime.datetime.now(datetime.timezone.utc).date())
    assert stub.recordings[0].event_date in map(str, days)


# MARK: Files beside recordings


def test_a_sidecar_file_describes_one_of_many_recordings(hive, run, rec):
    stub = hive(user=None)
    root = rec(*(f"{number:02}.wav" for number in range(40)))
    (root / "37.wav.upload").write_text("label = Encore")
    run("send", "-r", "rec", "--server", stub.url, "--label", "x").check()
    # One that comes later makes another event of a recording that was delivered.
    (root / "38.wav.upload").write_text("event-date = 2026-05-01\nlabel = Again")
    run("send", "-r", "rec", "--server", stub.url, "--label", "x").check()
    assert [form["label"] for form in forms(stub)] == ["x"] * 37 + ["Encore", "x", "x", "Again"]


def test_a_sidecar_file_describes_its_recording(hive, send, rec):
    stub = hive()
    root = rec("a.wav", "b.wav")
    sidecar = "# desk\nlabel = Encore: {stem}\r\nevent-date=2026-05-01\nfield = stage=main\nfield = desk=1\nevent-type = wedding\n"
    (root / "a.wav.upload").write_text(sidecar)
    send(stub, "-r", "rec", "--field", "stage=none", "--event-date", "2026-01-01").check()
    first, second = forms(stub)
    assert (first["label"], first["event_date"], first["event_type"]) == ("Encore: a", "2026-05-01", "wedding")
    assert (first["stage"], first["desk"]) == ("main", "1")
    assert (second["label"], second["event_date"], second["stage"]) == ("First set", "2026-01-01", "none")


def test_the_label_can_be_in_the_sidecar_file_alone(hive, run, rec):
    stub = hive(user=None)
    root = rec("a.wav", "b.wav")
    (root / "a.wav.upload").write_text("label = Encore")
    result = run("send", "rec/a.wav", "rec/b.wav", "--server", stub.url)
    assert result.code == 2 and "b.wav: the recording needs a label" in result.err, result
    assert [form["label"] for form in forms(stub)] == ["Encore"]
    assert run("send", "rec/b.wav", "--server", stub.url).code == 2


@pytest.mark.parametrize("content, part", [
    ("\nuser = x", "a.wav.upload:2: user is not allowed here"), ("[x]\nlabel = b", "cannot have sections"),
    ("lable = x", "a.wav.upload:1: unknown option \"lable\". Did you mean label?"),
    ("label = a\nlabel = b", "a.wav.upload:2: label is given twice"), ("label = {x}", "a.wav.upload:1: label: unknown placeholder {x}"),
    ("event-date = 31.1.2026", "is not a date"), ("#" * 20_000, "longer than 16384"),
])
def test_a_mistake_in_a_sidecar_file_stops_only_its_recording(hive, send, rec, content, part):
    stub = hive()
    root = rec("a.wav", "b.wav")
    (root / "a.wav.upload").write_text(content)
    result = send(stub, "-r", "rec")
    assert result.code == 2 and part in result.err, result
    assert sent(stub) == [b"b.wav"]


def test_only_a_regular_file_is_read_as_a_sidecar_file(hive, send, rec, tmp_path):
    stub = hive()
    root = rec("a.wav", "b.wav", "c.wav")
    (tmp_path / "secret").write_text("label = secret")
    (root / "a.wav.upload").symlink_to(tmp_path / "secret")
    os.mkfifo(root / "b.wav.upload")
    result = send(stub, "-r", "rec")
    assert result.code == 2 and "a.wav.upload is a link" in result.err and "b.wav.upload is not a regular file" in result.err
    assert sent(stub) == [b"c.wav"]


def test_the_sidecar_file_of_a_recording_is_kept_for_resume(hive, program, recording):
    stub = hive(keep_body=1 << 16)
    file = recording(6_000_000)
    (file.parent / "gig.mp4.upload").write_text("label = Encore {{1}}\nfield = stage=main")
    stop(program, stub, file, at=3_000_000)
    (file.parent / "gig.mp4.upload").unlink()
    program.run("resume", "--all", env=PASSWORD).check()
    form = finalized(stub)
    assert form["label"] == "Encore {1}" and form["stage"] == "main"
