"""`--put-url`, `--put-url-file` and `--webdav`: objects on any server that takes PUT. What its responses mean: Transcripts/put, webdav."""

import hashlib
import os

import pytest
from program import private
from stub import Handler, Stub
from uploads import sha256
from watching import write

SIGNATURE = "X-Amz-Signature=5ec2e75ec2e7&X-Amz-Date=20261127T000000Z"


@pytest.fixture
def put(program):
    """`send` to an object store at a stub."""
    return lambda stub, *arguments, url="/bucket/", **options: program.run(
        "send", "--put-url", stub.url + url, *arguments, **options)


def objects(stub) -> list[tuple[str, str]]:
    return [(request.target, request.sha256) for request in stub.requests if request.method == "PUT" and request.sha256]


@pytest.mark.parametrize("url, target", [
    ("/bucket/", "/bucket/a%20b%2B%C3%BC%25.wav"), ("/{stem}/{name}?x={stem}", "/a%20b%2B%C3%BC%25/a%20b%2B%C3%BC%25.wav?x=a%20b%2B%C3%BC%25"),
    ("/bucket/?x=/", "/bucket/a%20b%2B%C3%BC%25.wav?x=/"), ("/fixed.wav", "/fixed.wav"),
])
def test_the_name_in_the_url_is_encoded(hive, put, recording, url, target):
    stub = hive()
    file = recording(100_000, name="a b+ü%.wav")
    result = put(stub, file, url=url).check()
    assert objects(stub) == [(target, sha256(file))] and "a b+ü%.wav: delivered" in result.out
    # It is known, and not sent again.
    assert "already delivered" in put(stub, file, url=url).check().out and len(objects(stub)) == 1


def test_files_of_the_same_name_go_to_directories_of_their_own(hive, put, recording, tmp_path):
    stub = hive()
    for directory in ("100", "101"):
        (tmp_path / directory).mkdir()
        recording(1000, name="a.wav", directory=tmp_path / directory)
    assert put(stub, "-r", tmp_path, "--match", "*.wav").check()
    assert [target for target, _ in objects(stub)] == ["/bucket/100/a.wav", "/bucket/101/a.wav"]


def test_a_name_cannot_lead_out_of_the_directory(hive, put, recording):
    stub = hive()
    result = put(stub, recording(1000, name="...mp4"), url="/{stem}/a")
    assert result.code == 2 and 'the path has "." or ".." as a part' in result.err and not stub.requests, result


def test_nothing_that_is_recorded_is_replaced_unasked(hive, put, tmp_path):
    """By a template without the directory, two recordings have one URL. Each of them would count as delivered, and be removed."""
    stub = hive()
    files = [write(tmp_path / "rec" / str(size) / "a.wav", size) for size in (1000, 2000)]
    removing = ("--after", "remove", "--trust-server")
    result = put(stub, "-r", tmp_path / "rec", "--match", "*.wav", *removing, "-j", "2", url="/bucket/{name}")
    assert result.code == 11 and "went to this URL, or will, and nothing shows that it is this recording" in result.err, result
    (kept,) = [file for file in files if file.exists()]
    assert len(objects(stub)) == 1 and objects(stub)[0][1] != sha256(kept)
    result = put(stub, kept, *removing, url="/bucket/{name}")
    assert result.code == 11 and kept.exists() and len(objects(stub)) == 1, result
    put(stub, kept, "--overwrite", url="/bucket/{name}").check()
    assert objects(stub)[1][1] == sha256(kept)


def test_what_was_replaced_on_the_server_is_not_removed_here(hive, put, recording):
    stub = hive()
    first, second = recording(1000, name="a.wav"), recording(2000, name="b.wav")
    removing = ("--after", "remove", "--trust-server")
    with first.open():
        assert "open" in put(stub, first, *removing, url="/latest").check().err
    put(stub, second, "--overwrite", url="/latest").check()
    result = put(stub, first, *removing, url="/latest").check()
    assert "a.wav was kept: a later upload was to put another recording in its place on the server." in result.err, result
    assert first.exists() and len(objects(stub)) == 2


# MARK: Signed URLs


@pytest.fixture
def signed(tmp_path):
    """Writes the file with the URL."""
    return lambda stub, path="/bucket/{name}", query=SIGNATURE: private(tmp_path / "url", f"{stub.url}{path}?{query}\n")


def test_a_signature_is_nowhere_to_be_seen(hive, program, recording, signed):
    stub = hive()
    result = program.run("send", recording(1000, name="a.wav"), "--put-url-file", signed(stub), "-v").check()
    assert stub.requests[0].target == "/bucket/a.wav?" + SIGNATURE
    shown = result.out + result.err + program.run("list", "--json").check().out
    kept = b"".join(file.read_bytes() for file in program.state.rglob("*") if file.is_file())
    assert "/bucket/a.wav?" in shown and "5ec2e7" not in shown and b"5ec2e7" not in kept


def test_resume_reads_the_url_again(hive, program, recording, signed):
    stub = hive("other/status=403@1")
    result = program.run("send", recording(1000, name="a.wav"), "--put-url-file", signed(stub))
    assert result.code == 6, result
    signed(stub, query="sig=another-one")
    program.run("resume", "--all").check()
    assert [target for target, _ in objects(stub)] == ["/bucket/a.wav?sig=another-one"]


@pytest.mark.parametrize("content, message", [
    ("not a URL", "its first line is not an http or https URL"), ("", "has an empty first line"),
    ("http://h/{stem", "has a brace that is not part of a placeholder")])
def test_a_file_without_a_url_is_named_and_not_quoted(run, recording, tmp_path, content, message):
    file = private(tmp_path / "url", content)
    result = run("send", recording(1000), "--put-url-file", file)
    assert result.code == 2 and message in result.err and "not a URL" not in result.err, result


def test_other_users_may_not_read_it(run, recording, tmp_path):
    file = tmp_path / "url"
    file.write_text("http://h/")
    file.chmod(0o644)
    result = run("send", recording(1000), "--put-url-file", file)
    assert result.code == 2 and "other users" in result.err, result


class _StoreHandler(Handler):
    def do_PUT(self):
        content = self.content()
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        self.reply(200, fields={"ETag": f'"{digest if self.stub.is_honest else digest[::-1]}"'})


class _Store(Stub):
    """Says the MD5 of each object as its ETag, as S3 does."""

    def __init__(self, is_honest: bool):
        self.is_honest = is_honest
        super().__init__(_StoreHandler)


@pytest.mark.parametrize("is_honest", [True, False])
def test_an_etag_that_is_the_md5_proves_the_delivery(put, recording, is_honest):
    """The file is read in many runs, on two threads."""
    with _Store(is_honest) as store:
        result = put(store, recording(12_345_678), "--digest").check()
    assert ("(verified)" in result.out) == is_honest and "sha256" in result.out, result


# MARK: Unattended


def test_a_watcher_delivers_and_removes_what_it_may(hive, program, watch, tmp_path):
    stub = hive()
    watching = watch(None, "--put-url", stub.url + "/bucket/", "--after", "remove", "--trust-server")
    file = write(tmp_path / "rec" / "a.wav")
    content = sha256(file)
    watching.says("a.wav: removed after its delivery.")
    watching.stop()
    assert objects(stub) == [("/bucket/a.wav", content)] and f"uploading to {stub.url}/bucket/" in watching.log
    result = program.run("clean", tmp_path / "rec", "--put-url", stub.url + "/other/", "--keep-free", "1000T")
    assert result.code == 15 and not os.path.exists(file), result


def test_a_dry_run_says_where_a_file_would_go(hive, put, recording):
    stub = hive()
    result = put(stub, recording(1000, name="a.wav"), "--dry-run").check()
    assert f"would be sent to {stub.url}/bucket/a.wav (put, 1.0 kB)" in result.out and not stub.requests


# MARK: WebDAV: a hidden name, a MOVE, and nothing replaced


@pytest.fixture
def send_dav(program, dav):
    """`send` to a directory of the server."""
    return lambda *arguments, url="/dav/", **options: program.run("send", "--webdav", dav.url + url, *arguments, **options)


def test_a_recording_arrives_under_its_name(send_dav, dav, recording):
    file = recording(100_000, name="a b+ü%.wav")
    assert "a b+ü%.wav: delivered" in send_dav(file).check().out
    assert dav.files == {"/dav/a%20b%2B%C3%BC%25.wav": file.read_bytes()}
    assert dav.methods() == ["PROPFIND", "PUT", "PROPFIND", "MOVE", "PROPFIND"]
    # It is known, and not sent again.
    assert "already delivered" in send_dav(file).check().out and len(dav.requests) == 5


def test_a_tree_of_directories_is_made(send_dav, dav, recording, tmp_path):
    (tmp_path / "2026" / "may {1}").mkdir(parents=True)
    for directory in ("2026", "2026/may {1}"):
        recording(1000, name="a.wav", directory=tmp_path / directory)
    send_dav("-r", tmp_path / "2026", "--match", "*.wav", url="/dav/new/").check()
    assert sorted(dav.files) == ["/dav/new/a.wav", "/dav/new/may%20%7B1%7D/a.wav"]


def test_without_a_record_nothing_is_sent(send_dav, dav, recording, tmp_path):
    """Nobody would know the temporary name."""
    (tmp_path / "file").write_text("")
    result = send_dav(recording(1000), "--state-dir", tmp_path / "file")
    assert result.code == 13 and not dav.requests, result


def test_a_dry_run_says_where_a_file_would_go_by_webdav(send_dav, dav, recording):
    result = send_dav(recording(1000, name="a.wav"), "--dry-run").check()
    assert f"would be sent to {dav.url}/dav/a.wav (webdav, 1.0 kB)" in result.out and not dav.requests
