"""Lossy links: sender, router and receiver in one guest, with the kernel's own TCP. The guest's time is that of its instructions
(-icount), so that what a busy host takes from it does not count."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .machine import UNPACKED, Disk, Machine

MIB = 1 << 20
LINE_BITS = 100_000_000
ROUND_TRIP = "50ms"
"""In each direction."""
SERVER, PORT = "10.9.1.2", 8080
GOAL, GOAL_LARGE = 1.5, 1.4
HIVESTUB = Path(__file__).resolve().parents[2] / "HiveStub"
SERVE = Path(__file__).with_name("serve.py")
MEGABYTES = 1400
TIME = ("-icount", "shift=1,sleep=off")

# From good to bad, from bad to good, loss while bad, loss while good: bursts of some four packets, 1 % in all.
LTE = "loss gemodel 0.35% 25% 70% 0.02%"
PROGRAMS = {"ours": "gighive-upload", "one": "gighive-upload --connections 1", "parts": "gighive-upload --connections 4", "curls": "curl, one PATCH"}
LINKS = {"0": "", "0.1 %": "loss 0.1%", "1 %": "loss 1%", "LTE": LTE}

SETUP = """
mount -t ext4 -o ro /dev/vda /mnt
mount -t proc proc /mnt/proc; mount -t sysfs sys /mnt/sys
mount -t tmpfs -o size=1200m tmp /mnt/tmp; mount -t tmpfs run /mnt/run; mount -t devtmpfs dev /mnt/dev
on() { chroot /mnt "$@"; }
inside() { space=$1; shift; chroot /mnt /bin/ip netns exec $space "$@"; }
for space in router server; do on /bin/ip netns add $space || say failed "no namespace"; done
on /bin/ip link add c0 type veth peer name r0 netns router
on /bin/ip -n router link add r1 type veth peer name s0 netns server
on /bin/ip addr add 10.9.0.1/24 dev c0
on /bin/ip -n router addr add 10.9.0.2/24 dev r0
on /bin/ip -n router addr add 10.9.1.1/24 dev r1
on /bin/ip -n server addr add %(server)s/24 dev s0
# One packet is one packet: what is lost is not 64 KiB at once.
on /bin/ip link set c0 up gso_max_segs 1
on /bin/ip -n router link set r0 up; on /bin/ip -n router link set r1 up
on /bin/ip -n server link set s0 up gso_max_segs 1; on /bin/ip -n server link set lo up
on /bin/ip route add 10.9.1.0/24 via 10.9.0.2
on /bin/ip -n server route add 10.9.0.0/24 via 10.9.1.1
inside router /usr/bin/python3 -c 'open("/proc/sys/net/ipv4/ip_forward", "w").write("1")'
mkdir /mnt/tmp/store
sleep 100000 | inside server /usr/bin/python3 -B /board/serve.py /board/HiveStub %(server)s %(port)d /tmp/store &
link() { # LOSS: how packets get lost on the way to the server
  on /sbin/tc -n router qdisc replace dev r1 root netem delay %(delay)s rate 100mbit limit 4000 $1 || say failed "no netem"
  on /sbin/tc -n router qdisc replace dev r0 root netem delay %(delay)s rate 100mbit limit 4000
}
url=http://%(server)s:%(port)d/tus/
link ""
until on /usr/bin/curl -s -o /dev/null $url; do sleep 1; done
now() { read -r up rest </proc/uptime; echo $up; }
echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save
clear() { rm -rf /mnt/tmp/store/.hivestub/tus/*; }
arrived() { stat -c %%s $(ls /mnt/tmp/store/.hivestub/tus/* | grep -v info) 2>/dev/null | awk '{ sum += $1 } END { print sum }'; }
ours() {
  began=$(now)
  on /bin/gighive-upload send /tmp/file --tus-url $url --set congestion=$2 --quiet --state-dir /tmp/state --max-time 20m $3 $4 >/out 2>&1
  code=$?
  ended=$(now); on /bin/gighive-upload forget --all --state-dir /tmp/state >/dev/null 2>&1; rm -rf /mnt/tmp/state
}
one() { ours $1 $2 --connections 1; }
parts() { ours $1 $2 --connections 4; }
curls() {
  began=$(now)
  at=$(on /usr/bin/curl -s -i -X POST -H "Tus-Resumable: 1.0.0" -H "Upload-Length: $1" $url | tr -d "\\r" | sed -n "s/^Location: //p")
  on /usr/bin/curl -s -f -X PATCH -H "Tus-Resumable: 1.0.0" -H "Upload-Offset: 0" -H "Expect:" --max-time 1200 \\
    -H "Content-Type: application/offset+octet-stream" -T /tmp/file -o /dev/null $at; code=$?
  ended=$(now)
}
measure() { # NAME CONGESTION BYTES PROGRAM
  echo $2 >/proc/sys/net/ipv4/tcp_congestion_control || say failed "no $2"
  rm -f /mnt/tmp/file; truncate -s $3 /mnt/tmp/file; clear
  $4 $3 $2
  say took $1 $2 $3 $4 $code $began $ended $(arrived)
  [ $code = 0 ] || say text $(tail -n 2 /out)
}
"""


@dataclass(frozen=True)
class Measurement:
    link: str
    congestion: str
    bytes: int
    program: str
    code: int
    seconds: float
    arrived: int

    @property
    def name(self) -> str:
        return f"{PROGRAMS[self.program]}, {self.bytes >> 20} MiB, loss {self.link}, {self.congestion}"

    @property
    def ratio(self) -> float:
        """Of the link's own time for these bytes."""
        return self.seconds / (self.bytes * 8 / LINE_BITS)


@dataclass
class Plan:
    sizes: dict[str, tuple[int, ...]]
    """For each congestion control, in bytes. With cubic, 300 MiB take twenty minutes where 1 % is lost."""
    links: tuple[str, ...]
    programs: tuple[str, ...] = ("ours", "curls")
    has_goals: bool = True

    def runs(self) -> list[tuple[str, str, int, str]]:
        """Link, congestion control, bytes, program."""
        return [
            (link, congestion, size, program)
            for link in self.links
            for congestion, sizes in self.sizes.items()
            for size in sizes
            for program in self.programs
        ]


QUICK = Plan({"bbr": (16 * MIB,)}, ("1 %",), ("ours",))
FULL = Plan({"cubic": (60 * MIB,), "bbr": (60 * MIB, 300 * MIB)}, tuple(LINKS))

CONNECTIONS = Plan({"cubic": (60 * MIB,), "bbr": (60 * MIB,)}, ("0", "1 %"), ("one", "parts", "ours", "curls"), has_goals=False)


@dataclass
class Result:
    measurements: list[Measurement] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def make_disk(program: Path, folder: Path) -> Path:
    """What the guest runs: Python, curl and iproute2 from Debian's packages, HiveStub and the program."""
    place, disk = folder / "programs", folder / "programs.img"
    subprocess.run(["cp", "-a", "--reflink=auto", UNPACKED / "amd64/programs", place], check=True)
    for name in ("proc", "sys", "tmp", "run", "dev", "board", "bin"):
        (place / name).mkdir(exist_ok=True)
    shutil.rmtree(place / "var", ignore_errors=True)
    (place / "var").mkdir()
    (place / "var/run").symlink_to("/run")
    shutil.copytree(HIVESTUB, place / "board/HiveStub", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SERVE, place / "board")
    shutil.copy(program, place / "bin/gighive-upload")
    with disk.open("wb") as image:
        image.truncate(200 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-d", place, disk], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(place)
    return disk


def measure(machine: Machine, program: Path, plan: Plan, folder: Path) -> Result:
    disk = make_disk(program, folder)
    job = "mkdir -p /mnt\n" + SETUP % {"server": SERVER, "port": PORT, "delay": ROUND_TRIP}
    runs = plan.runs()
    for link, congestion, size, program in runs:
        job += f'link "{LINKS[link]}"\nmeasure {link.replace(" ", "_")} {congestion} {size} {program}\n'
    seconds = 300 + 10 * sum(size for _, _, size, _ in runs) / MIB
    ran = machine.run(job, {}, (Disk(disk, is_read_only=True),), MEGABYTES, seconds, TIME)
    result = Result(findings=[" ".join(words) for words in ran.values("failed") + ran.values("text")])
    for words in ran.values("took"):
        link, congestion, size, program, code, began, ended, *arrived = words
        result.measurements.append(Measurement(
            link.replace("_", " "), congestion, int(size), program, int(code), float(ended) - float(began),
            int(arrived[0]) if arrived else 0))  # fmt: skip
    result.findings += judge(result.measurements, plan)
    return result


def judge(measurements: list[Measurement], plan: Plan) -> list[str]:
    found = []
    expected = len(plan.runs())
    if len(measurements) != expected:
        found.append(f"{len(measurements)} measurements, not {expected}")
    for one in measurements:
        if one.code or one.arrived != one.bytes:
            found.append(f"{one.name}: exit code {one.code}, {one.arrived} bytes arrived")
        goal = GOAL_LARGE if one.bytes >= 300 * MIB else GOAL
        is_goal = plan.has_goals and (one.link, one.congestion, one.program) == ("1 %", "bbr", "ours") and one.bytes >= 60 * MIB
        if is_goal and one.ratio > goal:
            found.append(f"{one.name}: {one.ratio:.2f} of the link's own time, which is more than {goal}")
    return found
