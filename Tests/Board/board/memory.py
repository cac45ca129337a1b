"""Uploads in a control group that may have little memory, page cache and sockets included."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .host import PASSWORD, USER, HiveStub, make_certificates
from .machine import HOST, Disk, Machine

MIB = 1 << 20
LIMIT_KIB = 12 << 10
BEYOND_KIB = 64
"""The kernel charges what cannot wait, such as a packet's page, beyond the limit: 4 KiB were seen."""
STEP_KIB = 128
"""How exactly the smallest limit is found."""
SECONDS_A_MEGABYTE = 2.0

JOB = """
mkdir /disk
mount -t ext4 -o noatime /dev/vda /disk
mount -t cgroup2 c /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
touch -d "2026-01-02 03:04:05" /disk/*.mp4
group=0
# in_memory KIB COMMAND...: sets code, peak and killed (of the group) and hwm (of the process), in KiB
in_memory() {
  limit=$1; shift
  group=$((group + 1)); here=/sys/fs/cgroup/g$group
  mkdir $here
  echo ${limit}K >$here/memory.max
  echo 3 >/proc/sys/vm/drop_caches
  (echo 0 >$here/cgroup.procs; exec "$@" >/out 2>&1) &
  pid=$!
  hwm=0
  # Without a process of its own for each look, which would take the processor from the upload.
  while kill -0 $pid 2>/dev/null; do
    while read -r key value unit; do [ "$key" != VmHWM: ] || hwm=$value; done </proc/$pid/status
    usleep 300000
  done 2>/dev/null
  wait $pid; code=$?
  peak=$(($(cat $here/memory.peak) / 1024))
  killed=$(awk '/^oom_kill / {print $2}' $here/memory.events)
  rmdir $here
}
upload() { # FILE OPTIONS...
  file=$1; shift
  echo gighive-upload send /disk/$file --user %(user)s --password-file /password --set shared-secrets=yes --label take \\
    --cacert /ca.pem --retry 0 --quiet --state-dir /disk/state "$@"
}
"""
ONE = """
began=$(cut -d " " -f 1 /proc/uptime)
in_memory %(limit)d $(upload large.mp4 %(options)s --event-date 2026-01-02)
say upload %(name)s $code $killed $peak $hwm $began $(cut -d " " -f 1 /proc/uptime)
[ $code = 0 ] || say errors %(name)s $(tail -n 3 /out)
"""
# A limit that works and one that does not come ever closer.
SMALLEST = """
works=%(limit)d; fails=0; day=10
while [ $((works - fails)) -gt %(step)d ]; do
  try=$(((works + fails) / 2)); day=$((day + 1))
  in_memory $try timeout 300 $(upload small.mp4 %(options)s --event-date 2026-02-$day)
  if [ $code = 0 ] && [ $killed = 0 ]; then works=$try; else fails=$try; fi
done
say smallest %(name)s $works
"""


@dataclass(frozen=True)
class Row:
    name: str
    is_tls: bool
    protocol: str


ROWS = (Row("HTTP", False, "multipart"), Row("HTTPS", True, "multipart"), Row("tus", True, "tus"))


@dataclass
class Upload:
    """One row, measured. Sizes in KiB."""

    board: str
    row: Row
    bytes: int
    code: int = -1
    killed: int = 0
    peak: int = 0
    hwm: int = 0
    seconds: float = 0.0
    smallest: int | None = None
    findings: list[str] = field(default_factory=list)


def make_disk(folder: Path, size: int, small: int) -> tuple[Path, str]:
    """An ext4 disk with a file of random bytes, and the file's SHA-256. Random bytes, so that nothing can be left out."""
    place, disk = folder / "recordings", folder / "recordings.img"
    place.mkdir()
    digest = hashlib.sha256()
    with (place / "large.mp4").open("wb") as file:
        for _ in range(0, size, MIB):
            block = os.urandom(MIB)
            digest.update(block)
            file.write(block)
    (place / "small.mp4").write_bytes(os.urandom(small))
    with disk.open("wb") as image:
        image.truncate(size + size // 10 + small + 32 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-d", place, disk], check=True, stdout=subprocess.DEVNULL)
    for path in place.iterdir():
        path.unlink()
    return disk, digest.hexdigest()


def measure(machine: Machine, disk: Path, size: int, sha256: str, is_quick: bool) -> list[Upload]:
    certificates = make_certificates(names=(HOST,))
    hives = {row: HiveStub(tls=certificates if row.is_tls else None).start() for row in ROWS}
    try:
        job = JOB % {"user": USER}
        for row, hive in hives.items():
            url = f"{'https' if row.is_tls else 'http'}://{HOST}:{hive.port}"
            values = {"name": row.name, "limit": LIMIT_KIB, "step": STEP_KIB}
            values["options"] = f"--server {url} --protocol {row.protocol}"
            job += ONE % values + ("" if is_quick else SMALLEST % values)
        files = {"password": PASSWORD.encode(), "ca.pem": Path(certificates.cacert).read_bytes()}
        seconds = 1800 + SECONDS_A_MEGABYTE * len(ROWS) * size / 1e6
        ran = machine.run(job, files, (Disk(disk),), seconds=seconds)
        said = {words[0]: words[1:] for words in ran.values("upload")}
        errors = {words[0]: " ".join(words[1:]) for words in ran.values("errors")}
        smallest = {words[0]: int(words[1]) for words in ran.values("smallest")}
        uploads = []
        for row, hive in hives.items():
            upload = Upload(machine.board.name, row, size, smallest=smallest.get(row.name))
            code, killed, peak, hwm, began, ended = said[row.name]
            upload.code, upload.killed, upload.peak, upload.hwm = int(code), int(killed), int(peak), int(hwm)
            upload.seconds = float(ended) - float(began)
            judge(upload, [(one.sha256, one.size) for one in hive.recordings], sha256, errors.get(row.name, ""))
            uploads.append(upload)
        return uploads
    finally:
        for hive in hives.values():
            hive.stop()


def judge(upload: Upload, recordings: list[tuple[str, int]], sha256: str, errors: str = "") -> None:
    if upload.code != 0:
        upload.findings.append(f"exit code {upload.code} {errors}")
    if upload.killed:
        upload.findings.append(f"killed by the kernel for lack of memory in {LIMIT_KIB} KiB")
    if recordings.count((sha256, upload.bytes)) != 1:
        upload.findings.append(f"the server has {recordings}, not the file of {upload.bytes} bytes, {sha256}")
    if not 0 < upload.hwm <= upload.peak + LIMIT_KIB or not 0 < upload.peak <= LIMIT_KIB + BEYOND_KIB:
        upload.findings.append(f"not measured: VmHWM {upload.hwm}, memory.peak {upload.peak} KiB")
