"""Keys and certificates of every kind, valid and invalid, created with the openssl command."""

from __future__ import annotations

import functools
import itertools
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

DAY = 86400
HOST = "gig.hive.test"
ADDRESS = "192.0.2.7"
ADDRESS6 = "2001:db8::7"
NAMES = (f"DNS:{HOST}", "DNS:localhost", "IP:127.0.0.1", f"IP:{ADDRESS}", f"IP:{ADDRESS6}")
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
        """`kind` is rsa, pss (RSA for RSA-PSS only), dsa or p (the curve) with its bits, ed25519 or ed448; all others, such
        as ec, are of P-256. A letter after the bits gives another key of that kind."""
        path = str(self._folder / f"{kind}.key")
        name, bits = re.fullmatch(r"([a-z]+?)([0-9]*)[abc]?", kind).groups()
        match name:
            case "rsa" | "pss":
                algorithm = "RSA" if name == "rsa" else "RSA-PSS"
                options = ["-algorithm", algorithm, "-pkeyopt", f"rsa_keygen_bits:{bits}"]
                if int(bits) > 2048:  # several times as fast, and the public key does not show it
                    options += ["-pkeyopt", "rsa_keygen_primes:3"]
            case "ed":
                options = ["-algorithm", name + bits]
            case "dsa":
                parameters = str(self._folder / "dsa.parameters")
                openssl("genpkey", "-genparam", "-algorithm", "DSA", "-pkeyopt", f"dsa_paramgen_bits:{bits}", "-out", parameters)
                options = ["-paramfile", parameters]
            case _:
                options = ["-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:P-{bits or 256}"]
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
        has_padding: bool = False,
    ) -> Certificate:
        """Signed by `issuer`, or by itself. `begins` and `ends` are seconds from now; `alternative_name` is the
        extension's value as openssl's configuration has it, where names do not do; `has_padding`: with RSA-PSS (RFC
        4055), not PKCS #1 v1.5."""
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
        padding = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"] if has_padding else []
        openssl(
            "ca", "-batch", "-notext", "-config", str(folder / "configuration"), "-in", request, "-out", path, *signer,
            "-md", digest, *padding, "-startdate", moment(begins), "-enddate", moment(ends))
        return Certificate(path, own, issuer)


def moment(seconds_from_now: int) -> str:
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + seconds_from_now))


def openssl(*arguments: str) -> bytes:
    done = subprocess.run(["openssl", *arguments], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


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
