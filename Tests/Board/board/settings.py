"""What else helps on a lossy link: the same upload as in `links` with a setting of the kernel changed, or as several files at a
time. Each is measured beside the system as it is."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from . import links
from .links import LINKS, MIB
from .machine import Disk, Machine

LINES = (("0", "bbr", 60 * MIB, 1), ("1 %", "bbr", 60 * MIB, 3), ("1 %", "cubic", 12 * MIB, 3))
"""Loss, congestion control, bytes, and how often: the middle one of the times counts. Cubic takes a minute for its 12 MiB."""


@dataclass(frozen=True)
class Setting:
    name: str
    on: str = ""
    off: str = ""
    program: str = "ours"


def sysctl(name: str, value: str, usual: str) -> Setting:
    path = f"/proc/sys/net/ipv4/{name}"
    return Setting(f"`{name}` {value}", f'echo "{value}" >{path}', f'echo "{usual}" >{path}')


ROUTE = "on /bin/ip route change 10.9.1.0/24 via 10.9.0.2"
SETTINGS = (
    Setting("the system as it is"),
    sysctl("tcp_slow_start_after_idle", "0", "1"),
    sysctl("tcp_wmem", "4096 16384 16777216", "4096 16384 4194304"),
    sysctl("tcp_wmem", "4096 16384 262144", "4096 16384 4194304"),
    sysctl("tcp_early_retrans", "0", "3"),
    Setting("`initcwnd 40` on the route", ROUTE + " initcwnd 40", ROUTE),
    Setting("`fq` as queueing discipline", "on /sbin/tc qdisc replace dev c0 root fq", "on /sbin/tc qdisc del dev c0 root"),
    Setting("as four files, `-j 4`", program="four"),
)

FOUR = """
four() {
  rm -f /mnt/tmp/file
  files=; for name in a b c d; do truncate -s $(($1 / 4)) /mnt/tmp/$name; files="$files /tmp/$name"; done
  began=$(now)
  on /bin/gighive-upload send $files --tus-url $url --jobs 4 --set congestion=$2 --quiet --state-dir /tmp/state --max-time 20m >/out 2>&1
  code=$?
  ended=$(now); rm -rf /mnt/tmp/state
}
"""


@dataclass
class Row:
    name: str
    seconds: list[float]
    """For each of LINES."""


def measure(machine: Machine, program: Path, folder: Path) -> tuple[list[Row], list[str]]:
    disk = links.make_disk(program, folder)
    job = "mkdir -p /mnt\n" + links.SETUP % {"server": links.SERVER, "port": links.PORT, "delay": links.ROUND_TRIP} + FOUR
    for setting in SETTINGS:
        job += setting.on + "\n"
        for loss, congestion, size, times in LINES:
            job += f'link "{LINKS[loss]}"\n'
            job += f"measure {loss.replace(' ', '_')} {congestion} {size} {setting.program}\n" * times
        job += setting.off + "\n"
    ran = machine.run(job, {}, (Disk(disk, is_read_only=True),), links.MEGABYTES, 7200, links.TIME)
    findings = [" ".join(words) for words in ran.values("failed") + ran.values("text")]
    took = ran.values("took")
    rows = []
    for setting in SETTINGS:
        seconds = []
        for _, _, size, times in LINES:
            some, took = took[:times], took[times:]
            findings += [" ".join(words) for words in some if words[4] != "0" or words[7:] != [str(size)]]
            seconds.append(statistics.median(float(words[6]) - float(words[5]) for words in some))
        rows.append(Row(setting.name, seconds))
    return rows, findings
