"""Directories as arguments: what is sent, in which order, and what is skipped."""

import os
import socket

import pytest


@pytest.fixture
def rec(tmp_path):
    """Makes a directory with files of these names; names with a slash have directories of their own."""

    def rec(*names, at="rec"):
        root = tmp_path / at
        for name in names:
            path = os.path.join(os.fsencode(root), os.fsencode(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(os.urandom(1000))
        return root

    return rec


def sent(stub) -> list[bytes]:
    """The names of the recordings that the stub got, in order."""
    return [request.file.raw_headers.partition(b'filename="')[2].partition(b'"')[0] for request in stub.requests if request.file]


def test_a_directory_is_sent_in_the_order_of_its_names(hive, send, rec):
    stub = hive()
    rec("b.wav", "a/2.mp4", "a/10.mp4", "a.wav", "C.WAV", "ä.flac", "a/z/y/x.mov", b"caf\xe9.mp3")
    send(stub, "-r", "rec", "--progress=none").check()
    expected = [b"C.WAV", b"10.mp4", b"2.mp4", b"x.mov", b"a.wav", b"b.wav", b"caf\xe9.mp3", "ä.flac".encode()]
    assert sent(stub) == expected


def test_without_recursive_a_directory_is_an_error_and_the_others_are_sent(hive, send, rec, recording):
    stub = hive()
    rec("a.wav")
    result = send(stub, "rec", recording())
    assert result.code == 3 and "rec is a directory, not a regular file. Use -r" in result.err, result
    assert sent(stub) == [b"gig.mp4"]


def test_links_and_special_files_are_never_sent(hive, send, rec, recording):
    stub = hive()
    root = rec("a.wav")
    outside = rec("secret.wav", at="outside")
    (root / "link.wav").symlink_to(recording())
    (root / "links").symlink_to(outside)
    (root / "up").symlink_to("..")
    os.mkfifo(root / "fifo.wav")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket.wav"))
        send(stub, "-r", "rec", "--match", "*").check()
    assert sent(stub) == [b"a.wav"]


@pytest.mark.parametrize("ending", [".part", ".aria2"])
def test_unfinished_downloads_are_left_out(send, hive, rec, ending):
    stub = hive()
    mark = rec("a.wav", "b.wav") / ("a.wav" + ending)
    mark.touch()
    result = send(stub, "-r", "rec", "-v").check()
    assert sent(stub) == [b"b.wav"] and f"a.wav: left out, because it is unfinished: {mark.name} is beside it." in result.err
    mark.unlink()
    send(stub, "-r", "rec").check()
    assert sent(stub) == [b"b.wav", b"a.wav"]


def test_gighive_gets_recordings_and_others_everything(run, send, hive, rec):
    stub = hive()
    rec("a.wav", "a.txt", "b.MKV", "no-extension")
    send(stub, "-r", "rec").check()
    assert sent(stub) == [b"a.wav", b"b.MKV"]
    other = hive()
    run("send", "-r", "rec", "--multipart-url", other.url + "/upload").check()
    assert sent(other) == [b"a.txt", b"a.wav", b"b.MKV", b"no-extension"]


def test_match_selects_by_name(send, hive, rec):
    stub = hive()
    rec("set1.wav", "set2.WAV", "Set10.flac", "sub/set3.wav", "other.wav", "notes.txt")
    send(stub, "-r", "--match", "set?.wav", "--match", "*.FLAC", "rec").check()
    assert sent(stub) == [b"Set10.flac", b"set1.wav", b"set2.WAV", b"set3.wav"]


def test_exclude_and_min_size_leave_out(send, hive, rec):
    stub = hive()
    (rec("a.wav", "b-raw.wav", "c.wav", "raw/d.wav") / "c.wav").write_bytes(b"short")
    send(stub, "-r", "--exclude", "*-RAW.*", "--exclude", "x*", "--min-size", "1k", "rec").check()
    assert sent(stub) == [b"a.wav", b"d.wav"]
    assert "--exclude needs --recursive" in send(stub, "--exclude", "*", "rec/a.wav").err
    assert "--min-size needs --recursive" in send(stub, "--min-size", "5", "rec/a.wav").err


def test_a_malformed_pattern_is_a_usage_error(send, hive, rec):
    stub = hive()
    rec("a.wav")
    result = send(stub, "-r", "--match", "[a", "rec")
    assert result.code == 2 and "without a \"]\"" in result.err, result
    assert send(stub, "--match", "*", "rec").code == 2
    assert stub.requests == []


def test_a_directory_without_a_match_is_named_and_the_others_are_sent(send, hive, rec, recording):
    stub = hive()
    rec("a.txt")
    result = send(stub, "-r", "--match", "*.wav", "--match", "*.mov", "rec", recording())
    assert result.code == 0, result
    assert "rec has no file that matches *.wav or *.mov." in result.out
    assert sent(stub) == [b"gig.mp4"]
    assert "rec has no recording" in send(stub, "-r", "rec").check().out
    assert send(stub, "-r", "rec", "--quiet").check().out == ""


def test_an_empty_file_of_a_directory_is_left_out(send, hive, rec):
    stub = hive()
    rec("a.wav")
    (rec() / "empty.wav").write_bytes(b"")
    first = send(stub, "-r", "rec").check()
    assert "rec/empty.wav is empty" in first.out and "It is left out.\n" in first.out and "1 of 1 delivered." in first.out
    assert sent(stub) == [b"a.wav"]
    events = send(stub, "-r", "rec", "--json").check().events
    assert [event["event"] for event in events if event["file"].endswith("/empty.wav")][-1] == "left_out"
    assert send(stub, "rec/empty.wav").code == 3
    result = send(stub, "-r", "rec", "--quiet").check()
    assert (result.out, result.err) == ("", "")


def test_a_directory_that_cannot_be_read_is_an_error_and_the_others_are_sent(send, hive, rec):
    stub = hive()
    root = rec("a.wav", "shut/b.wav", "z.wav")
    deep = root / "deep"
    for _ in range(70):
        deep.mkdir()
        deep = deep / "d"
    result = send(stub, "-r", "--json", "rec")
    assert result.code == 3, result
    failures = [event for event in result.events if event["event"] == "failed"]
    assert len(failures) == 1 and "nested more than 64 directories deep" in failures[0]["message"]
    assert failures[0]["file"].startswith(str(root / "deep"))
    assert sent(stub) == [b"a.wav", b"b.wav", b"z.wav"]


def test_delivered_files_are_counted_and_not_listed(send, hive, rec):
    stub = hive()
    rec(*(f"{number}.wav" for number in range(5)))
    send(stub, "-r", "rec").check()
    rec("new.wav")
    again = send(stub, "-r", "rec", "--progress=none").check()
    assert again.out.count("\n  ") > 0 and "skipped" not in again.out, again
    assert again.out.endswith("1 of 6 delivered, 5 already delivered.\n")
    verbose = send(stub, "-r", "rec", "-v").check()
    assert verbose.out.count("skipped; already delivered") == 6
    events = send(stub, "-r", "rec", "--json").check().events
    assert sorted(event["event"] for event in events) == ["skipped"] * 6 + ["start"] * 6
    named = send(stub, "rec/new.wav").check()
    assert "skipped; already delivered" in named.out


@pytest.mark.long
def test_many_files_take_little_memory(hive, run, rec, program):
    stub = hive(user=None)
    root = rec()
    root.mkdir()
    for number in range(20_000):
        (root / f"a-name-that-is-not-short-at-all-{number:05}.txt").write_bytes(b"xx")
    (root / "last.wav").write_bytes(b"x")
    url = stub.url + "/upload"
    few = run("send", "-r", "rec", "--match", "*.wav", "--multipart-url", url, "--digest", "-v", measure=True)
    many = run("send", "-r", "rec", "--multipart-url", url, "--digest", "--quiet", "--set", "max-size=1", measure=True)
    assert few.code == 0 and many.code == 3
    assert many.err.count("a-name-that-is-not-short-at-all-") == 20_000
    if program.keeps_the_promise:
        assert many.peak_kib < few.peak_kib + 2048
