"""A secret goes into a request's head and nowhere else."""

import base64
import hashlib

import pytest
from program import private, wait_until

SECRET = "Tr0ub4dor-planted-secret"
ENCODED = base64.b64encode(f"uploader:{SECRET}".encode()).decode()

KINDS = {
    "password file": ["--user", "uploader", "--password-file", "secret"],
    "environment": ["--user", "uploader"],
    "netrc": ["--netrc-file", "netrc"],
    "bearer": ["--bearer-file", "secret"],
    "upload token": ["--upload-token-file", "secret"],
}

MOODS = {
    "delivered": ([], []),
    "refused": (["early-status=401"], []),
    "server failure": (["early-status=500:rst"], []),
    "redirected": (["http-redirect=303:https://elsewhere.example/"], []),
    "broken answer": (["garbage"], []),
    "lost": (["close-after=10"], []),
    "input error": ([], ["missing.mp4"]),
}


@pytest.fixture(autouse=True)
def planted(tmp_path):
    private(tmp_path / "secret", SECRET + "\n")
    private(tmp_path / "netrc", f"machine 127.0.0.1 login uploader password {SECRET}\n")


def leaks(text: str) -> bool:
    return SECRET in text or ENCODED in text or SECRET[:12] in text or ENCODED[:20] in text


def upload(program, stub, file, *options, **more):
    env = {"GIGHIVE_PASSWORD": SECRET}
    return program.start("send", file, "--server", stub.url, "--label", "L", *options, env=env, **more)


@pytest.mark.parametrize("mood", MOODS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_output_shows_a_secret(hive, program, recording, kind, mood):
    faults, files = MOODS[mood]
    stub = hive(*faults, password=SECRET, upload_token=SECRET)
    file = recording(1_100_000)
    for output in (["--verbose"], ["--verbose", "--json"], ["--progress=plain"], ["--quiet"]):
        result = upload(program, stub, file, *files, *KINDS[kind], *output).wait()
        assert not leaks(result.out + result.err), result
    if mood == "delivered":
        request = stub.requests[0]
        assert leaks(request.head.decode()), "nothing was planted"


def test_verbose_shows_the_headers_with_secrets_redacted(hive, program, recording):
    stub = hive(password=SECRET)
    result = upload(program, stub, recording(), "--user", "uploader", "-v").wait()
    assert result.code == 0, result
    for line in (f"> POST {stub.url}/api/uploads.php?…\n", "> Authorization: (secret)", "< 201", "> Accept: application/json"):
        assert line in result.err, result


@pytest.mark.parametrize("options", [[], ["-v"], ["--json", "-v"]], ids=" ".join)
def test_the_delete_token_of_a_delivery_is_not_shown(hive, send, recording, options):
    file, token = recording(), "d0" * 32
    words = (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_size, token)
    content = '{"asset_id":1,"checksum_sha256":"%s","size_bytes":%d,"delete_token":"%s"}' % words
    answer = f"HTTP/1.1 201 Created\r\nContent-Length: {len(content)}\r\n\r\n{content}"
    result = send(hive(answer=answer.encode()), file, *options)
    assert result.code == 0, result
    assert token not in result.out + result.err


@pytest.mark.parametrize("kind", KINDS)
def test_the_process_list_shows_no_secret(hive, program, recording, kind):
    stub = hive("stall-after=1000", password=SECRET, upload_token=SECRET)
    running = upload(program, stub, recording(), *KINDS[kind])
    wait_until(lambda: stub.requests)
    with open(f"/proc/{running.pid}/cmdline", encoding="utf-8") as file:
        assert not leaks(file.read())
    running.end()


def test_a_url_with_a_password_is_refused_and_not_repeated(run, recording):
    for option in ("--server", "--multipart-url"):
        result = run("send", recording(), option, f"https://uploader:{SECRET}@hive.example/", "--label", "L")
        assert result.code == 2, result
        assert not leaks(result.out + result.err)


def test_credentials_do_not_follow_a_redirect(hive, program, recording):
    elsewhere = hive(user=None)
    stub = hive(f"http-redirect=307:{elsewhere.url}/api/uploads.php?ui=json&moved=1", password=SECRET)
    assert upload(program, stub, recording(), "--user", "uploader").wait().code == 0
    request = elsewhere.wait_for(1)[0]
    assert request.complete and not leaks(request.head.decode())


def test_a_server_that_is_not_trusted_gets_no_secret(hive, program, recording, certificates):
    stub = hive(tls=certificates, password=SECRET)
    for options in ([], ["--cacert", certificates.cacert, "--pin", "sha256//" + base64.b64encode(bytes(32)).decode()]):
        assert upload(program, stub, recording(), "--user", "uploader", *options).wait().code == 5
    assert stub.requests == []
