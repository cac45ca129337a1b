"""The clients: what is run, and how each is told to upload a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import trust
from .tools import BENCH, Tools

NO_AES = {"OPENSSL_ia32cap": "~0x200000200000000"}
"""Hides AES-NI and PCLMULQDQ from OpenSSL, of the client alone."""


@dataclass(frozen=True)
class Client:
    name: str
    arguments: Callable[[Path, str], list[str]]
    """From a file and a URL to a command line."""
    environment: tuple[tuple[str, str], ...] = ()


def ours(tools: Tools) -> Client:
    return Client("gighive-upload", lambda file, url: [
        str(tools.ours), "send", str(file), "--multipart-url", url, "--quiet"])


def ours_with_digest(tools: Tools) -> Client:
    """As GigHive's uploads are, whose checksum is held against the server's."""
    return Client("gighive-upload --digest", lambda file, url: [*ours(tools).arguments(file, url), "--digest"])


CURL = ["curl", "--silent", "--show-error", "--fail", "--output", "/dev/null"]
CURL_FORM = Client("curl -F", lambda file, url: [*CURL, "-F", f"file=@{file}", url])
CURL_PUT = Client("curl -T", lambda file, url: [*CURL, "-T", str(file), url])


def curl_with_one_authority(authority: str) -> Client:
    """Without the time that it takes to read the bundle of all authorities."""
    return Client("curl -F --cacert", lambda file, url: [*CURL_FORM.arguments(file, url), "--cacert", authority])


def toolbelt(tools: Tools) -> Client:
    # requests brings a bundle of its own and has to be told of the system's.
    return Client(
        "requests-toolbelt",
        lambda file, url: [str(tools.python), str(BENCH / "toolbelt_upload.py"), str(file), url],
        (("REQUESTS_CA_BUNDLE", str(trust.BUNDLE)),))


def url_session(tools: Tools) -> Client:
    return Client("URLSession", lambda file, url: [str(tools.url_session), str(file), url])


LOOPS = {"sendfile": "sendfile", "write": "pread/write", "tls": "SSL_write"}


def bare(tools: Tools, loop: str, authority: str = "") -> Client:
    """One of the loops in bare.c."""
    more = [authority] if authority else []
    return Client(f"bare C, {LOOPS[loop]}", lambda file, url: [str(tools.bare), loop, str(file), _port(url), *more])


def _port(url: str) -> str:
    return url.split(":")[2].split("/")[0]
