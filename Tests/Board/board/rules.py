"""What must hold after a power cut: from what was seen to findings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .story import Story
from .writelog import Cut


@dataclass
class Seen:
    """What the program said on the disk that a cut left behind, and what the server had before and afterwards."""

    before: list[dict] = field(default_factory=list)
    after: list[dict] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    kernel: list[str] = field(default_factory=list)
    """What the kernel said last, where `resume` could not use the state directory."""
    is_unreadable: bool = False
    """The kernel found the state directory itself broken, and nothing in it can be reached."""
    looks: dict[str, list[list[str]]] = field(default_factory=dict)
    """The SHA-256 and the path of each recording on the disk, at several moments."""
    journal: str = ""
    """What the journal of removals had after a run."""
    server_before: tuple[list[dict], list[dict]] = ((), ())
    server_after: tuple[list[dict], list[dict]] = ((), ())

    def places(self, moment: str) -> list[list[str]]:
        return self.looks.get(moment, [])

    @property
    def is_read_only(self) -> bool:
        """The kernel found the file system broken when the program wrote to it, and let it write no more."""
        return any("Read-only file system" in line for line in self.errors)


def judge(story: Story, cut: Cut, seen: Seen, may_be_broken: bool = False) -> list[str]:
    """- may_be_broken: on a file system without a journal, until it is repaired."""
    found = list(seen.problems)
    if seen.is_unreadable:
        if not may_be_broken:
            found.append("the directory of the records cannot be read")
        if not all(seen.codes.get(name) for name in ("before", "resume", "after")) or seen.before or seen.after:
            found.append(f"silent about a directory that cannot be read: {seen.codes} {seen.warnings} {seen.errors}")
        return found
    found += [f"torn: {warning}" for warning in seen.warnings if "damaged" in warning]
    states = {name_of(record): record["state"] for record in seen.before}
    is_excused = may_be_broken and seen.is_read_only
    if seen.codes.get("before", 0) or seen.codes.get("after", 0) or (seen.codes.get("resume", 0) and not is_excused):
        found.append(f"exit codes: {seen.codes} {seen.warnings} {seen.errors} {seen.kernel}")
    found += _lost(story, cut, states)
    found += [
        f"came back: {name} was cancelled" for name, at in story.cancelled.items() if at <= cut.end and name in states
    ]
    found += _invented(seen, is_excused)
    counts = Counter(recording["sha256"] for recording in seen.server_after[0])
    counts.update(metadata["filename"] for metadata in seen.server_after[1])
    found += [f"twice: {count} recordings of {name}" for name, count in counts.items() if count > 1]
    if found:
        found.append(f"  there were {' '.join(sorted(seen.files))}")
    return found


def _lost(story: Story, cut: Cut, states: dict[str, str]) -> list[str]:
    found = []
    for name, at in story.known.items():
        if at <= cut.end and not may_be_gone(story, cut, name) and name not in states:
            found.append(f"lost: no record of {name}, which had been synced at entry {at}")
    for name, at in story.delivered.items():
        if at <= cut.end and not may_be_gone(story, cut, name) and states.get(name) != "delivered":
            found.append(f"lost: {name} is {states.get(name)}, and was called delivered at entry {at}")
    return found


def may_be_gone(story: Story, cut: Cut, name: str) -> bool:
    """The record may have been removed, or have been about to be."""
    if name in story.cancelled:
        return cut.end >= story.known.get(name, 0)
    if story.forgotten is None or story.delivered.get(name, story.forgotten) >= story.forgotten:
        return False
    return cut.end >= max(at for file, at in story.cancelled.items())


def _invented(seen: Seen, is_excused: bool) -> list[str]:
    found = []
    for moment, records, server in (("before", seen.before, seen.server_before), ("after", seen.after, seen.server_after)):
        there = {recording["sha256"] for recording in server[0]}
        plain = {metadata["filename"] for metadata in server[1]}
        for record in records:
            if record["state"] != "delivered":
                if moment == "after" and not is_excused:
                    found.append(f"not resumed: {name_of(record)} is {record['state']}: {record.get('message')}")
            elif record.get("checksum_sha256") not in there and name_of(record) not in plain:
                found.append(f"invented: {name_of(record)} is called delivered {moment} resuming, and is not there")
    return found


def name_of(record: dict) -> str:
    return record["file"].rpartition("/")[2]
