"""Which system calls a tus upload makes: for each PATCH of 8 MiB, and once for the whole upload."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from . import clients
from .clients import Client
from .measure import system_calls
from .receiver import Receiver
from .tools import QUARTER_BYTES, Tools

CHUNK_BYTES = 8 << 20
PATCHES = QUARTER_BYTES // CHUNK_BYTES


@dataclass(frozen=True)
class CallCount:
    title: str
    per_request: dict[str, float]
    """Those that a PATCH of 8 MiB more brings, by name."""
    per_upload: dict[str, float]
    """Those that are left of a run if all PATCH requests' are taken away."""


def count(tools: Tools, certificates, digests: dict[str, str]) -> list[CallCount]:
    chunk = ("--chunk-size", str(CHUNK_BYTES))
    tls = (certificates.certificate, certificates.key)
    return [
        _count("tus, HTTP", clients.ours_by_tus(tools, *chunk), (), tools, digests),
        _count("GigHive, HTTP", clients.ours_to_gighive(tools, *chunk), (), tools, digests),
        _count("GigHive, HTTPS", clients.ours_to_gighive(tools, *chunk), tls, tools, digests),
    ]


def _count(title: str, client: Client, tls: tuple[str, ...], tools: Tools, digests: dict[str, str]) -> CallCount:
    with Receiver(tools.receiver, *tls, decrypts=bool(tls), digests=digests) as receiver:
        whole, half = (
            system_calls(client.arguments(file, receiver.url), dict(client.environment), receiver)
            for file in (tools.quarter, tools.eighth))
    further = PATCHES // 2
    names = Counter(whole) + Counter(half)
    per_request = {name: (whole[name] - half[name]) / further for name in names}
    per_upload = {name: whole[name] - per_request[name] * PATCHES for name in names}
    return CallCount(title, per_request, per_upload)
