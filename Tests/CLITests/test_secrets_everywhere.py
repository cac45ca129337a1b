"""Every kind of secret at once, planted in each run, and looked for in all that the program emits, however it ends."""

import base64
import contextlib
import hashlib
import html
import json
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import urllib.parse
from pathlib import Path

import pytest
from program import private, wait_until

PASSWORD = "Pa55word-planted-0001"
BEARER = "B3arer.token-planted-0002"
UPLOAD_TOKEN = "Gu3st-token-planted-0003"
PROXY_PASSWORD = "Pr0xy-planted-0004"
QUERY_TOKEN = "Qu3ry-token-planted-0005"
ANSWER_TOKEN = "L0cation-token-planted-0006"
DELETE_TOKEN = "d3" * 32
PLAIN = (PASSWORD, BEARER, UPLOAD_TOKEN, PROXY_PASSWORD, QUERY_TOKEN, ANSWER_TOKEN, DELETE_TOKEN)

RECORDS = (".record", ".delivered")

CREDENTIALS = {
    "password file": ["--user", "uploader", "--password-file", "password"],
    "environment": ["--user", "uploader"],
    "netrc": ["--netrc-file", "netrc"],
    "bearer": ["--bearer-file", "bearer"],
    "upload token": ["--upload-token-file", "token"],
}
OUTPUTS = [["--verbose"], ["--verbose", "--json"], ["--progress", "plain"], ["--quiet"]]


def basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


class Secrets:
    """What may not be shown, in every spelling that a program could give it."""

    def __init__(self, *files):
        self._spellings = {}
        for text in (*PLAIN, basic("uploader", PASSWORD), basic("proxy-user", PROXY_PASSWORD)):
            encoded = base64.b64encode(text.encode()).decode()
            for spelling in (text, text[:12], urllib.parse.quote(text, safe=""), encoded):
                self._spellings[spelling.encode()] = text
        for file in files:
            for line in Path(file).read_bytes().splitlines():
                if len(line) > 30 and b"-----" not in line:
                    self._spellings[line] = f"a line of {os.path.basename(file)}"

    def shown_in(self, *texts) -> set[str]:
        data = b"\n".join(text.encode() if isinstance(text, str) else text for text in texts)
        return {name for spelling, name in self._spellings.items() if spelling in data}


@pytest.fixture
def secrets(tmp_path, certificates):
    private(tmp_path / "password", PASSWORD + "\n")
    private(tmp_path / "bearer", BEARER + "\n")
    private(tmp_path / "token", UPLOAD_TOKEN + "\n")
    private(tmp_path / "proxy-password", PROXY_PASSWORD + "\n")
    private(tmp_path / "netrc", f"machine 127.0.0.1 login uploader password {PASSWORD}\n")
    return Secrets(certificates.client_key)


class Proxy:
    """An HTTP proxy that asks for a password and can go wrong."""

    def __init__(self, fault: str = ""):
        self.heads = []
        self._fault = fault
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(1 << 16)
            self.heads.append(head)
            if self._fault == "refuses" or basic("proxy-user", PROXY_PASSWORD).encode() not in head:
                echo = f"no entry for {PROXY_PASSWORD}" if self._fault else ""
                client.sendall(f"HTTP/1.1 407 {echo}\r\nContent-Length: 0\r\n\r\n".encode())
                return
            if self._fault == "closes":
                return
            target = head.split(b" ")[1].decode()
            is_tunnel = head.startswith(b"CONNECT ")
            address = target if is_tunnel else urllib.parse.urlsplit(target).netloc
            host, port = address.rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=20) as server:
                if is_tunnel:
                    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                else:
                    server.sendall(head.replace(target.encode(), target.partition(address)[2].encode(), 1))
                back = threading.Thread(target=self._pass, args=(server, client), daemon=True)
                back.start()
                self._pass(client, server)
                back.join(20)

    def _pass(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


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
    "server failure": (["early-status=500"], ["--retries", "1", "--retry-max-delay", "5ms"], ""),
    "lost": (["close-after=10", "spool"], [], ""),
    "silent": (["silent"], ["--response-timeout", "50ms"], ""),
    "garbage": (["garbage"], [], ""),
    "wrong checksum": (["wrong-checksum"], [], ""),
    "redirected": ([f"http-redirect=303:{FAR}"], [], ""),
    "redirected elsewhere": ([f"http-redirect=307:{FAR}"], [], ""),
    "redirected for ever": (["http-redirect=307:/again/{n}?token=" + ANSWER_TOKEN], [], ""),
    "proxy refuses": ([], [], "refuses"),
    "proxy closes": ([], [], "closes"),
    "no proxy": ([], ["--proxy", "http://127.0.0.1:9"], ""),
    "wrong pin": ([], ["--pin", "sha256//" + "A" * 43 + "="], ""),
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
        through = ["--proxy", proxy(fault).url, "--proxy-user", "proxy-user", "--proxy-password-file", "proxy-password"]
        arguments = [*goes, *CREDENTIALS[kind], *pair, *through, *more, *output]
        running = program.start("send", file, *arguments, env={"GIGHIVE_PASSWORD": PASSWORD})
        return stub, running

    return upload


def records(program) -> list[Path]:
    return [path for path in program.state.iterdir() if path.suffix in RECORDS]


def check_files(program, secrets, tmp_path):
    """No file holds a secret, but for records: they have what deletes a recording, and where uploads are."""
    planted = {"password", "bearer", "token", "proxy-password", "netrc", "client.key"}
    for path in (*tmp_path.rglob("*"), *program.state.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name not in planted and path != program.path:
            shown = secrets.shown_in(path.read_bytes())
            if path.suffix in RECORDS:
                shown -= {DELETE_TOKEN, QUERY_TOKEN, ANSWER_TOKEN}
                assert path.stat().st_mode & 0o777 == 0o600
            assert not shown, path


@pytest.mark.parametrize("mood", MOODS)
@pytest.mark.parametrize("kind", CREDENTIALS)
def test_nothing_that_is_said_or_written_holds_a_secret(upload, program, secrets, tmp_path, kind, mood):
    for output in OUTPUTS:
        _, running = upload(kind, mood, *output)
        result = running.wait()
        assert not secrets.shown_in(result.out, result.err), result
        assert (result.code == 0) == (mood == "delivered") or mood == "no state directory", result
    check_files(program, secrets, tmp_path)


@pytest.mark.parametrize("destination", ["url", "tus"])
@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood not in ("usage", "no state directory")])
def test_a_token_in_the_address_is_not_shown(upload, program, secrets, tmp_path, destination, mood):
    for output in OUTPUTS:
        _, running = upload("bearer", mood, *output, destination=destination)
        result = running.wait()
        assert not secrets.shown_in(result.out, result.err), result
    check_files(program, secrets, tmp_path)


def test_the_secrets_do_go_out(upload, program, certificates):
    """Otherwise the tests above would look for nothing."""
    for kind in CREDENTIALS:
        stub, running = upload(kind, "delivered")
        assert running.wait().code == 0
        head = stub.requests[0].head.decode()
        wanted = {"bearer": BEARER, "upload token": UPLOAD_TOKEN}.get(kind, basic("uploader", PASSWORD))
        assert wanted in head
        assert "roxy" not in head, "the server saw what is the proxy's"


@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["delete", "--verbose"], ["delete", "--json"]], ids=" ".join)
def test_what_is_said_of_a_delivered_upload_holds_no_secret(upload, program, secrets, tmp_path, command):
    _, running = upload("password file", "delivered")
    assert running.wait().code == 0
    record, = records(program)
    assert DELETE_TOKEN in record.read_text(), "the delete token was not kept"
    ids = [record.stem] if command[0] == "delete" else []
    result = program.run(*command, *ids)
    assert result.code == 0 or command[0] == "delete", result
    assert not secrets.shown_in(result.out, result.err), result
    check_files(program, secrets, tmp_path)


@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["resume", "-v"], ["resume", "--json"], ["cancel", "-v"]], ids=" ".join)
def test_what_is_said_of_an_interrupted_upload_holds_no_secret(upload, program, secrets, tmp_path, command):
    _, running = upload("bearer", "lost", destination="tus")
    assert running.wait().code == 4
    record, = records(program)
    ids = [] if command[0] == "list" else [record.stem]
    result = program.run(*command, *ids)
    assert not secrets.shown_in(result.out, result.err), result
    check_files(program, secrets, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_shows_no_secret(upload, secrets, number):
    stub, running = upload("password file", "silent", "--verbose", "--response-timeout", "60s")
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
        "--server", "https://a/", "--proxy", "http://b/", "--proxy-user", f"me:{PROXY_PASSWORD}"],
    "a broken address with a password": ["--server", f"https://uploader:{PASSWORD}@[hive/"],
    "a broken proxy with a password": ["--server", "https://a/", "--proxy", f"http://me:{PROXY_PASSWORD}@[b/"],
    "a broken address with a token": ["--multipart-url", f"https://hive example/?token={QUERY_TOKEN}"],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_secret_in_the_wrong_place_is_not_repeated(run, recording, secrets, mistake):
    result = run("send", recording(), *MISTAKES[mistake], "--label", "L", env={"GIGHIVE_PASSWORD": PASSWORD})
    assert result.code == 2, result
    assert not secrets.shown_in(result.out, result.err), result


@pytest.mark.parametrize("variable", ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy"])
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


ECHOES = {
    "in the message": '{"error":"Unauthorized","message":"no access for %s"}',
    "in the error": '{"error":"%s"}',
    "in a text": "%s",
}


@pytest.mark.parametrize("where", ECHOES)
@pytest.mark.parametrize("kind", CREDENTIALS)
def test_a_server_that_repeats_a_secret_is_not_quoted_with_it(program, hive, recording, secrets, where, kind):
    """A debug page does so."""

    def answer(request):
        credentials = request.header("Authorization") + " " + request.header("X-Upload-Token")
        plain = {"bearer": BEARER, "upload token": UPLOAD_TOKEN}.get(kind, f"uploader:{PASSWORD}")
        content = (ECHOES[where] % f"{credentials} {plain}").encode()
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Length: {len(content)}\r\nX-Debug: {credentials} {plain}\r\n\r\n"
        return head.encode() + content

    stub = hive(answer=answer, user=None)
    for output in (["--verbose"], ["--json"]):
        result = program.run(
            "send", recording(), "--server", stub.url, "--label", "L", *CREDENTIALS[kind], *output,
            env={"GIGHIVE_PASSWORD": PASSWORD})
        assert result.code == 7, result
        assert not secrets.shown_in(result.out, result.err), result


# MARK: Other spellings of a secret, and other places

HARD = {
    "two spaces": b"Pa55  word two",
    "a tab and a control character": b"Pa55\tword\x1b[1mX",
    "tags": b"Pa55<b>wo</b>rd&amp;",
    "half a tag": b"Pa55word<wo rd",
    "quotes and backslashes": b'Pa55"wo\\rd/%41+x',
    "UTF-8": "Pässwörd-€-😀".encode(),
    "Latin-1": "Pässwörd-ÿ".encode("latin-1"),
    "no text at all": b"\xff\xfe\x80Pa55\xc3",
}


def spellings(password: bytes) -> dict[str, bytes]:
    """What a server can make of it."""
    latin = password.decode("latin-1")
    text = password.decode("utf-8", "replace")
    return {
        "as it is": password,
        "repaired": text.encode(),
        "Latin-1 read": latin.encode(),
        "percent-encoded": urllib.parse.quote_from_bytes(password, safe="").encode(),
        "percent-encoded in lower case": re.sub(
            rb"%..", lambda escape: escape[0].lower(), urllib.parse.quote_from_bytes(password, safe="").encode()),
        "as in a form": urllib.parse.quote_plus(password).encode(),
        "JSON": json.dumps(text)[1:-1].encode(),
        "JSON of Latin-1": json.dumps(latin)[1:-1].encode(),
        "JSON as PHP has it": json.dumps(text)[1:-1].replace("/", "\\/").encode(),
        "HTML": html.escape(text).encode(),
        "base 64": base64.b64encode(password),
        "credentials": base64.b64encode(b"uploader:" + password),
    }


def pieces(password: bytes) -> list[str]:
    """Parts that may be seen nowhere: the longest runs of its plain characters."""
    runs = [run for run in re.findall(r"[A-Za-z0-9-]{4,}", password.decode("latin-1"))]
    return runs or [password.decode("utf-8", "replace")]


PLACES = {
    "in a page": (b"text/html", b"<html><body><h1>No</h1><p>%s is wrong</p></body></html>"),
    "in a text": (b"text/plain", b"wrong:  %s"),
    "at the end": (b"text/plain", b"wrong: %s"),
}


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("name", HARD)
def test_an_echo_is_hidden_in_every_spelling_and_place(program, hive, recording, tmp_path, name, where):
    password = HARD[name]
    private(tmp_path / "hard", password + b"\n")
    file = recording(1000)
    for spelling, echo in spellings(password).items():
        kind, form = PLACES[where]
        content = form % echo
        head = b"HTTP/1.1 400 No\r\nContent-Type: %s\r\nContent-Length: %d\r\n" % (kind, len(content))
        field = re.sub(rb"[\x00-\x08\x0a-\x1f\x7f]", b"", echo)
        stub = hive(answer=head + b"X-Echo: " + field + b"\r\n\r\n" + content, user=None)
        for output in (["--verbose"], ["--json"]):
            result = program.run(
                "send", file, "--server", stub.url, "--label", "L", "--user", "uploader", "--password-file", "hard", *output)
            assert result.code == 7, result
            shown = [line for line in (result.out + result.err).splitlines() if "X-Echo" not in line or field == echo]
            for piece in pieces(password):
                assert piece not in "\n".join(shown), (spelling, result)
            assert "(secret)" in "\n".join(shown), (spelling, result)


@pytest.mark.parametrize("name", HARD)
def test_an_echo_that_is_cut_is_hidden(program, hive, recording, tmp_path, name):
    """The connection ends in the middle of it."""
    password = HARD[name]
    private(tmp_path / "hard", password + b"\n")
    file = recording(1000)
    for spelling, echo in spellings(password).items():
        for rest in (1, 2, 3):
            content = b"bad: " + echo[:-rest]
            head = b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % (len(content) + rest)
            stub = hive(answer=head + content, user=None)
            result = program.run(
                "send", file, "--server", stub.url, "--label", "L", "--user", "uploader", "--password-file", "hard")
            assert result.code == 7, (spelling, result)
            for piece in pieces(password):
                assert piece not in result.out + result.err, (spelling, rest, result)


@pytest.mark.parametrize("name", [name for name in HARD if name != "a tab and a control character"])
def test_a_message_in_json_hides_it_too(program, hive, recording, tmp_path, name):
    """Its escapes are read before it is looked for."""
    password = HARD[name]
    private(tmp_path / "hard", password + b"\n")
    for text in (password.decode("utf-8", "replace"), password.decode("latin-1")):
        for content in (json.dumps({"error": "no", "message": f"no  entry for {text} here"}),):
            head = f"HTTP/1.1 400 No\r\nContent-Length: {len(content.encode())}\r\n\r\n{content}"
            stub = hive(answer=head.encode(), user=None)
            result = program.run(
                "send", recording(1000), "--server", stub.url, "--label", "L", "--user", "uploader",
                "--password-file", "hard")
            assert result.code == 7, result
            assert "no entry for (secret) here" in result.err, result


KEPT = ["password file", "environment", "netrc", "quoted netrc", "proxy's file", "proxy's environment", "proxy's URL"]


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("name", ["Latin-1", "no text at all", "UTF-8", "quotes and backslashes"])
def test_a_password_reaches_the_server_as_the_bytes_that_it_is(program, hive, recording, tmp_path, kind, name):
    password = HARD[name]
    quoted = password.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    private(tmp_path / "hard", password + b"\n")
    private(tmp_path / "netrc", b"machine 127.0.0.1 login uploader password " + (
        b'"' + quoted + b'"' if kind == "quoted netrc" else password) + b"\n")
    stub = hive(user=None)
    url, environment = stub.url + "/upload", {}
    if kind == "password file":
        options = ["--user", "uploader", "--password-file", "hard"]
    elif kind == "environment":
        options, environment = ["--user", "uploader"], {"GIGHIVE_PASSWORD": os.fsdecode(password)}
    elif kind.endswith("netrc"):
        if name == "quotes and backslashes" and kind == "netrc":
            pytest.skip("a quote inside of a word of netrc is for quoted ones")
        options = ["--netrc-file", "netrc"]
    else:
        options, url = ["--proxy", stub.url, "--proxy-user", "uploader"], "http://192.0.2.1/upload"
        if kind == "proxy's file":
            options += ["--proxy-password-file", "hard"]
        elif kind == "proxy's environment":
            environment = {"GIGHIVE_PROXY_PASSWORD": os.fsdecode(password)}
        else:
            raw = re.sub(rb"[%/?#@\\\"+ ]", lambda found: b"%%%02x" % found[0][0], password)
            options = []
            environment = {"http_proxy": f"http://uploader:{os.fsdecode(raw)}@127.0.0.1:{stub.port}"}
    result = program.run("send", recording(1000), "--multipart-url", url, *options, env=environment)
    assert result.code == 0, result
    field = "Authorization" if "proxy" not in kind else "Proxy-Authorization"
    sent = stub.requests[0].header(field)
    assert sent == "Basic " + base64.b64encode(b"uploader:" + password).decode()


@pytest.mark.parametrize("option", ["--bearer-file", "--upload-token-file"])
def test_a_token_that_is_no_text_is_refused_rather_than_changed(post, hive, recording, tmp_path, option):
    private(tmp_path / "token", b"B3arer-\xff\xfe-planted\n")
    stub = hive(user=None)
    result = post(stub, recording(), option, "token")
    assert result.code == 2, result
    assert "UTF-8" in result.err and "planted" not in result.err and "B3arer" not in result.err
    assert stub.requests == []


@pytest.mark.parametrize("echo", [BEARER, urllib.parse.quote(BEARER, safe="").replace(".", "%2e"), f"Wed, {BEARER}"])
def test_an_expiry_date_that_repeats_a_secret_is_neither_stored_nor_listed(program, hive, recording, secrets, tmp_path, echo):
    def answer(request):
        if request.effective_method == "POST":
            return (
                "HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: /tus/1\r\n"
                f"Upload-Expires: {echo}\r\nContent-Length: 0\r\n\r\n").encode()
        if request.effective_method == "OPTIONS":
            return b"HTTP/1.1 204 No Content\r\nTus-Resumable: 1.0.0\r\nTus-Version: 1.0.0\r\nTus-Extension: creation\r\n\r\n"
        return b"HTTP/1.1 503 Busy\r\nTus-Resumable: 1.0.0\r\nContent-Length: 0\r\n\r\n"

    stub = hive(answer=answer, user=None)
    result = program.run("send", recording(50_000), "--tus-url", stub.url + "/tus/", "--bearer-file", "bearer", "-v")
    assert result.code == 9, result
    record, = records(program)
    assert "(secret)" in record.read_text(), "the date was not kept"
    for listing in (["list"], ["list", "--json"]):
        listed = program.run(*listing)
        assert "(secret)" in listed.out
        assert not secrets.shown_in(listed.out, listed.err, result.out, result.err)
    check_files(program, secrets, tmp_path)


TUS_ECHOES = {
    "the address of an upload": f"HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: /tus/{BEARER}/1",
    "an address that is none": f"HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: http://u@{BEARER} x",
    "another host": f"HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: http://{BEARER}.invalid/1",
    "a redirect": f"HTTP/1.1 307 There\r\nLocation: http://{BEARER}.invalid/{BEARER}?{BEARER}",
    "a redirect to a bad address": f"HTTP/1.1 308 There\r\nLocation: http://[{BEARER}",
    "another redirect": f"HTTP/1.1 303 There\r\nLocation: /{BEARER}",
    "the versions": f"HTTP/1.1 412 No\r\nTus-Resumable: 1.0.0\r\nTus-Version: {BEARER}",
    "the name of a field": f"HTTP/1.1 400 No\r\n{BEARER}: 1",
    "the reason": f"HTTP/1.1 400 {BEARER}",
    "the time to wait": f"HTTP/1.1 503 No\r\nRetry-After: {BEARER}",
}


@pytest.mark.parametrize("where", TUS_ECHOES)
@pytest.mark.parametrize("destination", ["--tus-url", "--multipart-url"])
def test_a_field_that_repeats_a_secret_is_not_shown(program, hive, recording, secrets, where, destination):
    def answer(request):
        if request.effective_method in ("POST", "OPTIONS"):
            return (TUS_ECHOES[where] + "\r\nContent-Length: 0\r\n\r\n").encode()
        return b"HTTP/1.1 400 No\r\nTus-Resumable: 1.0.0\r\nContent-Length: 0\r\n\r\n"

    stub = hive(answer=answer, user=None)
    for output in (["-v"], ["--json"]):
        result = program.run(
            "send", recording(50_000), destination, stub.url + "/tus/", "--bearer-file", "bearer", *output, seconds=40)
        assert result.code not in (1, 2), result
        lowered = [text.replace(BEARER.lower(), BEARER) for text in (result.out, result.err)]
        assert not secrets.shown_in(*lowered), result
        listed = program.run("list")
        assert not secrets.shown_in(listed.out, listed.err), listed


# MARK: The process itself


@pytest.fixture
def at_work(upload):
    """A run that waits for an answer."""
    stub, running = upload("password file", "silent", "--response-timeout", "60s")
    wait_until(lambda: stub.requests)
    yield running
    running.end()


def test_the_process_list_shows_no_secret(at_work, secrets):
    assert not secrets.shown_in(Path(f"/proc/{at_work.pid}/cmdline").read_bytes())
    assert not secrets.shown_in(Path(f"/proc/{at_work.pid}/comm").read_bytes())


@pytest.mark.native
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_no_other_process_of_the_user_can_look_into_it(program, recording, shared, hive):
    """PR_SET_DUMPABLE: /proc/PID belongs to root then, and ptrace(2) is refused."""
    stub = hive("silent", user=None)
    home = shared / "nobody"
    home.mkdir(exist_ok=True)
    os.chown(home, 65534, 65534)
    file = recording(directory=home)
    file.chmod(0o644)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    running = program.start(
        "send", file, "--multipart-url", stub.url + "/upload", "--state-dir", home / "state", cwd=home,
        env={"HOME": str(home), "GIGHIVE_PASSWORD": PASSWORD}, **nobody)
    wait_until(lambda: stub.requests)
    for name in ("environ", "mem", "maps"):
        seen = subprocess.run(["/bin/cat", f"/proc/{running.pid}/{name}"], capture_output=True, **nobody)
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
