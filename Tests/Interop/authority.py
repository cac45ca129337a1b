"""A certificate authority for one run, and the server certificates it signs, made by the openssl command."""

import subprocess
from pathlib import Path

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


def make(directory: Path) -> Path:
    """Fills the directory with server-rsa, server-ec and client pairs; returns the authority's certificate."""
    directory.mkdir()
    authority, authority_key = directory / "ca.pem", directory / "ca.key"
    _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", authority_key, "-out", authority, "-days", "7", "-subj", "/CN=Interop test CA",
             "-addext", "keyUsage=critical,keyCertSign")
    # One kind of key for each server, so that both signature algorithms are met.
    _issue(directory, "server-rsa", ["rsa:2048"])
    _issue(directory, "server-ec", ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
    _issue(directory, "client", ["rsa:2048"], "extendedKeyUsage=clientAuth")
    return authority


def _issue(directory: Path, name: str, algorithm: list, purpose: str = f"{NAMES}\nextendedKeyUsage=serverAuth") -> None:
    request, extensions = directory / f"{name}.csr", directory / f"{name}.ext"
    extensions.write_text(purpose + "\n")
    _openssl("req", "-newkey", *algorithm, "-nodes", "-keyout", directory / f"{name}.key",
             "-out", request, "-subj", "/CN=localhost")
    _openssl("x509", "-req", "-in", request, "-CA", directory / "ca.pem", "-CAkey", directory / "ca.key",
             "-CAcreateserial", "-days", "7", "-extfile", extensions, "-out", directory / f"{name}.pem")


def _openssl(*arguments) -> None:
    run = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {run.stderr}")
