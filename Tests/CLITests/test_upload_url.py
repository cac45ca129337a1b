"""`--upload-url` and `--upload-url-file`: an upload that somebody else has created. What a server's responses mean: Transcripts/tus/created.txt."""

import signal
import ssl
import urllib.request

import pytest
from program import private, trust, wait_until
from uploads import kinds, of_kind, sha256

SIZE = 6_000_000


def create(stub, length: int | None = None) -> str:
    """Creates an upload of this length, or of any, as the application of a video platform does, and returns its URL."""
    size = {"Upload-Defer-Length": "1"} if length is None else {"Upload-Length": str(length)}
    fields = {"Tus-Resumable": "1.0.0", "Content-Length": "0", **size}
    request = urllib.request.Request(stub.url + "/tus/", method="POST", headers=fields)
    with urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context()) as answer:
        url = answer.headers["Location"]
    stub._requests.clear()
    return url


@pytest.fixture
def send(program):
    return lambda url, *arguments, **options: program.run("send", "--upload-url", url, "--progress=none", *arguments, **options)


def interrupt(program, stub, *arguments, at=3_000_000):
    """Kills the program when the server has that much."""
    stub.set_faults(f"PATCH/stall-after={at}")
    running = program.start("send", "--progress=none", *arguments)
    wait_until(lambda: stub.uploads[0].offset == at, what="a part on the server")
    running.signal(signal.SIGKILL)
    running.wait(10)
    stub.set_faults()
    stub._requests.clear()


def test_it_is_asked_for_and_sent_and_nothing_is_created(hive, send, program, recording):
    stub, file = hive(), recording(SIZE)
    url = create(stub, SIZE)
    result = send(url, file, "--json").check()
    assert kinds(stub)[0] == "head" and set(kinds(stub)) == {"head", "patch"}
    (upload,) = stub.uploads
    assert upload.is_complete and upload.sha256 == sha256(file) and result.outcome["event"] == "delivered"
    assert "already delivered" in send(url, file).check().out
    # Another upload is another destination.
    send(create(stub, SIZE), file).check()
    assert [upload.is_complete for upload in stub.uploads] == [True, True]


@pytest.mark.parametrize("again", ["send", "resume"])
@pytest.mark.parametrize("digest", [[], ["--digest"]])
def test_a_kill_is_followed_by_the_rest(hive, send, program, recording, again, digest):
    stub, file = hive(), recording(SIZE)
    url = create(stub, SIZE)
    interrupt(program, stub, file, "--upload-url", url, *digest)
    (send(url, file, *digest) if again == "send" else program.run("resume", "--all")).check()
    assert kinds(stub)[0] == "head" and set(kinds(stub)) == {"head", "patch"}
    assert stub.uploads[0].sha256 == sha256(file) and sum(request.body_bytes for request in stub.requests) == SIZE - 3_000_000


@pytest.mark.parametrize("is_secret", [False, True])
def test_cancel_removes_it(hive, program, recording, tmp_path, is_secret):
    stub, file = hive(), recording(SIZE)
    url = create(stub, SIZE)
    options = ["--upload-url-file", private(tmp_path / "url", url + "\n")] if is_secret else ["--upload-url", url]
    interrupt(program, stub, file, *options)
    (listed,) = program.run("list", "--json").check().events
    result = program.run("cancel", listed["id"], "-v").check()
    assert stub.uploads == [] and kinds(stub) == ["terminate"] and (url.rpartition("/")[2] in result.err) != is_secret


def test_a_brace_is_no_template(hive, send, recording):
    result = send("http://127.0.0.1:9/files/{name}", recording(1000), "--dry-run", "--json").check()
    assert result.outcome["protocol"] == "tus" and result.outcome["destination"].endswith("/files/{name}")


# MARK: Secret URLs


def test_a_secret_url_is_nowhere_to_be_seen(hive, program, recording, tmp_path):
    stub, file = hive(), recording(SIZE)
    url = create(stub, SIZE)
    key = url.rpartition("/")[2]
    given = private(tmp_path / "url", url + "?token=5ec2e75ec2e7\n")
    options = ["--upload-url-file", given]
    shown = [program.run("send", file, *options, "--dry-run", "--json").check()]
    interrupt(program, stub, file, *options)
    shown += [program.run("list", "--json").check(), program.run("resume", "--all", "-v", "--json").check()]
    shown += [program.run("list", "--json").check(), program.run("list").check()]
    kept = b"".join(path.read_bytes() for path in program.state.rglob("*") if path.is_file())
    texts = "".join(result.out + result.err for result in shown)
    for secret in (key, "5ec2e7"):
        assert secret not in texts and secret.encode() not in kept
    assert stub.uploads[0].sha256 == sha256(file)


# MARK: --trust-origin


@pytest.fixture
def pair(hive, certificates):
    """A tus server that creates its uploads on another one."""
    other = hive(tls=certificates, user=None)
    url = create(other, SIZE)
    return hive(f"create/other-location={url}", tls=certificates, user="ann"), other


@pytest.mark.parametrize("trusted", ["no", "option", "file", "another port"])
def test_only_a_named_origin_gets_the_credentials(pair, program, recording, tmp_path, trusted):
    stub, other = pair
    config = tmp_path / "c.conf"
    config.write_text(f"tus-url = {stub.url}/tus/\nuser = ann\n" + (f"trust-origin = {other.url}\n" if trusted == "file" else ""))
    named = {"option": other.url + "/", "another port": stub.url.rpartition(":")[0]}.get(trusted)
    options = ["--trust-origin", named] if named else []
    program.run(
        "send", recording(SIZE), "--config", config, "--header", "X-Rack: 7",
        *options, *trust(stub), env={"GIGHIVE_PASSWORD": "secret"}).check()  # fmt: skip
    got = {(request.header("Authorization"), request.header("X-Rack")) for request in other.requests}
    is_trusted = trusted in ("option", "file")
    assert {(bool(authorization), bool(rack)) for authorization, rack in got} == {(is_trusted, is_trusted)}


def test_a_redirect_to_it_gets_none(hive, program, recording, certificates):
    other = hive(tls=certificates, user=None)
    stub = hive(f"PATCH/http-redirect=307:{create(other, SIZE)}", tls=certificates, user="ann")
    program.run(
        "send", recording(SIZE), "--tus-url", stub.url + "/tus/", "--user", "ann", "--trust-origin", other.url, *trust(stub),
        retries=0, env={"GIGHIVE_PASSWORD": "secret"})  # fmt: skip
    assert of_kind(other, "patch") and not any(request.header("Authorization") for request in other.requests)
