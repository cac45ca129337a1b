"""Power cuts while a recording is sent as it is made: what happens, what the next start does, and the rules."""

from __future__ import annotations

import hashlib
from collections import Counter

from .removals import LOOK
from .rules import Seen, name_of
from .story import JOB_BEGIN, Story
from .writelog import Cut

PIECES = 20
"""Of 1 MiB each: numbers of seven digits, each on a line of its own, so that no two stretches of it are the same."""
LINES = 1 << 17
FIRST = 1_000_000
REWRITTEN = (0, 10 * LINES)
"""Lines that the recorder writes again at the end: in the first part, and in the one that was sent before."""


def content() -> bytes:
    lines = [b"%d\n" % number for number in range(FIRST, FIRST + PIECES * LINES)]
    for at in REWRITTEN:
        lines[at] = b"written\n"
    return b"".join(lines)


SHA256 = hashlib.sha256(content()).hexdigest()
EMPTY = hashlib.sha256().hexdigest()

# The recorder never asks for a flush. What of its recording is on the disk is up to the kernel.
JOB = JOB_BEGIN + f"""
mkdir /state/rec
file=/state/rec/a.wav
piece() {{ seq $(({FIRST} + $1 * {LINES})) $(({FIRST} + $1 * {LINES} + {LINES - 1})) >>$file; }}
piece 0
gighive-upload send $file $hive $with --live --settle 3s --set live-lag=1M --chunk-size 2M --label take &
number=1
while [ $number -lt {PIECES} ]; do piece $number; number=$((number + 1)); usleep 100000; done
for line in {" ".join(str(at) for at in REWRITTEN)}; do echo written | dd of=$file conv=notrunc bs=8 seek=$line 2>/dev/null; done
wait $!; told ended/a/$?
umount /state
"""

AGAIN = LOOK + """
    look first
    list before
    while read -r line; do say warned "$line"; done </errors
    run resume resume --all $with
    if [ -s /state/rec/a.wav ]; then
      run send send /state/rec/a.wav $with --server http://%(host)s:%(port)d --event-date 2026-01-02 --label take --live --settle 1s
    fi
    look last
"""


def is_told(story: Story) -> bool:
    return "a.mp4" in story.delivered


def judge(story: Story, cut: Cut, seen: Seen, may_be_broken: bool = False) -> list[str]:
    """- may_be_broken: on a file system without a journal, until it is repaired."""
    found = list(seen.problems)
    before, after = ([recording["sha256"] for recording in server[0]] for server in (seen.server_before, seen.server_after))
    # A FAT file system may be broken in its middle.
    on_disk = [sha256 for sha256, path in seen.places("first") if sha256 not in (EMPTY, "unreadable")]
    if seen.places("last") != seen.places("first"):
        found.append("torn: the file is not what it was")
    if on_disk and not (may_be_broken and (seen.is_read_only or seen.is_unreadable)):
        if seen.codes.get("send") != 0:
            found.append(f"exit codes: {seen.codes}")
        if after.count(on_disk[0]) != 1:
            found.append(f"delivered {after.count(on_disk[0])} times: what the disk has")
    # What the disk has lost of it may have been delivered.
    allowed = {*on_disk, *(sha256 for sha256 in before if sha256 == SHA256)}
    found += [f"invented: {sha256} was never a recording" for sha256 in after if sha256 not in allowed]
    found += [f"twice: {sha256}" for sha256, count in Counter(after).items() if count > 1]
    # One that a process had just created when the power failed is not known.
    if len(seen.server_after[1]) > 1:
        found.append(f"left on the server: {seen.server_after[1]}")
    states = {name_of(record): record["state"] for record in seen.before}
    if story.delivered["a.mp4"] <= cut.end and states.get("a.wav") != "delivered" and not may_be_broken:
        found.append(f"lost: it is {states.get('a.wav')}, and was called delivered")
    if found:
        found.append(f"  there were {seen.looks} {seen.before} {after} {seen.warnings} {seen.errors} {seen.kernel}")
    return found
