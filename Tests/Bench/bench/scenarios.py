"""What is measured: the scenarios, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from digests import sha256

from . import calls, clients, pace
from .calls import CallCount
from .clients import Client, NO_AES
from .measure import system_calls
from .pairs import PATIENCE, Comparison, Quartiles, compare
from .pace import Pace
from .receiver import Receiver
from .tools import QUARTER_BYTES, Tools, warm

NAMES = ["http", "https", "verified", "verified-https", "tus", "tus-https", "s3", "s3-https", "no-aes", "start", "calls", "pace"]
"""The last two are no comparisons: system calls of tus, and --limit-rate."""
BY_TUS = ("tus", "tus-https")
VERIFIED = ("verified", "verified-https")
"""To GigHive by multipart, with the SHA-256."""
BY_S3 = ("s3", "s3-https")
PLAIN = ("http", "tus", "s3", "verified")
START_PAIRS_FACTOR = 3
"""A start takes milliseconds, so there are more of them."""


@dataclass
class Results:
    comparisons: list[Comparison] = field(default_factory=list)
    calls_per_mib: dict[tuple[str, str], float] = field(default_factory=dict)
    """By scenario and client."""
    tus_calls: list[CallCount] = field(default_factory=list)
    paces: list[Pace] = field(default_factory=list)

    def of(self, scenario: str) -> list[Comparison]:
        return [comparison for comparison in self.comparisons if comparison.scenario == scenario]

    def ours(self, scenario: str, quantity: str) -> Quartiles:
        """Over all runs of the product in a scenario, whomever it was paired with."""
        return Quartiles.of([getattr(run, quantity) for found in self.of(scenario) for run in found.ours])

    def get(self, scenario: str, peer: str) -> Comparison | None:
        return next((found for found in self.of(scenario) if found.peer.name == peer), None)


def ours(scenario: str, tools: Tools) -> Client:
    """What the product is run as in a scenario."""
    if scenario in VERIFIED:
        return clients.ours_verified(tools)
    if scenario in BY_S3:
        return clients.ours_to_s3(tools)
    return clients.ours_by_tus(tools) if scenario in BY_TUS else clients.ours(tools)


class Bench:
    """Runs scenarios and prints each comparison as soon as it is there."""

    def __init__(self, tools: Tools, certificates, pairs: int, peers: set[str], patience: int = PATIENCE):
        self._tools = tools
        self._certificates = certificates
        self._pairs = pairs
        self._peers = peers
        self._patience = patience
        self._known_digests: dict[int, str] = {}
        self.results = Results()

    def run(self, scenario: str) -> None:
        tools = self._tools
        if scenario == "calls":
            self.results.tus_calls = calls.count(tools, self._certificates, self._digests())
        elif scenario == "pace":
            self.results.paces = pace.measure(tools, self._certificates)
        else:
            self._run_comparisons(scenario)

    def _run_comparisons(self, scenario: str) -> None:
        is_tus = scenario in BY_TUS
        certificates = () if scenario in PLAIN else (self._certificates.certificate, self._certificates.key)
        digests = self._digests() if is_tus or scenario in VERIFIED else {}
        warm(self._tools.recording)
        with Receiver(self._tools.receiver, *certificates, decrypts=scenario in (*BY_TUS, *BY_S3), digests=digests) as receiver:
            for peer in self._peers_of(scenario):
                self._compare(scenario, peer, receiver)
            if scenario in ("http", "https", *BY_TUS):
                for client in (self._ours(scenario), *self._peers_of(scenario)):
                    self._count_calls(scenario, client, receiver)

    def _digests(self) -> dict[int, str]:
        if not self._known_digests:
            files = (self._tools.recording, self._tools.quarter, self._tools.eighth, self._tools.tiny)
            self._known_digests = {file.stat().st_size: sha256(file) for file in files}
        return self._known_digests

    def _ours(self, scenario: str) -> Client:
        return ours(scenario, self._tools)

    def _peers_of(self, scenario: str) -> list[Client]:
        tools = self._tools
        everybody = {
            "digest": [clients.ours_with_digest(tools)],
            "bare": [clients.bare(tools, "sendfile"), clients.bare(tools, "write")] if scenario == "http"
            else [clients.bare(tools, "tls", self._certificates.cacert)],
            "curl": [clients.CURL_FORM, clients.CURL_PUT],
            "toolbelt": [clients.toolbelt(tools)],
            "urlsession": [clients.url_session(tools)],
        }
        if scenario in BY_TUS:
            everybody = {
                "digest": [clients.ours_by_tus(tools, "--digest"), clients.ours_to_gighive(tools)],
                "curl": [clients.CURL_PATCH],
                "tuspy": [clients.tuspy(tools)],
            }
        if scenario in VERIFIED:
            everybody = {
                "curl": [clients.CURL_FORM],
                "hash": [clients.hash_alone(tools)],
                "digest": [clients.ours(tools)],
            }
        if scenario in BY_S3:
            everybody = {"curl": [clients.CURL_PUT], "hash": [clients.hash_alone(tools)]}
        if scenario == "no-aes":
            return [clients.CURL_FORM]
        if scenario == "start":
            return [clients.CURL_FORM, clients.curl_with_one_authority(self._certificates.cacert)]
        return [client for kind, kinds in everybody.items() if kind in self._peers for client in kinds]

    def _compare(self, scenario: str, peer: Client, receiver: Receiver) -> None:
        is_start = scenario == "start"
        comparison = compare(
            scenario, self._ours(scenario), peer, self._tools.tiny if is_start else self._tools.recording, receiver,
            self._tools.launcher, self._pairs * (START_PAIRS_FACTOR if is_start else 1),
            NO_AES if scenario == "no-aes" else None, self._patience)
        self.results.comparisons.append(comparison)
        quantity = "first_byte_seconds" if is_start else "wall_seconds"
        ratio, cpu = comparison.ratio(quantity), comparison.ratio("cpu_seconds")
        print(f"{scenario:14} {peer.name:24} {comparison.of_ours(quantity).median:8.4f} s by "
              f"{comparison.of_theirs(quantity).median:8.4f} s = {ratio.median:.3f} [{ratio.low:.3f} {ratio.high:.3f}]"
              f"   cpu {cpu.median:.3f} [{cpu.low:.3f} {cpu.high:.3f}]"
              f"   disturbed {comparison.disturbed}+{comparison.kept_disturbed}", flush=True)

    def _count_calls(self, scenario: str, client: Client, receiver: Receiver) -> None:
        """Of a quarter of the recording, less those of a tiny file: what each MiB costs, without the start."""
        tools = self._tools
        quarter, tiny = (
            system_calls(client.arguments(file, receiver.url), dict(client.environment), receiver)
            for file in (tools.quarter, tools.tiny))
        self.results.calls_per_mib[scenario, client.name] = (quarter.total() - tiny.total()) / (QUARTER_BYTES >> 20)


def verify(tools: Tools, certificates, clients_to_check: list[Client], folder: Path) -> None:
    """Each client first uploads a file to HiveStub, which hashes it, so that no client is fast because it sends something else."""
    import os
    import subprocess

    from hivestub import HiveStub
    from s3 import ENVIRONMENT as s3_keys
    from s3 import S3Stub

    sample = folder / "sample.mp4"
    sample.write_bytes(os.urandom(5_000_001))
    hashed = subprocess.run(clients.hash_alone(tools).arguments(sample, ""), capture_output=True, text=True)
    if hashed.stdout.strip() != sha256(sample):
        raise SystemExit(f"{tools.bare} computed another SHA-256: {hashed.stdout}{hashed.stderr}")
    for tls in (None, certificates):
        with HiveStub(tls=tls) as hive:
            for client in clients_to_check:
                command = client.arguments(sample, hive.url + "/upload")
                done = subprocess.run(command, env={**os.environ, **dict(client.environment)}, capture_output=True)
                if done.returncode != 0 or _arrived(hive) != sha256(sample):
                    raise SystemExit(f"{client.name} did not deliver the file: {done.stderr.decode()[-500:]}")
    with S3Stub() as s3:
        command = clients.ours_to_s3(tools).arguments(sample, s3.url + "/upload")
        subprocess.run(command, env={**os.environ, **s3_keys}, check=True)
        if [content for content, _ in s3.objects.values()] != [sample.read_bytes()]:
            raise SystemExit("the S3 server has something else")


def _arrived(hive) -> str:
    """The SHA-256 of what came last, by whatever way."""
    request = hive.requests[-1]
    if request.path.startswith("/api/uploads/finalize"):
        return hive.recordings[-1].sha256
    if not request.path.startswith(("/upload", "/api/uploads.php")):
        return hive.uploads[-1].sha256
    return request.file.sha256 if request.parts else request.sha256
