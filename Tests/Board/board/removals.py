"""Power cuts while recordings are removed from the board: what happens, what the next start does, and the rules."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from .rules import Seen, name_of
from .story import JOB_BEGIN, RECORDINGS, Story
from .writelog import Cut

SHA256 = {name.rpartition("/")[2]: hashlib.sha256(content).hexdigest() for name, content in RECORDINGS.items()}
CODES = {"before": (0,), "resume": (0,), "send": (0, 3), "clean": (15,)}
"""After the cut: nothing may be left to send, and no disk has as much space as `clean` is to keep free."""
MOVED = {"c.mp4", "d.mp4"}

# After each delivery or later, by both protocols, alone and side by side; and while something else syncs the disk, so that each state
# between two steps can be on it.
JOB = JOB_BEGIN + """
clean="--keep-free 1000G --state-dir /state/uploads --quiet"
mkdir /state/rec /state/sent
cp /recordings/*.mp4 /state/rec && sync
# On FAT, sync writes without a flush.
echo | dd of=/state/flushed conv=fsync 2>/dev/null && told copied
tus="$hive --protocol tus --chunk-size 64k --label take"
form="$hive --protocol multipart --label take"
remove() {
  names=$1; shift
  files=; for name in $names; do files="$files /state/rec/$name.mp4"; done
  gighive-upload send $files $with "$@"; ended $? "$names"
}
ended() {
  for name in $2; do
    [ ! -e /state/rec/$name.mp4 ] || say failed "$name.mp4 was kept"
    told ended/$name/$1
  done
}
remove a $tus --after remove
remove b $form --after remove
remove "c d" $form --after move=/state/sent
remove "e f" $tus --jobs 2 --after remove
gighive-upload send /state/rec/[gh].mp4 $form $with
gighive-upload clean /state/rec $clean; ended $(($? - 15)) "g h"
touch /syncing
while [ -e /syncing ]; do sync; done &
remove i $form --after remove
remove "j k" $form --after remove
gighive-upload send /state/rec/l.mp4 $form $with
gighive-upload clean /state/rec $clean; ended $(($? - 15)) l
rm /syncing; wait
umount /state
"""

LOOK = """
    look() {
      for file in /state/rec/* /state/rec/.gighive-upload-* /state/sent/*; do
        case $file in *ballast*) continue;; esac
        [ -e "$file" ] || continue
        set -- "$1" $(sha256sum <"$file" 2>/dev/null)
        say there "$1" "${2:-unreadable}" "$file"
      done
    }
    run() {
      name=$1; shift
      gighive-upload "$@" --quiet 2>/errors; say code $name $?
      while read -r line; do say errors "$line"; done </errors
    }
"""

# What was delivered without `--after` stays until the `clean`.
AGAIN = LOOK + """
    look first
    list before
    while read -r line; do say warned "$line"; done </errors
    run resume resume --all $with
    run send send -r /state/rec $with --server http://%(host)s:%(port)d --event-date 2026-01-02 --label take --after remove --jobs 4
    say journal $(cat /state/uploads/removals)
    look then
    run clean clean /state/rec --keep-free 1000G --state-dir /state/uploads
    look last
"""


def is_told(story: Story) -> bool:
    return set(SHA256) == set(story.delivered) and story.copied > 0


def judge(story: Story, cut: Cut, seen: Seen, may_be_broken: bool = False) -> list[str]:
    """- may_be_broken: on a file system without a journal, until it is repaired."""
    found = list(seen.problems)
    stored = Counter(recording["sha256"] for recording in seen.server_before[0])
    recorded = {name_of(record) for record in seen.before if record["state"] == "delivered"}
    is_excused = may_be_broken and (seen.is_read_only or seen.is_unreadable)
    for name, sha256 in SHA256.items():
        places = [path for sum, path in seen.places("first") if sum == sha256]
        is_ended = story.delivered.get(name, cut.end + 1) <= cut.end
        if not places and not stored[sha256]:
            found.append(f"lost: {name} is gone, and the server does not have it")
        if not places and name not in recorded and not is_excused:
            found.append(f"unrecorded: {name} is gone, and no record says that it was delivered")
        if is_ended and name in MOVED and places != [f"/state/sent/{name}"]:
            found.append(f"came back: {name} had been moved, and is {places}")
        if is_ended and name not in MOVED and places:
            found.append(f"came back: {name} had been removed, and is {places}")
    if not is_excused:
        found += _unsettled(seen)
    for moment in seen.looks:
        found += [f"torn: {path}, {moment}" for sum, path in seen.places(moment) if sum not in SHA256.values()]
    if found:
        found.append(f"  there were {seen.looks} {seen.warnings} {seen.errors} {seen.kernel}")
    return found


def _unsettled(seen: Seen) -> list[str]:
    """What the next run has not brought to its end."""
    found = []
    if not all(seen.codes.get(name) in codes for name, codes in CODES.items()):
        found.append(f"exit codes: {seen.codes}")
    found += [f"hidden: {path}" for _, path in seen.places("then") if "/.gighive-upload-" in path]
    # The ID of F2FS is its device's number, which is another one after a cut, so the program waits for that device.
    file_systems = re.findall(r'"device":"(\d+)","file_system":"(\d+)"', seen.journal)
    is_waiting = file_systems and all(device == id for device, id in file_systems)
    if seen.journal and not is_waiting:
        found.append(f"half removed: the journal has {seen.journal}")
    found += [f"not removed: {path}" for _, path in seen.places("last") if path.startswith("/state/rec/")]
    stored = Counter(recording["sha256"] for recording in seen.server_after[0])
    found += [f"delivered {stored[sha256]} times: {name}" for name, sha256 in SHA256.items() if stored[sha256] != 1]
    return found
