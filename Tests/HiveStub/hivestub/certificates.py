"""A temporary certificate authority, created with the openssl command.

Keys are P-256 so that making them takes milliseconds. `Authority.issue` takes the subject and the
names, so that tests can also have certificates that are wrong in some way.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
P_256 = ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")
"""An argument of -newkey, and its options."""


@dataclass(frozen=True)
class Certificates:
    """What one TLS server, its clients and their trust need. Paths of PEM files."""

    certificate: str
    key: str
    cacert: str
    """The authority's certificate: a client's --cacert."""
    capath: str
    """A hashed directory that holds only the authority's certificate: a client's --cacert."""
    client_certificate: str
    client_key: str
    authority: "Authority | None" = None
    """Keeps the temporary directory alive; issues further certificates."""


class Authority:
    """A root that signs leaves. The files live as long as this object unless a directory is given."""

    def __init__(self, directory: str | None = None, subject: str = "/CN=HiveStub test authority"):
        self._temporary = None if directory else tempfile.TemporaryDirectory(prefix="hivestub-")
        self.directory = Path(directory or self._temporary.name)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.certificate = self._path("ca.pem")
        self.key = self._path("ca.key")
        _openssl(
            *_new_key_arguments("req", "-x509", subject=subject, key=self.key),
            *("-days", "3650", "-out", self.certificate),
            *("-addext", "basicConstraints=critical,CA:TRUE"),
            *("-addext", "keyUsage=critical,keyCertSign,cRLSign"),
        )

    def issue(
        self,
        file_name: str,
        names: tuple[str, ...] = LOCAL_NAMES,
        subject: str = "/CN=localhost",
        usage: str = "serverAuth",
        algorithm: tuple[str, ...] = P_256,
    ) -> tuple[str, str]:
        """Makes a key, such as of ("rsa:2048",), and a certificate for DNS names and IP addresses; returns both paths."""
        certificate, key = self._path(f"{file_name}.pem"), self._path(f"{file_name}.key")
        request, extensions = self._path(f"{file_name}.csr"), self._path(f"{file_name}.ext")
        lines = [
            "basicConstraints=critical,CA:FALSE",
            "keyUsage=critical,digitalSignature",
            f"extendedKeyUsage={usage}",
        ]
        if names:
            lines.append("subjectAltName=" + ",".join(_alternative_name(name) for name in names))
        Path(extensions).write_text("\n".join(lines) + "\n")
        _openssl(*_new_key_arguments("req", "-new", subject=subject, key=key, algorithm=algorithm), "-out", request)
        _openssl(
            *("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key),
            *("-CAcreateserial", "-days", "365", "-extfile", extensions, "-out", certificate),
        )
        return certificate, key

    def hashed_directory(self) -> str:
        """A directory as `openssl rehash` makes it: <subject hash>.0 names the authority."""
        folder = self.directory / "capath"
        folder.mkdir(exist_ok=True)
        name = _openssl("x509", "-in", self.certificate, "-noout", "-subject_hash").strip()
        link = folder / f"{name}.0"
        if not link.exists():
            link.write_text(Path(self.certificate).read_text())
        return str(folder)

    def _path(self, name: str) -> str:
        return str(self.directory / name)


def make_certificates(directory: str | None = None, names: tuple[str, ...] = LOCAL_NAMES) -> Certificates:
    """A fresh authority with a server certificate for `names` and a client certificate."""
    authority = Authority(directory)
    certificate, key = authority.issue("server", names)
    client_certificate, client_key = authority.issue("client", (), "/CN=uploader", "clientAuth")
    return Certificates(
        certificate=certificate,
        key=key,
        cacert=authority.certificate,
        capath=authority.hashed_directory(),
        client_certificate=client_certificate,
        client_key=client_key,
        authority=authority,
    )


def _alternative_name(name: str) -> str:
    is_address = ":" in name or name.replace(".", "").isdigit()
    return f"{'IP' if is_address else 'DNS'}:{name}"


def _new_key_arguments(*command: str, subject: str, key: str, algorithm: tuple[str, ...] = P_256) -> list[str]:
    return [*command, "-newkey", *algorithm, "-nodes", "-keyout", key, "-subj", subject]


def _openssl(*arguments: str) -> str:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout
