"""Every way for a server to be the wrong one: refused with exit code 5, before a byte of the request, with a message that
say what to do. Beside each stands a server that is right in just that, and is served."""

import contextlib
import re

import pytest
from certificates_forge import HOST, leaf, openssl
from program import wait_until
from tls_matrix import row
from digests import key_pin
from tls_servers import ANSWER, CommandServer

SECRET = "Planted-pa55word"


@pytest.fixture
def upload(run, recording):
    def upload(server, *options, host=HOST, file=None):
        url = ["--multipart-url", f"https://{host}/upload", "--proxy", server.proxy, "--user", "uploader"]
        tries = ["--retry", "2", "--set", "retry-max-delay=10ms"]
        return run("send", file or recording(1000), *url, *tries, *options, "--quiet", env={"GIGHIVE_PASSWORD": SECRET})

    return upload


def check_refused(result, server, *words):
    assert result.code == 5, result
    assert server.received == b"", "something of the request went out"
    assert len(server.connections) == 1, "it was tried again, which cannot help"
    assert result.out == ""
    assert SECRET not in result.err
    check_sentence(result, *words)


def check_sentence(result, *words):
    """One line, of whole sentences, and the command that resumes the upload."""
    assert re.fullmatch(r"gighive-upload: .*[.?](?: (?:Resume with|To send it again):\n  gighive-upload resume [0-9a-f]{8})?\n", result.err), result
    for word in words:
        assert word in result.err, result


# MARK: Versions and algorithms

SETTINGS = {
    "TLS 1.0": ({"minimum": "TLSv1", "maximum": "TLSv1"}, {"minimum": "TLSv1", "maximum": "TLSv1_2"}),
    "TLS 1.1": ({"minimum": "TLSv1_1", "maximum": "TLSv1_1"}, {"minimum": "TLSv1_1", "maximum": "TLSv1_2"}),
    "no forward secrecy": ({"maximum": "TLSv1_2", "ciphers": "kRSA:@SECLEVEL=0"}, {"maximum": "TLSv1_2"}),
    "no encryption": ({"maximum": "TLSv1_2", "ciphers": "eNULL:@SECLEVEL=0"}, {"maximum": "TLSv1_2"}),
    "no authentication": ({"maximum": "TLSv1_2", "ciphers": "aNULL:@SECLEVEL=0"}, {"maximum": "TLSv1_2"}),
}


@pytest.mark.parametrize("name", [row(name, name) for name in SETTINGS])
def test_an_old_or_weak_protocol_is_refused(forge, serve_tls, upload, name):
    """Also with --insecure, which is about the certificate only."""
    wrong, good = SETTINGS[name]
    shown = leaf(forge, key="rsa2048", usage="digitalSignature,keyEncipherment")
    server = serve_tls(shown, **good)
    assert upload(server, "--cacert", shown.cacert).code == 0
    for options in (["--cacert", shown.cacert], ["--insecure"]):
        server = serve_tls(shown, **wrong)
        result = upload(server, *options)
        assert result.code == 5, result
        assert server.received == b""
        assert "TLS 1.2" in result.err, result


# MARK: Pins


def test_a_wrong_pin_is_refused_even_with_a_trusted_certificate(forge, serve_tls, upload):
    shown = leaf(forge)
    right, authority = key_pin(shown.leaf.path), key_pin(shown.leaf.issuer.path)
    server = serve_tls(shown)
    assert upload(server, "--cacert", shown.cacert, "--set", f"pin={right}").code == 0
    assert upload(serve_tls(shown), "--insecure", "--set", f"pin={right}").code == 0
    for wrong in (["--set", f"pin={authority}"], ["--set", f"pin={authority}", "--set", "pin=sha256//" + "A" * 43 + "="]):
        server = serve_tls(shown)
        check_refused(upload(server, "--cacert", shown.cacert, *wrong), server, right, "--set pin")
        server = serve_tls(shown)
        result = upload(server, "--insecure", *wrong)
        assert (result.code, server.received) == (5, b""), result


# MARK: Servers that say no, or something else

ALERTS = {
    40: "handshake failure", 42: "bad certificate", 70: "protocol version", 80: "internal error", 112: "unrecognized name",
    116: "certificate required",
}
NO_TLS = {
    "an HTTP answer": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "an SSH server": b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "zeros": bytes(2000),
    "a record that is too long": b"\x16\x03\x03\xff\xff" + bytes(70_000),
}
BAD_TLS = {
    "an empty handshake record": b"\x16\x03\x03\x00\x00",
    "a handshake message of an unknown kind": b"\x16\x03\x03\x00\x04\x63\x00\x00\x00",
    "data before the handshake": b"\x17\x03\x03\x00\x02hi",
}


@pytest.mark.parametrize("number", [row(str(number), number) for number in ALERTS])
def test_an_alert_is_reported_in_words(answering, run, recording, number):
    port = answering(lambda hello: b"\x15\x03\x03\x00\x02\x02" + bytes([number]))
    result = run("send", recording(), "--multipart-url", f"https://127.0.0.1:{port}/")
    assert result.code == 5, result
    check_sentence(result, ALERTS[number], "server")
    assert "sslv3" not in result.err, "nobody speaks SSL 3"


@pytest.mark.parametrize("name", [row(name, name) for name in [*NO_TLS, *BAD_TLS]])
def test_a_server_that_speaks_no_tls_is_refused(answering, run, recording, name):
    port = answering(lambda hello: {**NO_TLS, **BAD_TLS}[name])
    result = run("send", recording(), "--multipart-url", f"https://127.0.0.1:{port}/", "--retry", "0")
    assert result.code == 5, result
    check_sentence(result, "TLS", "127.0.0.1", *(["port"] if name in NO_TLS else []))


# MARK: Later


class LiveServer(CommandServer):
    """It does only what it is told to, and can be told to renegotiate in the middle."""

    def _answer(self):
        with contextlib.suppress(EOFError, OSError):
            self._read_until(b"$^")

    def say(self, line: bytes):
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def wait_for(self, words: bytes):
        wait_until(lambda: words in self.said, what=f"{words!r} at the server")


def uploading(start, recording, server, shown):
    url = f"https://127.0.0.1:{server.port}/upload"
    return start("send", recording(1000), "--multipart-url", url, "--cacert", shown.cacert, "--quiet")


def test_a_renegotiation_is_refused(forge, serve_tls, start, recording):
    shown = leaf(forge)
    server = serve_tls(shown, LiveServer, "-tls1_2")
    running = uploading(start, recording, server, shown)
    server.wait_for(b"POST /upload")
    server.say(b"R")
    result = running.wait(20)
    # What was sent may be all of the form by then.
    assert result.code in (5, 16), result
    check_sentence(result, "127.0.0.1", "TLS")


@pytest.mark.parametrize("command", [b"k", b"K"], ids=["KeyUpdate", "KeyUpdate that asks for one"])
def test_new_keys_are_taken_in_the_middle(forge, serve_tls, start, recording, command):
    """What TLS 1.3 has instead of renegotiation."""
    shown = leaf(forge)
    server = serve_tls(shown, LiveServer, "-tls1_3", "-msg")
    running = uploading(start, recording, server, shown)
    server.wait_for(b"POST /upload")
    server.say(command)
    server.wait_for(b"KeyUpdate")
    for line in ANSWER.split(b"\r\n")[:-1]:
        server.say(line + b"\r")
    assert running.wait(20).code == 0


TRUNCATED = {
    "before the answer": b"",
    "in the head": b"HTTP/1.1 201 Crea",
    "in the content": b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{",
    "in a chunk": b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
    "where only the end tells the length": b"HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n{}",
}


@pytest.mark.parametrize("where", [row(where, where) for where in TRUNCATED])
def test_an_end_without_close_notify_before_the_end_of_an_answer_is_refused(forge, serve_tls, upload, where):
    shown = leaf(forge)
    server = serve_tls(shown, answer=TRUNCATED[where], says_goodbye=False)
    result = upload(server, "--cacert", shown.cacert, "--retry", "0")
    # The whole form was sent: what the server has done with it is not known.
    assert result.code == 16, result
    check_sentence(result, "cut" if TRUNCATED[where] else "lost", "may have stored it")


@pytest.mark.parametrize("options", [
    {"says_goodbye": True}, {"says_goodbye": False}, {"answer": TRUNCATED["where only the end tells the length"]}])
def test_the_end_after_a_whole_response_needs_no_close_notify(forge, serve_tls, upload, options):
    """Unless nothing else tells how long it is."""
    shown = leaf(forge)
    server = serve_tls(shown, **options)
    assert upload(server, "--cacert", shown.cacert, "--retry", "0").code == 0


# MARK: Client certificates


@pytest.mark.parametrize("encryption", [["-aes256"], ["-des3", "-traditional"]])
def test_an_encrypted_key_is_refused_and_no_passphrase_is_asked_for(forge, serve_tls, upload, tmp_path, encryption):
    shown, own = leaf(forge), forge.issue("/CN=an uploader", issuer=forge.authority(), key="ecb")
    locked = tmp_path / "locked.key"
    openssl("pkey", "-in", own.key, *encryption, "-passout", "pass:Planted-phrase", "-out", str(locked))
    pair = ["--cert", own.path, "--key"]
    assert upload(serve_tls(shown), "--cacert", shown.cacert, *pair, own.key).code == 0
    server = serve_tls(shown)
    result = upload(server, "--cacert", shown.cacert, *pair, locked)
    assert result.code == 5, result
    assert server.connections == []
    check_sentence(result, "locked.key", "encrypted")
    assert not re.search("pass ?phrase:", result.err)
