"""Every kind of secret at once, planted in each run and searched for in all output, however the program ends."""

import hashlib
import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from program import NOBODY, private, wait_until
from secrets_bench import (
    ANSWER_TOKEN, BEARER, CREDENTIALS, DELETE_TOKEN, PASSWORD, PROXY_PASSWORD, QUERY_TOKEN, UPLOAD_TOKEN, Proxy, basic,
    check_files, records,
)


OUTPUTS = [["--verbose", "--progress", "plain"], ["--verbose", "--json"]]


@pytest.fixture
def proxy():
    proxies = []

    def proxy(*arguments):
        proxies.append(Proxy(*arguments))
        return proxies[-1]

    yield proxy
    for one in proxies:
        one.stop()


FAR = f"https://elsewhere.example/?token={ANSWER_TOKEN}"
DELIVERED = (
    b'HTTP/1.1 201 Created\r\nContent-Length: %d\r\nSet-Cookie: session=' + ANSWER_TOKEN.encode() + b"\r\n"
    b"Location: /files/1?token=" + ANSWER_TOKEN.encode() + b"\r\n\r\n%s")


def delivered(file) -> bytes:
    """GigHive's answer, with a delete token that is known here."""
    data = file.read_bytes()
    words = {
        "asset_id": 1, "checksum_sha256": hashlib.sha256(data).hexdigest(), "size_bytes": len(data),
        "delete_token": DELETE_TOKEN}
    content = json.dumps(words).encode()
    return DELIVERED % (len(content), content)


# name: (the stub's faults, further arguments, what the proxy does)
MOODS = {
    "delivered": ([], [], ""),
    "unauthorized": (["early-status=401"], [], ""),
    "forbidden": (["early-status=403"], [], ""),
    "too large": (["early-status=413:rst"], [], ""),
    "server failure": (["early-status=500"], ["--retry", "1", "--set", "retry-max-delay=5ms"], ""),
    "lost": (["close-after=10", "spool"], [], ""),
    "silent": (["silent"], ["--set", "response-timeout=50ms"], ""),
    "garbage": (["garbage"], [], ""),
    "wrong checksum": (["wrong-checksum"], [], ""),
    "redirected": ([f"http-redirect=303:{FAR}"], [], ""),
    "redirected elsewhere": ([f"http-redirect=307:{FAR}"], [], ""),
    "redirected for ever": (["http-redirect=307:/again/{n}?token=" + ANSWER_TOKEN], [], ""),
    "proxy refuses": ([], [], "refuses"),
    "proxy closes": ([], [], "closes"),
    "no proxy": ([], ["--proxy", "http://127.0.0.1:9"], ""),
    "wrong pin": ([], ["--set", "pin=sha256//" + "A" * 43 + "="], ""),
    "no trust": ([], ["--cacert", "trust-nobody"], ""),
    "key is no key": ([], ["--key", "password"], ""),
    "certificate is a key": ([], ["--cert", "client.key"], ""),
    "trust is a key": ([], ["--cacert", "client.key"], ""),
    "missing file": ([], ["missing.mp4"], ""),
    "no state directory": ([], ["--state-dir", "/proc/nowhere"], ""),
    "usage": ([], ["--event-date", "yesterday"], ""),
    "out of memory": ([], ["--max-memory", "1Mi"], ""),
}


@pytest.fixture
def upload(program, hive, proxy, recording, certificates, secrets, tmp_path):
    """Starts an upload with every secret that goes with these credentials; the stub and the running program."""
    private(tmp_path / "client.key", Path(certificates.client_key).read_text())
    (tmp_path / "trust-nobody").write_text(Path(certificates.client_certificate).read_text())

    def upload(kind, mood, *output, destination="server", size=40_000):
        faults, more, fault = MOODS[mood]
        file = recording(size)
        answer = delivered(file) if mood == "delivered" and destination != "tus" else None
        stub = hive(*faults, tls=certificates, password=PASSWORD, upload_token=UPLOAD_TOKEN, answer=answer)
        goes = {
            "server": ["--server", stub.url, "--label", "L"],
            "url": ["--multipart-url", f"{stub.url}/upload?token={QUERY_TOKEN}"],
            "tus": ["--tus-url", f"{stub.url}/tus/?token={QUERY_TOKEN}"],
        }[destination]
        pair = ["--cacert", certificates.cacert, "--cert", certificates.client_certificate, "--key", "client.key"]
        through = ["--proxy", proxy(fault).url, "--set", "proxy-user=proxy-user", "--set", "proxy-password-file=proxy-password"]
        arguments = [*goes, *CREDENTIALS[kind], *pair, *through, *more, *output]
        running = program.start("send", file, *arguments, env={"GIGHIVE_PASSWORD": PASSWORD})
        return stub, running

    return upload


RUNS = [(kind, mood, "server") for number, mood in enumerate(MOODS) for kind in (list(CREDENTIALS) * 2)[number % 6 :][:6:3]]
"""Two kinds of credentials for each mood, each kind in eight moods: what hides a secret does not know the mood."""
WITH_TOKENS = [("bearer", mood, ("url", "tus")[number % 2]) for number, mood in enumerate(MOODS)]
"""Destinations that have one in their address."""


@pytest.mark.parametrize(("kind", "mood", "destination"), RUNS + WITH_TOKENS)
def test_no_output_and_no_file_holds_a_secret(upload, program, secrets, tmp_path, kind, mood, destination):
    for output in OUTPUTS:
        _, running = upload(kind, mood, *output, destination=destination)
        result = running.wait()
        assert not secrets.shown_in(result.out, result.err), result
        if destination == "server" and mood != "no state directory":
            assert (result.code == 0) == (mood == "delivered"), result
    check_files(program, secrets, tmp_path)


def test_the_secrets_do_go_out(upload):
    """Otherwise the tests above would look for nothing."""
    for kind in CREDENTIALS:
        stub, running = upload(kind, "delivered")
        assert running.wait().code == 0
        head = stub.requests[0].head.decode()
        wanted = {"bearer": BEARER, "upload token": UPLOAD_TOKEN}.get(kind, basic("uploader", PASSWORD))
        assert wanted in head
        assert "roxy" not in head, "the server saw what is the proxy's"


DELIVERED_UPLOAD = ("password file", "delivered", "server")
LOST_UPLOAD = ("bearer", "lost", "tus")


@pytest.mark.parametrize("upload_of, command", [
    *((DELIVERED_UPLOAD, command) for command in ("list", "list --json", "delete --verbose", "delete --json")),
    *((LOST_UPLOAD, command) for command in ("list", "list --json", "resume -v", "resume --json", "cancel -v")),
])  # fmt: skip
def test_the_output_about_an_earlier_upload_holds_no_secret(upload, program, secrets, tmp_path, upload_of, command):
    kind, mood, destination = upload_of
    _, running = upload(kind, mood, destination=destination)
    assert running.wait().code == (0 if mood == "delivered" else 4)
    record, = records(program)
    assert mood != "delivered" or DELETE_TOKEN in record.read_text(), "the delete token was not kept"
    name, *options = command.split()
    result = program.run(name, *options, *([] if name == "list" else [record.stem]))
    assert result.code == 0 or name != "list", result
    assert not secrets.shown_in(result.out, result.err), result
    check_files(program, secrets, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_shows_no_secret(upload, secrets, number):
    stub, running = upload("password file", "silent", "--verbose", "--set", "response-timeout=60s")
    wait_until(lambda: stub.requests)
    running.signal(number)
    result = running.wait(10)
    assert result.code == 128 + number, result
    assert not secrets.shown_in(result.out, result.err), result


MISTAKES = {
    "a password in the address": ["--server", f"https://uploader:{PASSWORD}@hive.example/"],
    "a password with the user": ["--server", "https://hive.example/", "--user", f"uploader:{PASSWORD}"],
    "a password as an option": ["--server", "https://hive.example/", f"--password={PASSWORD}"],
    "a token as an option": ["--server", "https://hive.example/", f"--bearer={BEARER}"],
    "a password in the proxy's address": ["--server", "https://a/", "--proxy", f"http://me:{PROXY_PASSWORD}@b/"],
    "a password with the proxy's user": [
        "--server", "https://a/", "--proxy", "http://b/", "--set", f"proxy-user=me:{PROXY_PASSWORD}"],
    "a broken address with a password": ["--server", f"https://uploader:{PASSWORD}@[hive/"],
    "a broken proxy with a password": ["--server", "https://a/", "--proxy", f"http://me:{PROXY_PASSWORD}@[b/"],
    "a broken address with a token": ["--multipart-url", f"https://hive example/?token={QUERY_TOKEN}"],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_secret_in_the_wrong_place_is_not_repeated(run, recording, secrets, mistake):
    result = run("send", recording(), *MISTAKES[mistake], "--label", "L", env={"GIGHIVE_PASSWORD": PASSWORD})
    assert result.code == 2, result
    assert not secrets.shown_in(result.out, result.err), result


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
@pytest.mark.parametrize(
    "form", ["http://me:{}@127.0.0.1:9", "http://me:{}@[broken", "socks5://me:{}@127.0.0.1:9", "me:{}@127.0.0.1:9"])
def test_a_password_in_the_environments_proxy_is_not_shown(run, recording, secrets, variable, form):
    scheme = "http" if variable == "http_proxy" else "https"
    result = run(
        "send", recording(), "--multipart-url", f"{scheme}://192.0.2.1/", "--verbose",
        env={variable: form.format(PROXY_PASSWORD)}, seconds=20)
    assert result.code in (2, 4), result
    assert not secrets.shown_in(result.out, result.err), result


@pytest.mark.parametrize(
    "content", [f"{BEARER}\x01", f"{BEARER}\x7f\n", f"\x00{BEARER}", BEARER * 300], ids=["SOH", "DEL", "NUL", "long"])
def test_a_token_that_cannot_be_sent_is_not_shown(post, hive, recording, secrets, tmp_path, content):
    private(tmp_path / "bearer", content)
    result = post(hive(), recording(), "--bearer-file", "bearer", "-v")
    assert result.code == 2, result
    assert not secrets.shown_in(result.out, result.err), result


# MARK: The process itself


def test_the_process_list_shows_no_secret(upload, secrets):
    stub, running = upload("password file", "silent", "--set", "response-timeout=60s")
    wait_until(lambda: stub.requests)
    for name in ("cmdline", "comm"):
        assert not secrets.shown_in(Path(f"/proc/{running.pid}/{name}").read_bytes())


@pytest.mark.native
def test_no_other_process_of_the_user_can_look_into_it(program, recording, nobody, hive):
    """PR_SET_DUMPABLE: /proc/PID belongs to root then, and ptrace(2) is refused."""
    stub = hive("silent", user=None)
    home, settings = nobody
    settings["env"]["GIGHIVE_PASSWORD"] = PASSWORD
    running = program.start("send", recording(directory=home), "--multipart-url", stub.url + "/upload", **settings)
    wait_until(lambda: stub.requests)
    for name in ("environ", "mem", "maps"):
        seen = subprocess.run(["/bin/cat", f"/proc/{running.pid}/{name}"], capture_output=True, **NOBODY)
        assert b"Permission denied" in seen.stderr and not seen.stdout, seen
    running.end()


@pytest.mark.native
def test_there_is_no_core_dump(program, hive, recording):
    """SIGXCPU asks for one. Whether the kernel would write one is tried with another program first."""
    unlimited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)}

    def dumps(process) -> bool:
        process.send_signal(signal.SIGXCPU)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = status
        return os.WIFSIGNALED(status) and os.WCOREDUMP(status)

    control = subprocess.Popen(["/bin/sleep", "60"], cwd=program.directory, **unlimited)
    if not dumps(control):
        pytest.skip("this kernel dumps nobody's core")
    stub = hive("silent", user=None)
    running = program.start("send", recording(), "--multipart-url", stub.url + "/upload", **unlimited)
    wait_until(lambda: stub.requests)
    assert not dumps(running.process)


# MARK: Heads


def test_verbose_shows_the_headers_with_secrets_redacted(program, hive, recording):
    stub = hive(password=PASSWORD)
    result = program.run(
        "send", recording(), "--server", stub.url, "--label", "L", "--user", "uploader", "-v", env={"GIGHIVE_PASSWORD": PASSWORD}).check()
    for line in (f"> POST {stub.url}/api/uploads.php?…\n", "> Authorization: (secret)", "< HTTP/1.1 201", "> Accept: application/json"):
        assert line in result.err, result
