"""`--webdav`: a hidden name, a MOVE, and nothing replaced. What a server's responses mean: Transcripts/webdav."""

import signal

import pytest
from program import wait_until
from records import only_record


@pytest.fixture
def send(program, dav):
    """`send` to a directory of the server."""
    return lambda *arguments, url="/dav/", **options: program.run("send", "--webdav", dav.url + url, *arguments, **options)


def hidden(dav) -> list[str]:
    return [path for path in dav.files if path.endswith(".gighive-part")]


def kill(program, dav, file, method, when):
    """Kills the program while the server holds a request."""
    dav.hold = (method, when)
    running = program.start("send", file, "--webdav", dav.url + "/dav/")
    wait_until(dav.held.is_set, what="a held request")
    running.signal(signal.SIGKILL)
    running.wait(10)
    dav.release()
    dav.requests.clear()


def test_a_recording_arrives_under_its_name(send, dav, recording):
    file = recording(100_000, name="a b+ü%.wav")
    assert "a b+ü%.wav: delivered" in send(file).check().out
    assert dav.files == {"/dav/a%20b%2B%C3%BC%25.wav": file.read_bytes()}
    assert dav.methods() == ["HEAD", "PUT", "MOVE", "HEAD"]
    # It is known, and not sent again.
    assert "already delivered" in send(file).check().out and len(dav.requests) == 4


def test_a_tree_of_directories_is_made(send, dav, recording, tmp_path):
    (tmp_path / "2026" / "may {1}").mkdir(parents=True)
    for directory in ("2026", "2026/may {1}"):
        recording(1000, name="a.wav", directory=tmp_path / directory)
    send("-r", tmp_path / "2026", "--match", "*.wav", url="/dav/new/").check()
    assert sorted(dav.files) == ["/dav/new/a.wav", "/dav/new/may%20%7B1%7D/a.wav"]


@pytest.mark.parametrize("url, options, message", [
    ("/dav/?x=1", [], "a WebDAV URL has no query"),
    ("/dav/a", ["more.wav"], "several files need a URL that ends with a slash"),
    ("/dav/", ["--put-url", "http://h/"], "give one destination"),
])
def test_a_contradictory_command_line_is_a_usage_error(send, recording, url, options, message):
    result = send(recording(1000), *options, url=url)
    assert result.code == 2 and message in result.err, result


def test_without_a_record_nothing_is_sent(send, dav, recording, tmp_path):
    """Nobody would know the temporary name."""
    (tmp_path / "file").write_text("")
    result = send(recording(1000), "--state-dir", tmp_path / "file")
    assert result.code == 13 and not dav.requests, result


# MARK: Interruptions


@pytest.mark.parametrize("again", ["send", "resume"])
def test_a_kill_during_put_leaves_nothing_in_the_end(send, program, dav, recording, again):
    file = recording(4_000_000, name="a.wav")
    kill(program, dav, file, "PUT", "during")
    assert hidden(dav) == [f"/dav/.a.wav.{only_record(program).id}.gighive-part"]
    (send(file) if again == "send" else program.run("resume", "--all")).check()
    assert dav.files == {"/dav/a.wav": file.read_bytes()} and "DELETE" in dav.methods()


# MARK: Afterwards


def test_delete_removes_a_recording_that_is_still_the_same(send, program, dav, recording):
    send(recording(1000, name="a.wav")).check()
    delivered = only_record(program).id
    content = dav.files["/dav/a.wav"]
    dav.files["/dav/a.wav"] = b"another one"
    result = program.run("delete", delivered)
    assert result.code == 11 and dav.files == {"/dav/a.wav": b"another one"}, result
    dav.files["/dav/a.wav"] = content
    program.run("delete", delivered).check()
    assert not dav.files


def test_a_dry_run_says_where_a_file_would_go(send, dav, recording):
    result = send(recording(1000, name="a.wav"), "--dry-run").check()
    assert f"would be sent to {dav.url}/dav/a.wav (webdav, 1.0 kB)" in result.out and not dav.requests
