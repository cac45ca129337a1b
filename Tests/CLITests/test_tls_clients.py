"""Client certificates: missing, rejected, and requested after the request was sent (RFC 8446, 4.4.2.4 and 4.6.2)."""

import random
import re
import socket
import ssl
import time

import pytest
from certificates_forge import DAY, leaf
from tls_matrix import row
from tls_servers import ANSWER, Server, drain

FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class AskingServer(Server):
    """A server that trusts the forge's authority as its clients do, and wants a certificate. With `asks` it asks for one after
    the request's head, as Apache does for one Location, and answers 403 without one."""

    def __init__(self, shown, folder, version="TLSv1_3", asks=False, pause=0.0, silence=0.0):
        self._version, self._asks, self._pause, self._silence = ssl.TLSVersion[version], asks, pause, silence
        self.bodies = []
        self.subjects = []
        super().__init__(shown, folder)
        self.url = f"https://localhost:{self.port}/upload"

    @property
    def failures(self):
        return [connection.failure for connection in self.connections if connection.failure]

    def _new_context(self, pem):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        context.load_verify_locations(self.shown.cacert)
        context.verify_mode = ssl.CERT_REQUIRED
        context.post_handshake_auth = self._asks
        context.minimum_version = context.maximum_version = self._version
        return context

    def _serve(self, sock, connection):
        # An alert that waits for an acknowledgement is lost when what was not read is thrown away.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = self._context.wrap_socket(sock, server_side=True)
        with stream:
            received = b""
            while b"\r\n\r\n" not in received:
                data = stream.recv(1 << 16)
                if not data:
                    return
                received += data
            head, _, body = received.partition(b"\r\n\r\n")
            time.sleep(self._silence)
            if self._asks:
                try:
                    stream.verify_client_post_handshake()
                except ssl.SSLError as problem:
                    connection.failure = str(problem)
                    stream.sendall(FORBIDDEN)
                    drain(stream)
                    return
                stream.do_handshake()
                time.sleep(self._pause)
            if b"\r\nExpect: 100-continue" in head:
                stream.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = bytearray(body)
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            while len(body) < length:
                body += stream.recv(1 << 16)
            self.bodies.append(bytes(body))
            certificate = self._certificate(stream)
            self.subjects.append(certificate and dict(pair[0] for pair in certificate["subject"])["commonName"])
            stream.sendall(ANSWER if certificate else FORBIDDEN)
            stream.unwrap()

    def _certificate(self, stream):
        """The certificate is read along with what follows it. It can arrive after the body."""
        deadline = time.monotonic() + 10
        while self._asks and not stream.getpeercert() and time.monotonic() < deadline:
            stream.settimeout(0.02)
            try:
                assert stream.recv(1) == b""
                break
            except TimeoutError:
                pass
        stream.settimeout(20)
        return stream.getpeercert()


@pytest.fixture
def serve(serve_tls, forge):
    return lambda *version, **options: serve_tls(leaf(forge), AskingServer, *version, **options)


@pytest.fixture
def upload(run, recording):
    """With the program's own number of retries."""

    def upload(server, size, *options, certificate=None):
        pair = ["--cert", certificate.path, "--key", certificate.key] if certificate else []
        return run(
            "send", recording(size), "--multipart-url", server.url, "--cacert", server.shown.cacert, *pair,
            "--set", "retry-max-delay=10ms", "--quiet", *options, retries=None)

    return upload


REFUSED = {
    "of nobody": (None, "certificate required"),
    "of an unknown authority": (
        lambda forge: forge.issue("/CN=me", issuer=forge.authority("/CN=Somebody else", key="eca")), "unknown ca"),
    "expired": (lambda forge: forge.issue("/CN=me", issuer=forge.authority(), ends=-DAY), "certificate expired"),
    "for servers": (
        lambda forge: forge.issue("/CN=me", issuer=forge.authority(), extended_usage="serverAuth"), "unsupported certificate"),
    "of an authority that has only the name": (
        lambda forge: forge.issue("/CN=me", issuer=forge.authority(key="ecc")), "[a-z ]+"),
}


@pytest.mark.parametrize("kind, version, size", [
    row(f"{kind}, {version}, {size}", kind, version, size)
    for kind in REFUSED for version in ("TLSv1_2", "TLSv1_3") for size in (1000, 60_000, 8_000_000)
])  # fmt: skip
def test_a_certificate_that_is_refused_costs_one_connection(forge, serve, upload, kind, version, size):
    """Under TLS 1.3 the refusal comes after the handshake, when the request is on its way: the server may close with a reset,
    and the whole form may be out."""
    make, words = REFUSED[kind]
    server = serve(version)
    result = upload(server, size, certificate=make and make(forge))
    assert result.code == 5, result
    assert len(server.connections) == 1, server.failures
    assert server.bodies == []
    advice = "It requires a client certificate that it accepts; use --cert and --key."
    if kind == "of nobody" and version == "TLSv1_2":
        words, advice = "handshake failure", r"It may lack a secure algorithm \(.*\), or require a client certificate \(--cert\)."
    assert re.fullmatch(rf"gighive-upload: TLS with localhost failed: the server says: {words}\. {advice}\n", result.err), result


# MARK: Behind the request's head


@pytest.mark.parametrize("size, pause", [
    row(f"{size} after {pause} s", size, pause) for size in (1000, 400_000, 20_000_000) for pause in (0, 0.3)
])  # fmt: skip
def test_a_certificate_is_shown_when_it_is_asked_for_later(forge, serve, upload, size, pause):
    """Also where the connection is full at that moment: the server reads nothing for a while."""
    own = forge.issue("/CN=a late uploader", issuer=forge.authority(), key="rsa2048")
    server = serve(asks=True, pause=pause)
    result = upload(server, size, "--set", "stall-timeout=10s", certificate=own)
    assert result.code == 0, (result.err, server.failures)
    assert server.subjects == ["a late uploader"]
    assert len(server.connections) == 1
    assert len(server.bodies[0]) > size


@pytest.mark.parametrize("size", [row(f"full with {size}", size) for size in (100_000, 300_000, 1_000_000, 3_000_000)])
def test_a_certificate_that_the_full_connection_does_not_take_goes_behind_the_last_byte(forge, serve, upload, size):
    """The kernel has all of the form, or nearly, and the server has read none of it when it asks."""
    own = forge.issue("/CN=me", issuer=forge.authority(), key="rsa2048")
    server = serve(asks=True, silence=0.4, pause=0.1)
    result = upload(server, size, "--set", "response-timeout=8s", certificate=own)
    assert result.code == 0, (result.err, server.failures)
    assert server.subjects == ["me"]


@pytest.mark.parametrize("rate", [row("at full speed", []), row("slowly", ["--limit-rate", "20M"])])
def test_bytes_sent_around_the_request_for_a_certificate_arrive_unchanged(forge, serve, tmp_path, run, rate):
    content = random.Random(7).randbytes(6_000_000)
    (tmp_path / "a.bin").write_bytes(content)
    own = forge.issue("/CN=me", issuer=forge.authority())
    for pause in (0, 0.05, 0.3):
        server = serve(asks=True, pause=pause)
        result = run(
            "send", tmp_path / "a.bin", "--multipart-url", server.url, "--cacert", server.shown.cacert, "--cert", own.path,
            "--key", own.key, *rate)
        assert result.code == 0, (result.err, server.failures)
        assert content in server.bodies[0]


@pytest.mark.parametrize("kind, size", [
    row(f"{kind}, {size}, later", kind, size) for kind in ("of an unknown authority", "expired") for size in (1000, 8_000_000)
])  # fmt: skip
def test_a_certificate_that_is_refused_later_costs_one_connection_too(forge, serve, upload, kind, size):
    make, words = REFUSED[kind]
    server = serve(asks=True)
    result = upload(server, size, certificate=make(forge))
    assert result.code == 5, result
    assert len(server.connections) == 1, server.failures
    assert f"TLS with localhost failed: the server says: {words}." in result.err, result


def test_a_client_without_one_hears_it_from_the_server_that_asks_later(serve, upload):
    """Nothing is offered that cannot be kept: a server that cannot ask refuses the request."""
    server = serve(asks=True)
    result = upload(server, 1000)
    assert result.code == 6, result
    assert "extension not received" in server.failures[0]
    assert len(server.connections) == 1
