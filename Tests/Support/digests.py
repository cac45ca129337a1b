"""SHA-256 of a file, and of a certificate's key."""

from __future__ import annotations

import base64
import functools
import hashlib
import subprocess


def sha256(file) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@functools.cache
def key_pin(certificate: str) -> str:
    """As `--set pin=` takes it."""
    key = subprocess.check_output(["openssl", "x509", "-in", certificate, "-noout", "-pubkey"])
    der = subprocess.check_output(["openssl", "pkey", "-pubin", "-outform", "DER"], input=key)
    return "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode()
