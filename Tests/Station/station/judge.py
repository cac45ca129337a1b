"""What must be true at the end, and while recordings disappear."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass

from chaos.server import Server

from .writers import Register, Written


class Rule(enum.Enum):
    MISSING = "a recording is not on the server"
    TWICE = "a recording is on the server more than once"
    STRANGE = "something is on the server that was never a complete recording"
    CONTENT = "the server's file is not what it says it is"
    REMOVED = "a recording was removed before the server had it"
    LEFT = "a recording was delivered and not removed"
    STATUS = "the status is wrong"
    ENDED = "the watcher ended by itself, or not at SIGTERM"
    SECRET = "the password is in the log or the state directory"
    SERVER = "the server failed"


@dataclass(frozen=True)
class Finding:
    rule: Rule
    detail: str

    def __str__(self) -> str:
        return f"{self.rule.value}: {self.detail}"


def removed_too_early(register: Register, server: Server, known: set[str]) -> list[Finding]:
    """Looks at what is missing in the tree: its bytes must be in the server's store. `known` has what was looked at before."""
    findings = []
    for written in register.missing():
        if written.sha256 in known:
            continue
        known.add(written.sha256)
        if not is_stored(server, written):
            findings.append(Finding(Rule.REMOVED, str(written.path)))
    return findings


def is_stored(server: Server, written: Written) -> bool:
    return any(path.stat().st_size == written.size for path in server.store.glob(f"{written.sha256}*"))


def on_the_server(register: Register, server: Server) -> list[Finding]:
    """Each recording is there once, whole, and nothing else."""
    expected = register.all
    counts = Counter(recording["sha256"] for recording in server.recordings())
    findings = [Finding(Rule.MISSING, str(expected[digest].path)) for digest in expected if counts[digest] == 0]
    for digest, count in counts.items():
        if digest not in expected:
            findings.append(Finding(Rule.STRANGE, digest))
        elif count > 1:
            findings.append(Finding(Rule.TWICE, f"{expected[digest].path}, {count} times"))
    stored = Counter(server.stored())
    for digest in counts:
        if digest in expected and (digest, expected[digest].size) not in stored:
            findings.append(Finding(Rule.CONTENT, str(expected[digest].path)))
    findings += [Finding(Rule.SERVER, error) for error in server.errors()]
    return findings


def wrong_status(status: dict, is_done: bool) -> list[Finding]:
    """A watcher that is running and has nothing left to do."""
    if not status["watching"]:
        return [Finding(Rule.STATUS, "no watcher is seen")]
    findings = []
    for group in status.get("groups", []):
        left = {name: group[name] for name in ("waiting_count", "set_aside_count") if group[name]}
        if is_done and (left or group["uploads"] or group["state"] != "ready"):
            findings.append(Finding(Rule.STATUS, f"{group['state']}, {left}, uploads {len(group['uploads'])}, {group['set_aside']}"))
    if "groups" not in status:
        findings.append(Finding(Rule.STATUS, "there are no groups"))
    return findings
