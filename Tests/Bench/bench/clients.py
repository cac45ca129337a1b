"""The clients: what is run, and how each is told to upload a file."""

from __future__ import annotations

import tempfile
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
    uploads: bool = True
    """False: it is run for its time alone, and the receiver hears nothing of it."""


OURS = "gighive-upload"


def _send(tools: Tools, file: Path, *options: str) -> list[str]:
    """With a separate state directory, so that no run knows of an earlier one; on disk, as for a user."""
    state = tempfile.mkdtemp(dir=tools.state)
    return [str(tools.ours), "send", str(file), "--quiet", "--retry", "0", "--state-dir", state, *options]


def ours(tools: Tools) -> Client:
    return Client(OURS, lambda file, url: _send(tools, file, "--multipart-url", url))


def ours_with_digest(tools: Tools) -> Client:
    """Like GigHive uploads, whose checksum is compared with the server's."""
    return Client(f"{OURS} --digest", lambda file, url: [*ours(tools).arguments(file, url), "--digest"])


def ours_by_tus(tools: Tools, *options: str) -> Client:
    name = " ".join((OURS, *(option for option in options if option == "--digest")))
    return Client(name, lambda file, url: _send(tools, file, "--tus-url", _base(url) + "/tus/", *options))


def ours_to_gighive(tools: Tools, *options: str) -> Client:
    """By tus, with the finalize call and the checksum."""
    return Client(f"{OURS}, GigHive", lambda file, url: _send_to_gighive(tools, file, url, "tus", *options))


def ours_verified(tools: Tools) -> Client:
    """To GigHive by multipart: computes the SHA-256 that the server's is compared with."""
    return Client(f"{OURS}, verified", lambda file, url: _send_to_gighive(tools, file, url, "multipart"))


def ours_to_s3(tools: Tools) -> Client:
    """In parts, one after the other: the SHA-256 of each is signed. The receiver takes one connection."""
    return Client(f"{OURS}, S3", lambda file, url: _send(
        tools, file, "--s3", "s3://bucket/", "--s3-endpoint", _base(url), "--connections", "1"), tuple(S3_KEYS.items()))


S3_KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench-secret"}


def _send_to_gighive(tools: Tools, file: Path, url: str, protocol: str, *options: str) -> list[str]:
    return _send(tools, file, "--server", _base(url), "--protocol", protocol, "--user", "uploader", "--password-file",
                 str(tools.password), "--label", "bench", *options)


CURL = ["curl", "--silent", "--show-error", "--fail", "--output", "/dev/null"]
CURL_FORM = Client("curl -F", lambda file, url: [*CURL, "-F", f"file=@{file}", url])
CURL_PATCH = Client("curl, one PATCH", lambda file, url: [
    *CURL, "-X", "PATCH", "-T", str(file), "-H", "Tus-Resumable: 1.0.0", "-H", "Upload-Offset: 0", "-H",
    "Content-Type: application/offset+octet-stream", url])
"""To a tus server it would have to know what to send, and where: this is the transfer alone."""
CURL_PUT = Client("curl -T", lambda file, url: [*CURL, "-T", str(file), url])


def curl_with_one_authority(authority: str) -> Client:
    """Without the time that it takes to read the bundle of all authorities."""
    return Client("curl -F --cacert", lambda file, url: [*CURL_FORM.arguments(file, url), "--cacert", authority])


def toolbelt(tools: Tools) -> Client:
    # requests has its own bundle and must be told to use the system's.
    return Client(
        "requests-toolbelt",
        lambda file, url: [str(tools.python), str(BENCH / "toolbelt_upload.py"), str(file), url],
        (("REQUESTS_CA_BUNDLE", str(trust.BUNDLE)),))


def tuspy(tools: Tools) -> Client:
    return Client(
        "tuspy, 5 MB chunks",
        lambda file, url: [str(tools.python), str(BENCH / "tuspy_upload.py"), str(file), _base(url) + "/tus/"],
        (("REQUESTS_CA_BUNDLE", str(trust.BUNDLE)),))


def url_session(tools: Tools) -> Client:
    return Client("URLSession", lambda file, url: [str(tools.url_session), str(file), url])


LOOPS = {"sendfile": "sendfile", "write": "pread/write", "tls": "SSL_write"}


def bare(tools: Tools, loop: str, authority: str = "") -> Client:
    """One of the loops in bare.c."""
    more = [authority] if authority else []
    return Client(f"bare C, {LOOPS[loop]}", lambda file, url: [str(tools.bare), loop, str(file), _port(url), *more])


def hash_alone(tools: Tools) -> Client:
    """What a verified upload cannot do without: reads the file and computes its SHA-256, in one thread."""
    return Client("the hash alone", lambda file, _: [str(tools.bare), "sha256", str(file)], uploads=False)


def _base(url: str) -> str:
    return url.removesuffix("/upload")


def _port(url: str) -> str:
    return url.split(":")[2].split("/")[0]
