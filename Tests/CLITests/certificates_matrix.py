"""Certificates that are wrong in one way each, made by the openssl command, and a TLS server that shows them.

Every case names what is wrong and has a good certificate beside it that differs in that alone.
"""

from __future__ import annotations

import functools
import itertools
import os
import socket
import ssl
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HOST = "gig.hive.test"
ADDRESS = "192.0.2.7"
ADDRESS6 = "2001:db8::7"
NAMES = (f"DNS:{HOST}", "DNS:localhost", "IP:127.0.0.1", f"IP:{ADDRESS}", f"IP:{ADDRESS6}")
DAY = 86400

CONFIGURATION = """
[ca]
default_ca = it
[it]
database = {folder}/index
new_certs_dir = {folder}
policy = any
rand_serial = yes
unique_subject = no
x509_extensions = extensions
[any]
commonName = optional
[extensions]
{extensions}
"""


@dataclass(frozen=True)
class Certificate:
    path: str
    key: str
    issuer: "Certificate | None" = None

    @property
    def text(self) -> str:
        return Path(self.path).read_text()

    @property
    def root(self) -> "Certificate":
        return self.issuer.root if self.issuer else self


class Forge:
    """Makes keys and certificates. What is the same is made once."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._numbers = itertools.count(1)

    @functools.cache
    def key(self, kind: str) -> str:
        """`kind` is ec, or rsa with its bits; a letter behind it makes another key of the kind."""
        path = str(self._folder / f"{kind}.key")
        if kind.startswith("rsa"):
            options = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:" + kind[3:].rstrip("abc")]
        else:
            options = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        openssl("genpkey", *options, "-out", path)
        return path

    @functools.cache
    def authority(self, subject: str = "/CN=Test authority", **options) -> Certificate:
        """A root, or with `issuer` an intermediate authority."""
        defaults = {"is_authority": True, "usage": "keyCertSign,cRLSign", "names": (), "key": "ecroot"}
        return self.issue(subject, **{**defaults, **options})

    def issue(
        self,
        subject: str = "/CN=a server",
        issuer: Certificate | None = None,
        names: tuple[str, ...] = NAMES,
        key: str = "ec",
        digest: str = "sha256",
        is_authority: bool = False,
        path_length: int | None = None,
        usage: str = "digitalSignature",
        extended_usage: str = "",
        constraints: str = "",
        alternative_name: str = "",
        begins: int = -DAY,
        ends: int = 30 * DAY,
    ) -> Certificate:
        """Signed by `issuer`, or by itself. `begins` and `ends` are seconds from now; `alternative_name` is the
        extension's value as openssl's configuration has it, where names do not do."""
        folder = self._folder / str(next(self._numbers))
        folder.mkdir()
        (folder / "index").touch()
        constraint = f"critical,CA:{'TRUE' if is_authority else 'FALSE'}"
        extensions = [
            "basicConstraints = " + constraint + (f",pathlen:{path_length}" if path_length is not None else ""),
            "keyUsage = critical," + usage,
            "subjectKeyIdentifier = hash",
        ]
        for name, value in (
            ("extendedKeyUsage", extended_usage), ("nameConstraints", constraints),
            ("subjectAltName", alternative_name or ",".join(names)),
        ):
            if value:
                extensions.append(f"{name} = {value}")
        text = CONFIGURATION.format(folder=folder, extensions="\n".join(extensions))
        (folder / "configuration").write_text(text)
        own = self.key(key)
        request, path = str(folder / "request"), str(folder / "certificate.pem")
        openssl("req", "-new", "-key", own, "-subj", subject, "-out", request)
        signer = ["-cert", issuer.path, "-keyfile", issuer.key] if issuer else ["-selfsign", "-keyfile", own]
        openssl(
            "ca", "-batch", "-notext", "-config", str(folder / "configuration"), "-in", request, "-out", path, *signer,
            "-md", digest, "-startdate", moment(begins), "-enddate", moment(ends))
        return Certificate(path, own, issuer)


def moment(seconds_from_now: int) -> str:
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + seconds_from_now))


def openssl(*arguments: str) -> bytes:
    done = subprocess.run(["openssl", *arguments], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


# MARK: The matrix


@dataclass(frozen=True)
class Shown:
    """What a server sends, and what its client trusts."""

    leaf: Certificate
    chain: tuple[Certificate, ...] = ()
    trusted: Certificate | None = None
    """The leaf's root, unless another one is named."""

    @property
    def cacert(self) -> str:
        return (self.trusted or self.leaf.root).path

    @property
    def pem(self) -> str:
        return "".join(one.text for one in (self.leaf, *self.chain))


def leaf(forge: Forge, **options) -> Shown:
    """Of the authority directly."""
    return Shown(forge.issue(issuer=forge.authority(), **options))


def below(forge: Forge, authority: Certificate, *further: Certificate, **options) -> Shown:
    """Of an intermediate authority that the server sends along, and those above it."""
    return Shown(forge.issue(issuer=authority, **options), chain=(authority, *further))


def intermediate(forge: Forge, name: str = "An intermediate authority", key: str = "eca", **options) -> Certificate:
    return forge.authority(f"/CN={name}", **{"issuer": forge.authority(), "key": key, **options})


def used_as_authority(forge: Forge, **options) -> Shown:
    """A leaf below another one, which has no right to sign."""
    other = forge.issue("/CN=a server that signs", issuer=forge.authority(), key="ecb", **options)
    return Shown(forge.issue(issuer=other), chain=(other,))


def too_deep(forge: Forge, path_length: int | None) -> Shown:
    upper = intermediate(forge, "An upper authority", path_length=path_length)
    lower = intermediate(forge, "A lower authority", key="ecb", issuer=upper)
    return Shown(forge.issue(issuer=lower), chain=(lower, upper))


def of_rsa_authority(forge: Forge, key: str) -> Shown:
    return Shown(forge.issue(issuer=forge.authority("/CN=An RSA authority", key=key)))


def self_signed(forge: Forge, is_trusted: bool) -> Shown:
    own = forge.issue(is_authority=True, usage="digitalSignature,keyCertSign")
    return Shown(own, trusted=own if is_trusted else forge.authority())


def with_nul(name: str, rest: str) -> str:
    """A subjectAltName whose one DNS name has a NUL inside, which `DNS:` cannot say."""
    value = name.encode() + b"\0" + rest.encode()
    name_field = bytes([0x82, len(value)]) + value
    return "DER:" + (bytes([0x30, len(name_field)]) + name_field).hex(":")


@dataclass(frozen=True)
class Case:
    """One way to be wrong. `wrong` and `good` take a Forge and give what is shown."""

    name: str
    wrong: object
    good: object = leaf
    words: tuple[str, ...] = ()
    """What the sentence has to say, besides the host's name."""
    host: str = HOST

    def __str__(self) -> str:
        return self.name


def _names(*names: str, subject: str = "/CN=a server"):
    return lambda forge: leaf(forge, names=names, subject=subject)


def _key_usage(usage: str):
    return lambda forge: leaf(forge, key="rsa2048", usage=usage)


TIME = [
    Case("expired", lambda forge: leaf(forge, begins=-9 * DAY, ends=-DAY), words=("expired", "clock")),
    Case("expired a minute ago", lambda forge: leaf(forge, ends=-60), words=("expired", "clock")),
    Case("not yet valid", lambda forge: leaf(forge, begins=DAY), words=("not yet valid", "clock")),
    Case(
        "below an expired authority",
        lambda forge: below(forge, intermediate(forge, begins=-9 * DAY, ends=-DAY)),
        lambda forge: below(forge, intermediate(forge)), words=("expired", "clock")),
    Case(
        "below an authority that begins tomorrow",
        lambda forge: below(forge, intermediate(forge, begins=DAY)),
        lambda forge: below(forge, intermediate(forge)), words=("not yet valid", "clock")),
    Case(
        "of an expired root",
        lambda forge: Shown(forge.issue(issuer=forge.authority("/CN=Old root", begins=-9 * DAY, ends=-DAY))),
        words=("expired",)),
]

TRUST = [
    Case(
        "self-signed", lambda forge: self_signed(forge, is_trusted=False),
        lambda forge: self_signed(forge, is_trusted=True), words=("self-signed", "--cacert")),
    Case(
        "of an unknown authority", lambda forge: Shown(
            forge.issue(issuer=forge.authority("/CN=Somebody else", key="eca")), trusted=forge.authority()),
        words=("--cacert",)),
    Case(
        "of an unknown authority that is sent along", lambda forge: Shown(
            forge.issue(issuer=forge.authority("/CN=Somebody else", key="eca")),
            chain=(forge.authority("/CN=Somebody else", key="eca"),), trusted=forge.authority()),
        words=("--cacert",)),
    Case(
        "of an authority that has only the trusted one's name", lambda forge: Shown(
            forge.issue(issuer=forge.authority(key="ecc")), trusted=forge.authority()), words=("--cacert",)),
    Case(
        "without its intermediate authority", lambda forge: Shown(forge.issue(issuer=intermediate(forge))),
        lambda forge: below(forge, intermediate(forge)), words=("intermediate", "--cacert")),
]

HOSTS = [
    Case("for another host", _names("DNS:other.hive.test"), words=(HOST, "name")),
    Case("with the host only in CN", _names(subject=f"/CN={HOST}"), words=(HOST, "name")),
    Case("with the host in CN and another name", _names("DNS:a.test", subject=f"/CN={HOST}"), words=(HOST, "name")),
    Case("with a wildcard for a part, g*", _names("DNS:g*.hive.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for a part, *g", _names("DNS:*g.hive.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for a part, g*g", _names("DNS:g*g.hive.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for two labels", _names("DNS:*.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with two wildcards", _names("DNS:*.*.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard in the middle", _names("DNS:gig.*.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for everything", _names("DNS:*"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case(
        "with a wildcard for a deeper host", _names("DNS:*.hive.test"), _names("DNS:*.gig.hive.test"),
        ("a.gig.hive.test", "name"), host="a.gig.hive.test"),
    Case(
        "with a wildcard for the domain itself", _names("DNS:*.hive.test"), _names("DNS:hive.test"),
        ("hive.test", "name"), host="hive.test"),
    Case(
        "for a longer name", _names(f"DNS:{HOST}.evil.test", f"DNS:x{HOST}"), _names("DNS:GIG.Hive.TEST"),
        (HOST, "name")),
    Case(
        "with a NUL in the name", lambda forge: leaf(forge, alternative_name=with_nul(HOST, ".evil.test")),
        words=(HOST, "name")),
    Case("for an address only", _names(f"IP:{ADDRESS}"), words=(HOST, "name")),
    Case("for an e-mail address and a URI", _names(f"email:a@{HOST}", f"URI:https://{HOST}/"), words=(HOST, "name")),
]

ADDRESSES = [
    Case("for another address", _names("IP:192.0.2.8"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("with the address as a name", _names(f"DNS:{ADDRESS}"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("with the address only in CN", _names(subject=f"/CN={ADDRESS}"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("with a wildcard for an address", _names("DNS:*.0.2.7"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("for the name only", _names(f"DNS:{HOST}"), words=(ADDRESS, "name"), host=ADDRESS),
    Case(
        "for another IPv6 address", _names("IP:2001:db8::8"), words=(ADDRESS6, "name"), host=f"[{ADDRESS6}]"),
]

CONSTRAINTS = [
    Case(
        "of an authority for other names",
        lambda forge: below(forge, intermediate(forge, constraints="critical,permitted;DNS:other.test")),
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,permitted;DNS:hive.test"), names=(f"DNS:{HOST}",)),
        words=("server's", "issued")),
    Case(
        "of an authority that excludes the name",
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,excluded;DNS:hive.test"), names=(f"DNS:{HOST}",)),
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,excluded;DNS:other.test"), names=(f"DNS:{HOST}",)),
        words=("server's", "issued")),
    Case(
        "of an authority for other addresses",
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,permitted;IP:198.51.100.0/255.255.255.0"),
            names=(f"IP:{ADDRESS}",)),
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,permitted;IP:192.0.2.0/255.255.255.0"),
            names=(f"IP:{ADDRESS}",)),
        words=("server's", "issued"), host=ADDRESS),
    Case(
        "of a server's certificate", used_as_authority,
        lambda forge: used_as_authority(forge, is_authority=True, usage="keyCertSign"), words=("server's", "issued")),
    Case(
        "of an authority that may not sign",
        lambda forge: below(forge, intermediate(forge, usage="digitalSignature,cRLSign")),
        lambda forge: below(forge, intermediate(forge)), words=("server's", "issued")),
    Case(
        "too far below its authority", lambda forge: too_deep(forge, 0), lambda forge: too_deep(forge, 1),
        words=("server's", "issued")),
]

STRENGTH = [
    Case(
        "with RSA of 1024 bits", lambda forge: leaf(forge, key="rsa1024"), lambda forge: leaf(forge, key="rsa2048"),
        words=("too small", "2048")),
    Case(
        "of an authority with RSA of 1024 bits", lambda forge: of_rsa_authority(forge, "rsa1024"),
        lambda forge: of_rsa_authority(forge, "rsa2048"), words=("too small", "2048")),
    Case("signed with SHA-1", lambda forge: leaf(forge, digest="sha1"), words=("weak", "SHA-256")),
    Case(
        "signed with MD5", lambda forge: Shown(
            forge.issue(issuer=forge.authority("/CN=An RSA authority", key="rsa2048"), digest="md5")),
        lambda forge: of_rsa_authority(forge, "rsa2048"), words=("weak", "SHA-256")),
    Case(
        "below an authority signed with SHA-1", lambda forge: below(forge, intermediate(forge, digest="sha1")),
        lambda forge: below(forge, intermediate(forge)), words=("weak", "SHA-256")),
]

PURPOSES = [
    Case(
        "for clients", lambda forge: leaf(forge, extended_usage="clientAuth"),
        lambda forge: leaf(forge, extended_usage="serverAuth,clientAuth"), words=("purpose", "server's")),
    Case(
        "for code signing", lambda forge: leaf(forge, extended_usage="codeSigning"),
        lambda forge: leaf(forge, extended_usage="serverAuth"), words=("purpose", "server's")),
    Case(
        "for encrypting keys only", _key_usage("keyEncipherment"), _key_usage("digitalSignature,keyEncipherment"),
        words=("server's",)),
    Case(
        "for signing certificates only", _key_usage("keyCertSign"), _key_usage("digitalSignature"),
        words=("server's",)),
]

CASES = [*TIME, *TRUST, *HOSTS, *ADDRESSES, *CONSTRAINTS, *STRENGTH, *PURPOSES]


# MARK: The server

ANSWER = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
WAITS_SECONDS = 20


@dataclass
class Connection:
    """What came over one connection."""

    tunnel: bytes = b""
    """The CONNECT request, where there was one."""
    received: bytes = b""
    """What TLS protected."""
    failure: str = ""
    """Why the handshake failed."""
    version: str | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Server:
    """A TLS server on loopback. As a proxy (CONNECT) it stands for any host, so that every name can be tested; a client
    that does not ask for a tunnel finds the server itself."""

    def __init__(self, shown: Shown, folder: Path, answer: bytes = ANSWER, says_goodbye: bool = True, **context):
        pem = folder / f"server-{os.urandom(4).hex()}.pem"
        pem.write_text(shown.pem + Path(shown.leaf.key).read_text())
        self.shown = shown
        self.connections: list[Connection] = []
        self._answer = answer
        self._says_goodbye = says_goodbye
        self._context = server_context(str(pem), **context)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        # Closing alone would not wake the thread.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self._thread.join(WAITS_SECONDS)

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def received(self) -> bytes:
        """All that came protected, over all connections, once they are done."""
        for connection in self.connections:
            assert connection.done.wait(WAITS_SECONDS), "a connection is still open"
        return b"".join(connection.received for connection in self.connections)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.settimeout(WAITS_SECONDS)
            connection = Connection()
            self.connections.append(connection)
            try:
                with sock:
                    self._serve(sock, connection)
            except OSError as problem:
                connection.failure = connection.failure or str(problem)
            finally:
                connection.done.set()

    def _serve(self, sock: socket.socket, connection: Connection) -> None:
        if sock.recv(1, socket.MSG_PEEK) == b"C":
            while not connection.tunnel.endswith(b"\r\n\r\n"):
                connection.tunnel += sock.recv(1)
            sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            stream = self._context.wrap_socket(sock, server_side=True, suppress_ragged_eofs=False)
        except (OSError, ValueError) as problem:
            connection.failure = str(problem)
            return
        connection.version = stream.version()
        with stream:
            if self._read_request(stream, connection):
                stream.sendall(self._answer)
                if self._says_goodbye:
                    stream.unwrap()
                else:
                    socket.socket.shutdown(stream, socket.SHUT_WR)
                    drain(stream)

    def _read_request(self, stream: ssl.SSLSocket, connection: Connection) -> bool:
        """Reads a request with its content. False if none came."""
        length = None
        while length is None or len(connection.received) < length:
            try:
                more = stream.recv(1 << 16)
            except OSError:
                more = b""
            if not more:
                return False
            connection.received += more
            head, found, _ = connection.received.partition(b"\r\n\r\n")
            if found and length is None:
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
                length = len(head) + 4 + int(fields.get(b"content-length", b"0"))
        return True


def drain(sock: socket.socket) -> None:
    try:
        while socket.socket.recv(sock, 1 << 16):
            pass
    except OSError:
        pass


def server_context(pem: str, minimum: str = "TLSv1_2", maximum: str = "TLSv1_3", ciphers: str = "") -> ssl.SSLContext:
    """Takes any certificate: it is the client that has to refuse."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(ciphers or "ALL:@SECLEVEL=0")
    context.load_cert_chain(pem)
    context.minimum_version = ssl.TLSVersion[minimum]
    context.maximum_version = ssl.TLSVersion[maximum]
    context.options |= ssl.OP_NO_TICKET  # 1.2
    context.num_tickets = 0  # 1.3
    return context


# MARK: A server that stops in the middle of the handshake


class CutServer(Server):
    """Sends so many records of the handshake and `part` bytes of the next, and ends the connection."""

    def __init__(self, shown: Shown, folder: Path, records: int, part: int = 0, ending: str = "fin", **context):
        self._records, self._part, self._ending = records, part, ending
        self.needed = 0
        """How many records of the server a whole handshake has; known once one was whole."""
        super().__init__(shown, folder, **context)

    def _serve(self, sock: socket.socket, connection: Connection) -> None:
        while not connection.tunnel.endswith(b"\r\n\r\n"):
            connection.tunnel += sock.recv(1)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self._context.wrap_bio(incoming, outgoing, server_side=True)
        sent = 0
        while True:
            try:
                tls.do_handshake()
                is_done = True
            except ssl.SSLWantReadError:
                is_done = False
            for record in records(outgoing.read()):
                self.needed += 1
                if sent == self._records:
                    sock.sendall(record[: self._part])
                    return self._end(sock)
                sock.sendall(record)
                sent += 1
            if is_done:
                break
            incoming.write(sock.recv(1 << 16))
        connection.version = tls.version()
        self._read_plain(sock, tls, incoming, connection)

    def _end(self, sock: socket.socket) -> None:
        if self._ending == "rst":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        sock.shutdown(socket.SHUT_WR)
        drain(sock)

    def _read_plain(self, sock, tls, incoming, connection: Connection) -> None:
        """All records were sent: whatever comes now is the request."""
        while True:
            try:
                connection.received += tls.read(1 << 16)
                return
            except ssl.SSLWantReadError:
                more = sock.recv(1 << 16)
                if not more:
                    return
                incoming.write(more)


def records(data: bytes) -> list[bytes]:
    """TLS records (RFC 8446, 5.1)."""
    found = []
    while data:
        length = 5 + int.from_bytes(data[3:5], "big")
        found.append(data[:length])
        data = data[length:]
    return found
