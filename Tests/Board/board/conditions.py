"""Boards in a bad state: no clock, a read-only root, a full disk, a file beyond 4 GiB on a 32-bit kernel."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from .host import PASSWORD, USER, Harness, HiveStub, make_certificates
from .machine import HOST, Disk, Machine
from .story import FILE_SYSTEMS, RECORDINGS, make_disk

GIB, MIB = 1 << 30, 1 << 20
LARGE_BYTES = 5 * GIB + 3
ALREADY_THERE = LARGE_BYTES - 2 * MIB
"""What the server has of the large file when it is resumed: an offset that needs 33 bits."""
EXIT_TLS = 5

COMMON = """
who="--user %(user)s --password-file /password --set shared-secrets=yes --cacert /ca.pem --retry 0"
hive="--label take --event-date 2026-01-02 --quiet"
touch -d "2026-01-02 03:04:05" /recordings/* 2>/dev/null
try() { # NAME COMMAND...: says how it ended
  name=$1; shift
  "$@" >/out 2>&1; say ended $name $?
  while read -r line; do say text $name "$line"; done </out
}
"""
NO_CLOCK = COMMON + """
say year $(date +%%Y)
mkdir /state
try http gighive-upload send /recordings/a.mp4 --server %(http)s $hive $who --state-dir /state
try https gighive-upload send /recordings/b.mp4 --server %(https)s $hive $who --state-dir /state
date -s "%(now)s" >/dev/null
try resume gighive-upload resume --all $who --state-dir /state
"""
READ_ONLY = COMMON + """
mkdir /root
mount -o ro -t ext4 /dev/vda /root && mkdir /root/x 2>/dev/null && say failed "the disk is not read-only"
try state gighive-upload send /recordings/a.mp4 --server %(http)s $hive $who --state-dir /root/state
mkdir /run
try resume gighive-upload resume --all --state-dir /root/state
try memory gighive-upload send /recordings/b.mp4 --server %(http)s $hive $who --state-dir /run/state
"""
FULL = COMMON + """
mkdir /state
mount -t ext4 /dev/vda /state
try first gighive-upload send /recordings/a.mp4 --server %(http)s $hive $who --state-dir /state/uploads
dd if=/dev/zero of=/state/filler bs=4k 2>/dev/null
dd if=/dev/zero of=/state/filler2 bs=512 2>/dev/null
say free $(df -k /state | tail -n 1 | awk '{print $4}')
try full gighive-upload send /recordings/b.mp4 --server %(http)s $hive $who --state-dir /state/uploads
try list gighive-upload list --json --state-dir /state/uploads
rm /state/filler /state/filler2
try freed gighive-upload send /recordings/c.mp4 --server %(http)s $hive $who --state-dir /state/uploads
"""
LARGE = COMMON + """
mkdir /disk
mount -t ext4 /dev/vda /disk
truncate -s %(already)d /disk/large.mp4
cat /recordings/tail >>/disk/large.mp4
touch -d "2026-01-02 03:04:05" /disk/large.mp4
say size $(stat -c %%s /disk/large.mp4)
try broken gighive-upload send /disk/large.mp4 --tus-url %(http)s/tus/ $who --quiet --state-dir /disk/state
wget -q -O /dev/null http://%(host)s:%(harness)d/grow || say failed "the server has not grown"
try resumed gighive-upload resume --all $who --quiet --state-dir /disk/state
try list gighive-upload list --json --state-dir /disk/state
"""


@dataclass
class Condition:
    board: str
    name: str
    outcome: str = ""
    findings: list[str] = field(default_factory=list)


class Said:
    def __init__(self, ran):
        self.codes = {words[0]: int(words[1]) for words in ran.values("ended")}
        self.texts: dict[str, str] = {}
        for words in ran.values("text"):
            self.texts[words[0]] = (self.texts.get(words[0], "") + " " + " ".join(words[1:])).strip()
        self.failed = [" ".join(words) for words in ran.values("failed")]

    def expect(self, condition: Condition, **codes: int) -> None:
        condition.findings += self.failed
        for name, code in codes.items():
            if self.codes.get(name) != code:
                said = f"{name} ended with {self.codes.get(name)}, not {code}: {self.texts.get(name)}"
                condition.findings.append(said)


def run_all(machine: Machine, folder: Path, has_large_file: bool) -> list[Condition]:
    conditions = [no_clock(machine), read_only(machine, folder), full(machine, folder)]
    return conditions + ([large(machine, folder)] if has_large_file else [])


def files(certificate: str | None = None) -> dict[str, bytes]:
    content = {name: data for name, data in RECORDINGS.items() if name[-5] in "abc"}
    content["password"] = PASSWORD.encode()
    content["ca.pem"] = Path(certificate).read_bytes() if certificate else b""
    return content


def has(hive: HiveStub, *names: str) -> list[str]:
    """What is wrong with the server's recordings, if they have to be these."""
    expected = sorted(hashlib.sha256(RECORDINGS[f"recordings/{name}.mp4"]).hexdigest() for name in names)
    found = sorted(recording.sha256 for recording in hive.recordings)
    return [] if found == expected else [f"the server has {len(found)} recordings, not exactly {', '.join(names)}"]


def no_clock(machine: Machine) -> Condition:
    condition = Condition(machine.board.name, "no clock: 1970")
    certificates = make_certificates(names=(HOST,))
    with HiveStub() as http, HiveStub(tls=certificates) as https:
        job = NO_CLOCK % {"user": USER, "http": f"http://{HOST}:{http.port}", "https": f"https://{HOST}:{https.port}",
                          "now": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())}  # fmt: skip
        ran = machine.run(job, files(certificates.cacert), options=("-rtc", "base=1970-01-01T00:00:00"))
        said = Said(ran)
        said.expect(condition, http=0, https=EXIT_TLS, resume=0)
        condition.findings += has(http, "a") + has(https, "b")
    if ran.values("year") != [["1970"]]:
        condition.findings.append(f"the guest's year was {ran.values('year')}")
    if "clock" not in said.texts.get("https", ""):
        condition.findings.append(f"the message does not name the clock: {said.texts.get('https')}")
    condition.outcome = "HTTP is delivered. HTTPS: exit code 5, which names the clock; `resume` delivers once it is set"
    return condition


def read_only(machine: Machine, folder: Path) -> Condition:
    condition = Condition(machine.board.name, "read-only root")
    disk = folder / "read-only"
    make_disk(FILE_SYSTEMS["ext4"], disk)
    with HiveStub() as hive:
        job = READ_ONLY % {"user": USER, "http": f"http://{HOST}:{hive.port}"}
        said = Said(machine.run(job, files(), (Disk(disk),)))
        said.expect(condition, state=0, memory=0, resume=0)
        condition.findings += has(hive, "a", "b")
    if "Read-only file system" not in said.texts.get("state", ""):
        condition.findings.append(f"the message does not say why: {said.texts.get('state')}")
    if "nothing to resume in /root/state" not in said.texts.get("resume", ""):
        condition.findings.append(f"resume does not say where it looked: {said.texts.get('resume')}")
    condition.outcome = "the form is delivered, with a warning that there is no record; `resume` has nothing to do"
    return condition


def full(machine: Machine, folder: Path) -> Condition:
    condition = Condition(machine.board.name, "full disk")
    disk = folder / "full"
    make_disk(FILE_SYSTEMS["ext4"], disk)
    with HiveStub() as hive:
        job = FULL % {"user": USER, "http": f"http://{HOST}:{hive.port}"}
        ran = machine.run(job, files(), (Disk(disk),))
        said = Said(ran)
        said.expect(condition, first=0, full=0, list=0, freed=0)
        condition.findings += has(hive, "a", "b", "c")
    if ran.values("free") != [["0"]]:
        condition.findings.append(f"the disk was not full: {ran.values('free')} KiB")
    listed = said.texts.get("list", "")
    if '"file":"/recordings/a.mp4"' not in listed:
        condition.findings.append(f"the record from before is missing: {listed}")
    # If the index has no room for another entry, it is dropped, and there is room for a record.
    if '"file":"/recordings/b.mp4"' not in listed and "No space left" not in said.texts.get("full", ""):
        condition.findings.append(f"neither a record nor a message that says why: {said.texts.get('full')}")
    condition.outcome = "delivered, with a record or a warning that there is none; older records are intact"
    return condition


def large(machine: Machine, folder: Path) -> Condition:
    condition = Condition(machine.board.name, f"file of {LARGE_BYTES} bytes")
    disk, store = folder / "large", folder / "large-store"
    make_disk(dataclasses.replace(FILE_SYSTEMS["ext4"], mebibytes=6 << 10), disk)
    store.mkdir()
    tail = os.urandom(LARGE_BYTES - ALREADY_THERE)

    def grow(_words: list[str]) -> None:
        (upload,) = hive.uploads
        os.truncate(upload.data_path, ALREADY_THERE)

    with HiveStub(store=str(store), faults=["PATCH/status=503@1"]) as hive, Harness(grow) as harness:
        job = LARGE % {"user": USER, "http": f"http://{HOST}:{hive.port}", "host": HOST, "harness": harness.port,
                       "already": ALREADY_THERE}  # fmt: skip
        ran = machine.run(job, {**files(), "recordings/tail": tail}, (Disk(disk),), seconds=600)
        said = Said(ran)
        said.expect(condition, broken=9, resumed=0, list=0)
        condition.findings += harness.failures
        sizes = [upload.offset for upload in hive.uploads]
        if sizes != [LARGE_BYTES]:
            condition.findings.append(f"the server has {sizes} bytes")
        else:
            with hive.uploads[0].data_path.open("rb") as data:
                data.seek(ALREADY_THERE)
                if data.read() != tail:
                    condition.findings.append("the end of the file is not what was sent")
        lines = [request for request in hive.requests if request.method == "PATCH"]
        sent = sum(request.body_bytes for request in lines[1:])
        if sent != len(tail):
            condition.findings.append(f"{sent} bytes were sent, not the missing {len(tail)}")
    listed = json.loads(said.texts["list"]) if said.texts.get("list") else {}
    if (listed.get("state"), listed.get("total")) != ("delivered", LARGE_BYTES):
        condition.findings.append(f"list says {listed}")
    condition.outcome = f"resumed at offset {ALREADY_THERE}, only the missing {len(tail)} bytes sent, delivered"
    return condition
